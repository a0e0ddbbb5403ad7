"""Transactions that write, and connections that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from django.db import IntegrityError, connections, transaction

T = TypeVar("T")


@contextmanager
def write_transaction(using: str, table: str) -> Iterator[None]:
    """An atomic block that is going to write to `table`.

    SQLite lets a deferred transaction that has read fail at once when it wants to write after another
    writer; so the write lock is taken first, within the busy time-out, where the site has not set
    `transaction_mode` IMMEDIATE.
    """
    connection = connections[using]
    outermost = not connection.in_atomic_block
    with transaction.atomic(using=using):
        if outermost and connection.vendor == "sqlite":
            mode = connection.settings_dict.get("OPTIONS", {}).get("transaction_mode")
            if str(mode).upper() not in ("IMMEDIATE", "EXCLUSIVE"):
                with connection.cursor() as cursor:
                    cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)} WHERE 0")
        yield


class RowsMoved(Exception):
    """Rows changed between being read and being locked; the transaction is to start anew."""


def retried(store: Callable[[], T], attempts: int = 3) -> T:
    """The result of `store`, which opens a transaction: tried again when others came between.

    That is when another transaction took a new id or moved a row meanwhile; the next try sees it.
    """
    for _ in range(attempts - 1):
        with suppress(IntegrityError, RowsMoved):
            return store()
    return store()


def release_connection(using: str) -> None:
    """Give a pooled connection back before a long wait, unless the caller's transaction holds it."""
    connection = connections[using]
    if not connection.in_atomic_block and connection.settings_dict.get("OPTIONS", {}).get("pool"):
        connection.close()
