"""The migration: clean both ways, and honest about a missing right."""

from __future__ import annotations

from contextlib import nullcontext
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection, connections, transaction

from memory.db.operations import CreateVectorExtension
from memory.models import Message


@pytest.mark.smoke
@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.smoke
@pytest.mark.django_db(transaction=True)
def test_to_zero_and_back() -> None:
    tables = {model._meta.db_table for model in apps.get_app_config("memory").get_models()}
    assert len(tables & set(connection.introspection.table_names())) == 9
    call_command("migrate", "memory", "zero", verbosity=0)
    assert not any(name.startswith("memory_") for name in connection.introspection.table_names())
    call_command("migrate", verbosity=0)
    assert tables <= set(connection.introspection.table_names())


@pytest.mark.django_db(transaction=True)
def test_the_sql_can_be_printed() -> None:
    call_command("sqlmigrate", "memory", "0001", stdout=(out := StringIO()))
    assert ("CREATE EXTENSION" in out.getvalue()) is (connection.vendor == "postgresql")


@pytest.mark.django_db(transaction=True)
def test_indexes_of_large_tables_keep_nobody_from_writing(is_postgres: bool) -> None:
    """Where the database can: CREATE INDEX CONCURRENTLY."""
    call_command("sqlmigrate", "memory", "0004", stdout=(out := StringIO()))
    assert out.getvalue().count("CREATE INDEX CONCURRENTLY") == (3 if is_postgres else 0)
    assert out.getvalue().count("CREATE INDEX") == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("framed", [False, True])
def test_a_migration_that_was_interrupted_is_run_again(framed: bool, is_postgres: bool) -> None:
    """PostgreSQL leaves an index that it never uses; and a site may migrate in a transaction of its own."""
    table, index = Message._meta.db_table, "memory_message_redacted"
    call_command("migrate", "memory", "0003", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX {index} ON {table} (role)")
        if is_postgres:
            cursor.execute(f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{index}'::regclass")
    with transaction.atomic() if framed and is_postgres else nullcontext():
        call_command("migrate", "memory", verbosity=0)
    with connection.cursor() as cursor:
        assert connection.introspection.get_constraints(cursor, table)[index]["columns"] == [
            "created_at",
            "id",
        ]
        if is_postgres:
            cursor.execute(f"SELECT indisvalid FROM pg_index WHERE indexrelid = '{index}'::regclass")
            assert cursor.fetchone() == (True,)


@pytest.mark.django_db
def test_the_metadata_index_is_gin_or_nothing() -> None:
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, Message._meta.db_table)
    if connection.vendor == "postgresql":
        assert constraints["memory_message_metadata"]["type"] == "gin"
    else:
        assert "memory_message_metadata" not in constraints


@pytest.mark.django_db(transaction=True)
def test_a_role_without_the_right_gets_the_sql(is_postgres: bool) -> None:
    """CREATE EXTENSION refused: the exact SQL for the administrator."""
    if not is_postgres:
        pytest.skip("extensions exist on PostgreSQL")
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE powerless")
        cursor.execute("CREATE DATABASE without_vector")
    copy: dict[str, Any] = {**connection.settings_dict, "NAME": "without_vector"}
    other = connections.create_connection("default")
    other.settings_dict = copy
    try:
        with other.cursor() as cursor:
            cursor.execute("SET ROLE powerless")
        with other.schema_editor(atomic=False) as editor, pytest.raises(ImproperlyConfigured) as caught:
            CreateVectorExtension().database_forwards("memory", editor, None, None)  # type: ignore[arg-type]
        assert "\n    CREATE EXTENSION IF NOT EXISTS vector;\n" in str(caught.value)
        assert "without_vector" in str(caught.value)
    finally:
        other.close()
        with connection.cursor() as cursor:
            cursor.execute("DROP DATABASE without_vector")
            cursor.execute("DROP ROLE powerless")
