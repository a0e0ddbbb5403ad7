"""Migration operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from django.db import router
from django.db.migrations.operations import AddIndex
from django.db.migrations.operations.base import Operation
from django.db.utils import Error

from memory.db.words import WordIndex

if TYPE_CHECKING:
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor
    from django.db.migrations.state import ProjectState
    from django.db.models import Model

CREATE_EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector"


class CreateVectorExtension(Operation):
    """Make pgvector's types known to a PostgreSQL database; nothing elsewhere.

    Raises:
        ImproperlyConfigured: the role may not create extensions, or the server has no pgvector; the text
            holds the SQL for whoever may.
    """

    reversible = True

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        pass

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        connection = schema_editor.connection
        if connection.vendor != "postgresql" or not router.allow_migrate(connection.alias, app_label):
            return
        if schema_editor.collect_sql:
            schema_editor.execute(CREATE_EXTENSION)
            return
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'")
            if cursor.fetchone():
                return
        try:
            schema_editor.execute(CREATE_EXTENSION)
        except Error as error:
            database = connection.settings_dict["NAME"]
            raise ImproperlyConfigured(
                f"The extension pgvector cannot be created in the database {database!r} "
                f"({str(error).strip().splitlines()[0]}). "
                "Install pgvector on the server if it is not there, then ask a database administrator to "
                f"run, as a superuser connected to {database!r}:\n\n    {CREATE_EXTENSION};\n\n"
                "and run `manage.py migrate` again."
            ) from error

    def database_backwards(self, *args: Any, **kwargs: Any) -> None:
        # Other apps may use the extension by now; dropping it would take their columns along.
        pass

    def describe(self) -> str:
        return "Creates the extension pgvector (PostgreSQL only)"


class AddIndexConcurrently(AddIndex):
    """Django's `AddIndex`, which on PostgreSQL keeps nobody from writing meanwhile. The migration is to be
    one that is not atomic.

    `django.contrib.postgres` has one that refuses every other database, and cannot be imported without
    psycopg. Run again after an interruption, this one makes the index anew: PostgreSQL leaves one behind
    that it never uses. Where a transaction is open all the same, the index is made inside it, in the usual
    way.
    """

    atomic = False

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        connection = schema_editor.connection
        if not self.allow_migrate_model(connection.alias, model):
            return
        options, word = {}, ""
        if connection.vendor == "postgresql" and not connection.in_atomic_block:
            options, word = {"concurrently": True}, "CONCURRENTLY "
        schema_editor.execute(f"DROP INDEX {word}IF EXISTS {schema_editor.quote_name(self.index.name)}")
        schema_editor.add_index(model, self.index, **options)

    def describe(self) -> str:
        return f"Creates the index {self.index.name} without keeping anybody from writing"


class CreateWordIndex(Operation):
    """Make the word index of a text column (:class:`~memory.db.words.WordIndex`); backwards, drop it.

    Args:
        model_name, column: what is indexed.
        terms, function_sql: the tokenizer and its SQL twin.

    Raises:
        ImproperlyConfigured: this database cannot have it.
    """

    reversible = True

    def __init__(
        self,
        model_name: str,
        column: str,
        *,
        terms: Callable[[str], list[str]],
        function_sql: Callable[[str, int], str],
    ) -> None:
        self.model_name = model_name
        self.column = column
        self.terms = terms
        self.function_sql = function_sql

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        pass

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        if self.allow_migrate_model(schema_editor.connection.alias, model):
            self._index(model).create(schema_editor)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        if self.allow_migrate_model(schema_editor.connection.alias, model):
            self._index(model).drop(schema_editor)

    def describe(self) -> str:
        return f"Creates the word index of {self.model_name}.{self.column}"

    def _index(self, model: type[Model]) -> WordIndex:
        return WordIndex(model._meta.db_table, self.column, self.terms, self.function_sql)
