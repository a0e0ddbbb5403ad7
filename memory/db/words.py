"""The word index of a text column, and the one condition that asks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.db.models.expressions import Col, Func
from django.db.utils import OperationalError

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor
    from django.db.models.sql.compiler import SQLCompiler

    Compiled = tuple[str, list[Any]]

# The tokenizer, by whose name each database calls it. The number is the version of its rules.
FUNCTION = "memory_terms_1"


class MatchesWords(Func):
    """A text column has every wanted term.

    Args:
        column: a text column that has a :class:`WordIndex`.
        wanted: terms of the tokenizer, each with whether the beginning of a term will do. None at all
            matches nothing.
    """

    output_field = models.BooleanField()
    conditional = True

    def __init__(self, column: str, wanted: Iterable[tuple[str, bool]]) -> None:
        path, _, _ = column.rpartition("__")
        super().__init__(models.F(column), models.F(f"{path}__pk" if path else "pk"))
        self.wanted = tuple(wanted)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Compiled:
        if not self.wanted:
            return "(1 = 0)", []
        column, params = compiler.compile(self.source_expressions[0])
        query = " & ".join(f"'{term}':*" if prefix else f"'{term}'" for term, prefix in self.wanted)
        return f"{_indexed(column)} @@ %s::tsquery", [*params, query]

    def as_sqlite(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> Compiled:
        if not self.wanted:
            return "(1 = 0)", []
        key, params = compiler.compile(self.source_expressions[1])
        table = index_name(cast("Col", self.source_expressions[0]).target.model._meta.db_table)
        query = " AND ".join(f'"{term}" *' if prefix else f'"{term}"' for term, prefix in self.wanted)
        words = connection.ops.quote_name(table)
        return f"{key} IN (SELECT rowid FROM {words} WHERE {words} MATCH %s)", [*params, query]


@dataclass(frozen=True, slots=True)
class WordIndex:
    """The index over one text column, kept by the database itself, whoever writes to the table.

    On PostgreSQL a function that makes terms, and a GIN index over what it answers. On SQLite an FTS5
    table that keeps nothing but the terms, and three triggers that call the tokenizer in Python, which
    :meth:`connect` makes known to a connection. Other programs can read such a table, but not write to it.

    Attributes:
        table: with an integer primary key `id`.
        column: its text.
        terms: the tokenizer.
        function_sql: CREATE FUNCTION of its twin, by the function's name and the server's version.
    """

    table: str
    column: str
    terms: Callable[[str], list[str]]
    function_sql: Callable[[str, int], str]

    def connect(self, connection: BaseDatabaseWrapper) -> None:
        """Make the tokenizer known to an open connection; nothing off SQLite, or where it is closed."""
        if connection.vendor == "sqlite" and connection.connection is not None:
            connection.connection.create_function(FUNCTION, 1, self._joined_terms, deterministic=True)

    def _joined_terms(self, text: str | None) -> str:
        return " ".join(self.terms(text or ""))

    def create(self, editor: BaseDatabaseSchemaEditor) -> None:
        """Make the index, of the rows that are there too.

        Raises:
            ImproperlyConfigured: the SQLite library has no FTS5, or the PostgreSQL database does not
                store text as UTF-8.
        """
        connection = editor.connection
        if connection.vendor == "sqlite":
            self._run(editor, self._sqlite_table(), *self._sqlite_triggers().values(), self._sqlite_fill())
        elif connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SHOW server_encoding")
                (encoding,) = cursor.fetchone()
            if encoding != "UTF8":
                raise ImproperlyConfigured(
                    f"The word index needs a database in the encoding UTF8; this one has {encoding}."
                )
            # Django's type stubs know no wrapper of one vendor.
            version: int = connection.pg_version  # type: ignore[attr-defined]
            self._run(editor, self.function_sql(FUNCTION, version), self._postgresql_index())

    def drop(self, editor: BaseDatabaseSchemaEditor) -> None:
        """Take away the index or what is left of it."""
        name = index_name(self.table)
        if editor.connection.vendor == "sqlite":
            triggers = [f'DROP TRIGGER IF EXISTS "{trigger}"' for trigger in self._sqlite_triggers()]
            self._run(editor, *triggers, f'DROP TABLE IF EXISTS "{name}"')
        elif editor.connection.vendor == "postgresql":
            self._run(editor, f'DROP INDEX IF EXISTS "{name}"', f"DROP FUNCTION IF EXISTS {FUNCTION}(text)")

    def missing(self, connection: BaseDatabaseWrapper) -> list[str]:
        """Names of its parts that the database lacks; all of them before it was made. 1 query."""
        name = index_name(self.table)
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                parts = [name, *self._sqlite_triggers()]
                cursor.execute("SELECT name FROM sqlite_master WHERE name LIKE %s", [f"{name}%"])
            elif connection.vendor == "postgresql":
                parts = [FUNCTION, name]
                cursor.execute(
                    "SELECT %s WHERE to_regprocedure(%s) IS NOT NULL UNION ALL "
                    "SELECT %s FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid",
                    [FUNCTION, f"{FUNCTION}(text)", name, f'"{name}"'],
                )
            else:
                return []
            there = {row[0] for row in cursor.fetchall()}
        return [part for part in parts if part not in there]

    def repair(self, connection: BaseDatabaseWrapper) -> bool:
        """Make the whole index again where a part of it is missing; whether one was.

        SQLite loses the triggers whenever Django makes the table anew, which is how it alters a column;
        what was written since is not indexed.
        """
        if not self.missing(connection):
            return False
        with connection.schema_editor() as editor:
            self.drop(editor)
            self.create(editor)
        return True

    def optimize(self, connection: BaseDatabaseWrapper) -> None:
        """Let SQLite merge the index, which drops the words of deleted and changed rows from it.

        With `PRAGMA secure_delete` on, they leave the file with that. On PostgreSQL nothing is done: they
        cannot be reached any more, and leave the disk by VACUUM.
        """
        if connection.vendor == "sqlite":
            name = index_name(self.table)
            with connection.cursor() as cursor:
                cursor.execute(f"""INSERT INTO "{name}" ("{name}") VALUES ('optimize')""")

    def _run(self, editor: BaseDatabaseSchemaEditor, *statements: str) -> None:
        self.connect(editor.connection)
        for statement in statements:
            try:
                # No parameters: a per cent sign would be taken for one.
                editor.execute(statement, params=None)
            except OperationalError as error:
                if "no such module" not in str(error):
                    raise
                raise ImproperlyConfigured(
                    "The word search on SQLite needs a SQLite library with FTS5, which this Python's has "
                    "not. Use a Python from python.org or of your distribution, or PostgreSQL."
                ) from error

    def _postgresql_index(self) -> str:
        return (
            f'CREATE INDEX "{index_name(self.table)}" ON "{self.table}" '
            f"""USING gin (({_indexed(f'"{self.column}"')}))"""
        )

    def _sqlite_table(self) -> str:
        # The tokenizer `ascii` takes the terms as they are: nothing but spaces and ASCII signs separates.
        return (
            f'CREATE VIRTUAL TABLE "{index_name(self.table)}" USING fts5'
            "(terms, content='', columnsize=0, detail=none, tokenize='ascii')"
        )

    def _sqlite_triggers(self) -> dict[str, str]:
        name = index_name(self.table)
        insert = f'INSERT INTO "{name}" (rowid, terms) VALUES (new.id, {FUNCTION}(new."{self.column}"))'
        delete = (
            f'INSERT INTO "{name}" ("{name}", rowid, terms) '
            f"VALUES ('delete', old.id, {FUNCTION}(old.\"{self.column}\"))"
        )
        changed = f'WHEN old."{self.column}" IS NOT new."{self.column}" OR old.id IS NOT new.id'
        events = {
            "insert": f'AFTER INSERT ON "{self.table}" BEGIN {insert}; END',
            "update": f'AFTER UPDATE ON "{self.table}" {changed} BEGIN {delete}; {insert}; END',
            "delete": f'AFTER DELETE ON "{self.table}" BEGIN {delete}; END',
        }
        return {f"{name}_{event}": f'CREATE TRIGGER "{name}_{event}" {sql}' for event, sql in events.items()}

    def _sqlite_fill(self) -> str:
        return (
            f'INSERT INTO "{index_name(self.table)}" (rowid, terms) '
            f'SELECT id, {FUNCTION}("{self.column}") FROM "{self.table}"'
        )


def index_name(table: str) -> str:
    """What the index of a table is called, and on SQLite the table that holds it."""
    return f"{table}_words"


def _indexed(column: str) -> str:
    """The expression of the PostgreSQL index; a query must write it in the same way to use it."""
    return f"array_to_tsvector({FUNCTION}({column}))"
