"""Transactions that write, and connections that wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections, transaction


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


def release_connection(using: str) -> None:
    """Give a pooled connection back before a long wait, unless the caller's transaction holds it."""
    connection = connections[using]
    if not connection.in_atomic_block and connection.settings_dict.get("OPTIONS", {}).get("pool"):
        connection.close()
