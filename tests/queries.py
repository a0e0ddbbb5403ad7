"""Counting the statements that a piece of code sends to the database."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS, connections
from django.test.utils import CaptureQueriesContext

if TYPE_CHECKING:
    from collections.abc import Iterator

# What only opens, closes or tunes a transaction is not counted.
FRAMING = re.compile(r"\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET LOCAL)\b", re.IGNORECASE)


class Statements(list[str]):
    """The SQL of the counted statements; complete once the block of :func:`count_queries` has ended."""

    def __str__(self) -> str:
        return "\n".join(f"{number}. {sql}" for number, sql in enumerate(self, 1)) or "(none)"


@contextmanager
def count_queries(
    exactly: int | None = None, *, at_most: int | None = None, using: str = DEFAULT_DB_ALIAS
) -> Iterator[Statements]:
    """Collect the statements of a block, and hold their number against a limit where one is given.

    BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE and SET LOCAL are left out. One ``executemany`` counts as
    one statement. Only statements of this thread's connection are seen.

    Raises:
        AssertionError: at the end of the block, listing the statements; not where the block itself failed.
    """
    statements = Statements()
    with CaptureQueriesContext(connections[using]) as captured:
        yield statements
    statements.extend(query["sql"] for query in captured if not FRAMING.match(query["sql"]))
    if exactly is not None and len(statements) != exactly:
        raise AssertionError(f"{len(statements)} statements instead of {exactly}:\n{statements}")
    if at_most is not None and len(statements) > at_most:
        raise AssertionError(f"{len(statements)} statements instead of {at_most} at most:\n{statements}")
