"""The word index follows its table, whoever writes to it, and is made, mended and taken away."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection, connections, models, transaction
from django.db.utils import OperationalError

from memory import Memory
from memory.db import words as words_module
from memory.db.erasing import erasing
from memory.models import Message, Thread
from memory.querysets.words import message_words
from tests.cases import in_parallel, message, save, uids
from tests.test_checks import ids

on_sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="the index of SQLite")
on_postgres = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="the index of PostgreSQL")


def found(query: str) -> list[str]:
    return uids(Message.objects.containing(query).chronological())


def assert_whole() -> None:
    """Every message is found by each of its terms, and by no term that it has no more."""
    terms = {
        term
        for text in ["환불 退款 one two three", *Message.objects.values_list("text", flat=True)]
        for term in message_words().terms(text)
    }
    for term in terms:
        expected = [
            row.uid for row in Message.objects.chronological() if term in message_words().terms(row.text)
        ]
        # A query takes words as beginnings; these terms are none of each other.
        if not any(other != term and other.startswith(term) for other in terms):
            assert found(term) == expected, term


@pytest.mark.smoke
@pytest.mark.django_db
def test_every_way_to_write() -> None:
    save(message("m1", "one 환불"), message("m2", "two 退款"), message("m3", "three"))
    assert (found("환불"), found("退"), found("thr")) == (["m1"], ["m2"], ["m3"])
    assert_whole()
    Memory().update_messages([{"id": "m1", "content": {"content": "한글"}}])
    assert (found("환불"), found("한글")) == ([], ["m1"])
    Message.objects.filter(uid="m2").update(text="four")
    assert (found("退款"), found("four")) == ([], ["m2"])
    Message.objects.update(type="x")
    thread = Thread.objects.get()
    Message.objects.bulk_create(
        [Message(uid=f"b{n}", thread=thread, role="user", content=f"bulk 환불{n}") for n in range(3)]
    )
    assert found("bulk 환불") == ["b0", "b1", "b2"]
    rows = list(Message.objects.filter(uid__startswith="b"))
    for row in rows:
        row.content = f"changed {row.uid}"
    Message.objects.bulk_update(rows, ["body"])
    assert (found("bulk"), found("changed b1")) == ([], ["b1"])
    Message.objects.bulk_create(
        [Message(uid="b1", thread=thread, role="user", content="again")],
        update_conflicts=True,
        unique_fields=["uid"],
        update_fields=["body", "text"],
    )
    assert (found("changed b1"), found("again")) == ([], ["b1"])
    clone = Memory().clone_thread("t").thread
    assert len(found("again")) == 2
    assert_whole()
    Memory().delete_messages(["b1"])
    assert len(found("again")) == 1
    Memory().delete_thread(clone.uid)
    assert found("again") == []
    Message.objects.filter(uid="m2").delete()
    assert found("four") == []
    assert_whole()
    thread.delete()
    assert found("changed") == found("한글") == []


@pytest.mark.django_db
def test_sql_of_any_kind() -> None:
    """INSERT ... SELECT, UPDATE of the key, a transaction that fails."""
    (stored,) = save(message("m1", "one 환불"))
    columns = [field.column for field in Message._meta.concrete_fields if field.name not in ("id", "uid")]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO memory_message (uid, {', '.join(columns)}) "
            f"SELECT uid || '+', {', '.join(columns)} FROM memory_message"
        )
        assert found("환불") == ["m1", "m1+"]
        cursor.execute("UPDATE memory_message SET id = id + 1000 WHERE uid = 'm1+'")
    assert found("환불") == ["m1", "m1+"]
    with transaction.atomic():
        Message.objects.filter(pk=stored.pk).update(text="two")
        assert found("환불") == ["m1+"]
        transaction.set_rollback(True)
    assert found("환불") == ["m1", "m1+"]
    assert_whole()


@pytest.mark.django_db
def test_it_is_one_condition_among_others() -> None:
    save(message("m1", "one"), message("m2", "two"), message("m3", "one two"))
    matches = words_module.MatchesWords
    one, two = matches("text", [("one", False)]), matches("text", [("tw", True)])

    def names(rows: Iterable[Message]) -> list[str]:
        return sorted(uids(rows))

    assert names(Message.objects.filter(one, two)) == ["m3"]
    assert names(Message.objects.filter(models.Q(one) | models.Q(two))) == ["m1", "m2", "m3"]
    assert names(Message.objects.exclude(one)) == ["m2"]
    assert names(Message.objects.filter(~models.Q(matches("text", [])))) == ["m1", "m2", "m3"]
    flagged = Message.objects.annotate(hit=one).order_by("uid").values_list("uid", "hit")
    assert [(uid, bool(hit)) for uid, hit in flagged] == [("m1", True), ("m2", False), ("m3", True)]
    through = Thread.objects.filter(matches("messages__text", [("one", False)]))
    assert [thread.uid for thread in through] == ["t", "t"]
    inner = Message.objects.filter(one, thread=models.OuterRef("pk"))
    assert Thread.objects.filter(models.Exists(inner)).count() == 1


@pytest.mark.smoke
@pytest.mark.django_db(transaction=True)
def test_to_zero_and_back() -> None:
    """Rows that are there already are indexed."""
    save(message("m1", "one 환불"))
    call_command("migrate", "memory", "0001", verbosity=0)
    assert len(message_words().missing(connection)) == (4 if connection.vendor == "sqlite" else 2)
    assert ids(databases=["default"]) == ["memory.W003"]
    assert [row.text for row in Message.objects.all()] == ["one 환불"]
    save(message("m2", "two 환불"))
    call_command("migrate", "memory", verbosity=0)
    assert found("환불") == ["m1", "m2"]
    assert ids(databases=["default"]) == []
    assert_whole()


@pytest.mark.django_db(transaction=True)
def test_the_sql_can_be_printed() -> None:
    for backwards, expected in ((False, "CREATE"), (True, "DROP")):
        call_command("sqlmigrate", "memory", "0002", backwards=backwards, stdout=(out := StringIO()))
        printed = out.getvalue()
        assert "memory_message_words" in printed
        assert f"{expected} {'TRIGGER' if connection.vendor == 'sqlite' else 'FUNCTION'}" in printed
    assert message_words().missing(connection) == []


@on_sqlite
@pytest.mark.smoke
@pytest.mark.django_db(transaction=True)
def test_altering_a_column_keeps_the_index() -> None:
    """Django makes the table anew and forgets the triggers; the end of every `migrate` mends it."""
    save(message("m1", "one 환불"))
    old = Message._meta.get_field("role")
    new = models.CharField(max_length=17)
    new.set_attributes_from_name("role")
    new.model = Message
    with connection.schema_editor() as editor:
        editor.alter_field(Message, old, new)
    triggers = [f"memory_message_words_{event}" for event in ("insert", "update", "delete")]
    assert message_words().missing(connection) == triggers
    assert ids(databases=["default"]) == ["memory.W003"]
    save(message("m2", "two 환불"))
    Message.objects.filter(uid="m1").update(text="three")
    call_command("migrate", verbosity=0)
    assert message_words().missing(connection) == []
    assert (found("환불"), found("three")) == (["m2"], ["m1"])
    assert_whole()
    with connection.schema_editor() as editor:
        editor.alter_field(Message, new, old)
    call_command("migrate", verbosity=0)
    assert_whole()


@pytest.mark.django_db(transaction=True)
def test_a_lost_index_is_made_again() -> None:
    save(message("m1", "one 환불"))
    with connection.schema_editor() as editor:
        message_words().drop(editor)
    (problem,) = (entry for entry in _warnings() if entry.id == "memory.W003")
    assert "manage.py migrate" in (problem.hint or "")
    call_command("migrate", verbosity=0)
    assert found("환불") == ["m1"]
    assert ids(databases=["default"]) == []


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_lost_index_of_postgres_is_made_again() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX memory_message_words")
    assert message_words().missing(connection) == ["memory_message_words"]
    call_command("migrate", verbosity=0)
    assert message_words().missing(connection) == []


@pytest.mark.django_db(transaction=True)
def test_a_site_without_migrations(settings: Any) -> None:
    with connection.schema_editor() as editor:
        message_words().drop(editor)
    settings.MIGRATION_MODULES = {"memory": None}
    call_command("migrate", run_syncdb=True, verbosity=0)
    assert message_words().missing(connection) == []


@pytest.mark.django_db(transaction=True)
def test_mending_does_nothing_to_what_is_whole(count_queries: Callable[..., Any]) -> None:
    with count_queries(1):
        assert message_words().repair(connection) is False


@pytest.mark.django_db(transaction=True)
def test_connections_of_other_threads() -> None:
    in_parallel(*(lambda n=n: save(message(f"m{n}", f"환불 {n}", thread=f"t{n}")) for n in range(4)))
    assert sorted(found("환불")) == ["m0", "m1", "m2", "m3"]


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_connections_that_are_open_already() -> None:
    """An app before this one may have used the database while the apps were loaded."""
    connection.ensure_connection()
    connection.connection.create_function(words_module.FUNCTION, 1, None)
    with pytest.raises(OperationalError, match="function"):
        save(message("m1", "one"))
    apps.get_app_config("memory").ready()
    save(message("m1", "one"))
    assert found("one") == ["m1"]


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_other_programs_can_read(tmp_path: Path) -> None:
    save(message("m1", "one 환불"))
    other = sqlite3.connect(connection.settings_dict["NAME"])
    try:
        query = "SELECT rowid FROM memory_message_words WHERE memory_message_words MATCH '환불'"
        assert other.execute(query).fetchall() == [(Message.objects.get().pk,)]
    finally:
        other.close()


@on_sqlite
@pytest.mark.django_db
def test_a_library_without_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    index = message_words()
    monkeypatch.setattr(
        type(index), "_sqlite_table", lambda self: "CREATE VIRTUAL TABLE x USING fts99(terms)"
    )
    with pytest.raises(ImproperlyConfigured, match="FTS5"):
        index.create(_Editor())  # type: ignore[arg-type]


class _Editor:
    """Runs what an editor of the schema would, without the rules of one."""

    connection = connection

    def execute(self, sql: str, params: Any = ()) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, params)


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_erased_words_leave_the_file() -> None:
    """Neither the table, nor the index, nor the log beside them holds what was deleted."""
    secret = "xylophonist"
    save(message("m1", f"my {secret}"), message("m2", f"other {secret}s"), message("m3", "harmless"))
    folder = Path(connection.settings_dict["NAME"])

    def written() -> bool:
        files = folder.parent.glob(f"{folder.name}*")
        return any(secret.encode() in file.read_bytes() for file in files)

    assert written()
    with erasing("default", message_words()), transaction.atomic():
        Message.objects.filter(uid="m1").delete()
        Memory().update_messages([{"id": "m2", "content": {"content": "redacted"}}])
    assert not written()
    assert found("harmless") == ["m3"]
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO memory_message_words (memory_message_words) VALUES ('integrity-check')")


def _warnings() -> list[Any]:
    from django.core import checks

    return checks.run_checks(databases=list(connections))
