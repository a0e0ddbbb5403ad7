"""The SQL that a piece of code runs, and how PostgreSQL goes about it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connections

from memory.models import Embedding

# Longest statement that is shown as a whole.
MAX_SQL = 6_000
# A vector as text has a number for each of its dimensions.
_VECTOR = re.compile(r"\[-?\d[^\]]{60,}\]")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, with marks in the places of its values.

    Attributes:
        sql: as it is shown.
        milliseconds: until the database answered.
        call: the whole statement and its values, to be run once more.
    """

    sql: str
    milliseconds: float
    call: tuple[str, Any]


@contextmanager
def recorded(using: str) -> Iterator[list[Statement]]:
    """The statements of a block, in their order."""
    statements: list[Statement] = []

    def record(
        execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        start = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            took = (time.perf_counter() - start) * 1_000
            statements.append(Statement(sql[:MAX_SQL], took, (sql, params)))

    with connections[using].execute_wrapper(record):
        yield statements


def plan_of_search(statements: list[Statement], using: str) -> str:
    """The plan of the statement that compares vectors, which is run once more for it; "" where none was
    recorded, and on SQLite, which compares them outside the database."""
    if connections[using].vendor != "postgresql":
        return ""
    search = next((entry for entry in statements if _compares_vectors(entry.call[0])), None)
    if search is None:
        return ""
    sql, params = search.call
    with connections[using].cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {sql}", params)
        lines = [str(line) for (line,) in cursor.fetchall()]
    return _VECTOR.sub("[…]", "\n".join(lines))


def _compares_vectors(sql: str) -> bool:
    return "<=>" in sql and Embedding._meta.db_table in sql
