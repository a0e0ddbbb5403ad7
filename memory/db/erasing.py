"""Deleting so that nothing can be read from the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from django.db import connections, transaction

if TYPE_CHECKING:
    from memory.db.words import WordIndex

LeavesDisk = Literal["now", "checkpoint", "vacuum", "reuse"]


class Erasing:
    """What became of an :func:`erasing` block.

    Attributes:
        leaves_disk: when what was deleted leaves the disk. `now` = it has. `checkpoint` = it stands in
            SQLite's write-ahead log until the transaction of the caller is committed, or until no other
            connection is reading. `vacuum` = on PostgreSQL nothing reaches it any more, VACUUM
            frees its place, and new rows write over it. `reuse` = that VACUUM is done.
    """

    def __init__(self, using: str) -> None:
        self.using = using
        self.leaves_disk: LeavesDisk = "checkpoint" if _is_sqlite(using) else "vacuum"

    def empty_log(self) -> None:
        """Write SQLite's log into the file and cut it to nothing, unless another connection is reading."""
        with connections[self.using].cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (is_busy, *_) = cursor.fetchone()
        if not is_busy:
            self.leaves_disk = "now"


@contextmanager
def erasing(using: str, index: WordIndex) -> Iterator[Erasing]:
    """A block in which deleted and changed rows, and their words in `index`, leave the file of SQLite.

    What is deleted is overwritten, the index is merged at the end (0.3 s with 100,000 messages), and after
    the commit the write-ahead log is emptied. On PostgreSQL nothing is done here.
    """
    erased = Erasing(using)
    if not _is_sqlite(using):
        yield erased
        return
    with overwriting(using):
        yield erased
        index.optimize(connections[using])
    transaction.on_commit(erased.empty_log, using=using)


@contextmanager
def overwriting(using: str) -> Iterator[None]:
    """A block in which SQLite overwrites what is deleted."""
    if not _is_sqlite(using):
        yield
        return
    with connections[using].cursor() as cursor:
        cursor.execute("PRAGMA secure_delete")
        (before,) = cursor.fetchone()
        cursor.execute("PRAGMA secure_delete = ON")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA secure_delete = {before}")


def vacuum_tables(erased: Erasing, tables: Iterable[str]) -> None:
    """Free what deleted rows have left: in these tables on PostgreSQL, in the whole file on SQLite, which
    is written anew and locked meanwhile. Not inside a transaction."""
    connection = connections[erased.using]
    is_sqlite = _is_sqlite(erased.using)
    names = "" if is_sqlite else ", ".join(map(connection.ops.quote_name, tables))
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM {names}")
    if is_sqlite:
        erased.empty_log()
    else:
        erased.leaves_disk = "reuse"


def _is_sqlite(using: str) -> bool:
    return connections[using].vendor == "sqlite"
