"""Expressions that say the same on PostgreSQL and SQLite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.expressions import Func

from memory.db.fields import Vector, vector_text

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.expressions import Combinable
    from django.db.models.sql.compiler import SQLCompiler

    Compiled = tuple[str, list[Any]]

MIN_BIGINT, MAX_BIGINT = -(2**63), 2**63 - 1


class Condition(Func):
    """A boolean expression of one column, usable in `filter()`."""

    output_field = models.BooleanField()
    conditional = True

    def __init__(self, column: str | Combinable) -> None:
        super().__init__(models.F(column) if isinstance(column, str) else column)

    def column(self, compiler: SQLCompiler) -> Compiled:
        sql, params = compiler.compile(self.source_expressions[0])
        return sql, list(params)


class IsOneOf(Condition):
    """`column` is one of any number of strings or integers, as a single parameter.

    `__in` takes a parameter a value, and SQLite's limit on those is far below `MAX_MESSAGES`.
    """

    def __init__(self, column: str, values: Sequence[str] | Sequence[int]) -> None:
        super().__init__(column)
        self.values = list(values)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Compiled:
        sql, params = self.column(compiler)
        return f"{sql} = ANY(%s)", [*params, self.values]

    def as_sqlite(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> Compiled:
        sql, params = self.column(compiler)
        return f"{sql} IN (SELECT value FROM json_each(%s))", [*params, json.dumps(self.values)]


class MetadataMatches(Condition):
    """Every wanted key is there with the same JSON type and value (contract section 2, metadata filter).

    Django's own `metadata__key=value` takes "true" for true on SQLite and does not use the GIN index on
    PostgreSQL.
    """

    def __init__(self, column: str, wanted: Mapping[str, str | int | float | bool | None]) -> None:
        super().__init__(column)
        self.wanted = dict(wanted)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Compiled:
        column, column_params = self.column(compiler)
        # jsonb compares numbers exactly, which is by value as doubles unless they exceed 64 bit.
        exact = {key: value for key, value in self.wanted.items() if not _is_wide(value)}
        sql, params = [f"{column} @> %s::jsonb"], [*column_params, json.dumps(exact)]
        for key, value in self.wanted.items():
            if key not in exact:
                sql.append(
                    f"CASE WHEN jsonb_typeof({column} -> %s) = 'number' "
                    f"THEN ({column} ->> %s)::float8 = %s ELSE false END"
                )
                params += [*column_params, key, *column_params, key, float(value or 0)]
        return f"({' AND '.join(sql)})", params

    def as_sqlite(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> Compiled:
        column, column_params = self.column(compiler)
        sql: list[str] = []
        params: list[Any] = []
        for key, value in self.wanted.items():
            path = f"$.{key}"
            kinds, test, test_params = _sqlite_test(column, column_params, path, value)
            sql.append(f"json_type({column}, %s) IN ({', '.join(['%s'] * len(kinds))})")
            params += [*column_params, path, *kinds]
            if test:
                sql.append(test)
                params += test_params
        return f"({' AND '.join(sql)})", params


class CosineSimilarity(Func):
    """1 - cosine distance of a vector column to the nearest of some vectors, rounded to 6 decimals.

    PostgreSQL only; elsewhere vectors are compared outside the database.
    """

    output_field = models.FloatField()

    def __init__(self, column: str, vectors: Sequence[Vector]) -> None:
        super().__init__(models.F(column))
        self.vectors = [vector_text(vector) for vector in vectors]

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Compiled:
        column, column_params = compiler.compile(self.source_expressions[0])
        distance = f"{column} <=> %s::vector"
        sql = f"LEAST({', '.join([distance] * len(self.vectors))})"
        params = [param for vector in self.vectors for param in (*column_params, vector)]
        return f"round((1 - {sql})::numeric, 6)::float8", params


def _is_wide(value: Any) -> bool:
    """A number beyond 64 bit, where PostgreSQL still knows digits that a double has lost."""
    return isinstance(value, int | float) and not MIN_BIGINT <= value <= MAX_BIGINT


def _sqlite_test(
    column: str, column_params: list[Any], path: str, value: str | float | bool | None
) -> tuple[tuple[str, ...], str, list[Any]]:
    """JSON types to accept at `path`, and the test of the value."""
    if value is None:
        return ("null",), "", []
    if isinstance(value, bool):
        return ("true" if value else "false",), "", []
    if isinstance(value, str):
        return ("text",), f"json_extract({column}, %s) = %s", [*column_params, path, value]
    if _is_wide(value):
        return (
            ("integer", "real"),
            f"json_extract({column}, %s) = %s",
            [*column_params, path, float(value)],
        )
    # Compared as text: SQLite reads some decimals a bit off the nearest double, Python writes each double
    # in one way only.
    spellings = {json.dumps(value)}
    if value == int(value):
        spellings |= {str(int(value)), json.dumps(float(value))} if float(value) == value else {str(value)}
    if value == 0:
        spellings.add("-0.0")
    return (
        ("integer", "real"),
        f"({column} -> %s) IN ({', '.join(['%s'] * len(spellings))})",
        [*column_params, path, *sorted(spellings)],
    )
