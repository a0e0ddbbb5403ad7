"""Transactions that write, and connections that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import IntegrityError, OperationalError, connections, transaction

from memory.exceptions import WriteConflict

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


def run_write(using: str, table: str, work: Callable[[], T], *, attempts: int = 3) -> T:
    """The result of `work` in a :func:`write_transaction`, tried again when others came between.

    That is when another transaction took a new id, moved or deleted a row, or waited for this one while
    this one waited for it. `work` is run from its beginning, on rows read anew.

    Raises:
        WriteConflict: others came between each time.
    """
    for attempt in range(1, attempts + 1):
        try:
            with write_transaction(using, table):
                return work()
        except (IntegrityError, RowsMoved, OperationalError) as error:
            is_conflict = not isinstance(error, OperationalError) or _is_deadlock(error)
            if attempt == attempts and isinstance(error, RowsMoved):
                raise WriteConflict from error
            if attempt == attempts or not is_conflict:
                raise
    raise AssertionError("unreachable")


def _is_deadlock(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", None) == "40P01"


def release_connection(using: str) -> None:
    """Give a pooled connection back before a long wait, unless the caller's transaction holds it."""
    connection = connections[using]
    if not connection.in_atomic_block and connection.settings_dict.get("OPTIONS", {}).get("pool"):
        connection.close()
