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
# The one double within 64 bit whose decimal, as Python writes it, lies beyond.
LEAST_DOUBLE = repr(-(2.0**63))


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
        exact = {key: value for key, value in self.wanted.items() if not _is_large(value)}
        sql, params = [f"{column} @> %s::jsonb"], [*column_params, json.dumps(exact)]
        for key, value in self.wanted.items():
            if key not in exact:
                test, test_params = _postgresql_large(f"({column} ->> %s)", [*column_params, key], value)
                sql.append(f"CASE WHEN jsonb_typeof({column} -> %s) = 'number' THEN {test} ELSE false END")
                params += [*column_params, key, *test_params]
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


class CosineDistance(Func):
    """Cosine distance of a vector column to the nearest of some vectors.

    PostgreSQL only; elsewhere vectors are compared outside the database.
    """

    output_field = models.FloatField()

    def __init__(self, column: str, vectors: Sequence[Vector]) -> None:
        super().__init__(models.F(column))
        self.vectors = [vector_text(vector) for vector in vectors]

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Compiled:
        column, column_params = compiler.compile(self.source_expressions[0])
        sql = f"LEAST({', '.join([f'{column} <=> %s::vector'] * len(self.vectors))})"
        return sql, [param for vector in self.vectors for param in (*column_params, vector)]


class Similarity(Func):
    """1 - distance, rounded to 6 decimals as numpy rounds, so that the databases agree on ties."""

    template = "(round((1 - %(expressions)s) * 1e6) / 1e6)"
    output_field = models.FloatField()


def _is_large(value: Any) -> bool:
    """A number beyond those that a double holds as exactly as PostgreSQL's numeric."""
    return isinstance(value, int | float) and abs(value) >= 2**53


def _fits(value: float) -> bool:
    """Within 64 bit, where numbers compare exactly; beyond, and with those beyond, as doubles."""
    return MIN_BIGINT <= value <= MAX_BIGINT


def _spellings(value: float) -> set[str]:
    """How JSON may write a number within 64 bit."""
    found = {json.dumps(value)}
    if value == int(value):
        found.add(str(int(value)))
    if value == float(value):
        found.add(json.dumps(float(value)))
    return found | ({"0.0", "-0.0"} if value == 0 else set())


def _postgresql_large(number: str, params: list[Any], value: Any) -> Compiled:
    """Whether the text `number` of a stored number equals a large one."""
    if not _fits(value):
        return f"{number}::float8 = %s", [*params, float(value)]
    # jsonb keeps a double as the decimal that Python wrote for it.
    spellings = sorted(_spellings(value))
    sql = (
        f"({number}::numeric IN ({', '.join(['%s::numeric'] * len(spellings))}) OR ({number}::numeric "
        f"NOT BETWEEN {MIN_BIGINT} AND {MAX_BIGINT} AND {number}::numeric <> {LEAST_DOUBLE}::numeric "
        f"AND {number}::float8 = %s))"
    )
    return sql, [*params, *spellings, *params, *params, *params, float(value)]


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
    stored, text = f"json_extract({column}, %s)", f"({column} -> %s)"
    at = [*column_params, path]
    kinds = ("integer", "real")
    if not _fits(value):
        return kinds, f"CAST({stored} AS REAL) = %s", [*at, float(value)]
    # Compared as text: SQLite reads some decimals a bit off the nearest double, and Python writes each
    # double in one way only.
    spellings = sorted(_spellings(value))
    sql, params = f"{text} IN ({', '.join(['%s'] * len(spellings))})", [*at, *spellings]
    if _is_large(value):
        sql = (
            f"({sql} OR (typeof({stored}) = 'real' AND {stored} = %s AND {text} <> '{LEAST_DOUBLE}' "
            f"AND {stored} NOT BETWEEN {MIN_BIGINT + 1} AND {MAX_BIGINT}))"
        )
        params += [*at, *at, float(value), *at, *at]
    return kinds, sql, params
