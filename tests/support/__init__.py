"""An owner with a marker word wherever content can stand, and a search for it in the whole database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection, models

from memory import Memory
from memory.models import Resource
from tests.cases import at, message

WORDS = "memory_message_words"
MARKER = "xylophonist"

WORKING_MEMORY: dict[str, Any] = {"working_memory": {"enabled": True}}


def marked(number: int) -> str:
    """A text of its own with the marker."""
    return f"say {number} {MARKER}"


def make_owner(uid: str = f"{MARKER}@example.org", threads: int = 2, messages: int = 3) -> Resource:
    """An owner whose threads `<uid>-0`... hold messages `<uid>-0-0`..., with the marker in every field."""
    memory = Memory(**WORKING_MEMORY)
    Resource.objects.update_resource(uid, metadata={"note": MARKER, MARKER: 1})
    memory.update_working_memory(f"first {MARKER}", resource_id=uid)
    memory.update_working_memory(f"second {MARKER}", resource_id=uid)
    of_thread = {"working_memory": {"scope": "thread"}}
    for number in range(threads):
        name = f"{uid}-{number}"
        memory.create_thread(uid, thread_id=name, title=marked(number), metadata={"note": MARKER})
        memory.update_working_memory(f"of a thread {MARKER}", thread_id=name, thread_config=of_thread)
        memory.save_messages(
            [
                message(
                    f"{name}-{place}",
                    {
                        "format": 2,
                        "parts": [
                            {"type": "text", "text": marked(place)},
                            {"type": "data-note", "data": {MARKER: MARKER}},
                        ],
                        "metadata": {"note": MARKER, MARKER: [MARKER]},
                        MARKER: MARKER,
                    },
                    thread=name,
                    created_at=at(place),
                    type=MARKER,
                )
                for place in range(messages)
            ]
        )
    return Resource.objects.get(uid=uid)


def log(row: models.Model) -> LogEntry:
    """An entry of the admin's log as other admins than ours may write it, with content in it."""
    from django.contrib.auth.models import User

    staff, _ = User.objects.get_or_create(username="staff", defaults={"is_staff": True})
    return LogEntry.objects.create(
        user=staff,
        content_type=ContentType.objects.get_for_model(row),
        object_id=str(row.pk),
        object_repr=f"the {MARKER}",
        action_flag=CHANGE,
        change_message=f"Changed {MARKER}",
    )


def stored_texts() -> Iterator[tuple[str, str]]:
    """Every value of every table as text, with the table's name."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        if connection.vendor == "sqlite":
            # The word index holds nothing but its terms, which this table shows.
            cursor.execute(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, {WORDS}, row)"
            )
            tables = [*(set(tables) - {WORDS}), "terms"]
        for table in tables:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            for row in cursor.fetchall():
                for value in row:
                    yield (
                        table,
                        bytes(value).decode("latin-1") if isinstance(value, memoryview) else str(value),
                    )


def places_of(word: str = MARKER) -> set[str]:
    """Where a word stands: names of tables, and on SQLite of the database's files, byte by byte."""
    found = {table for table, value in stored_texts() if word in value}
    if connection.vendor == "sqlite":
        name = Path(connection.settings_dict["NAME"])
        found |= {
            file.name.removeprefix(name.name) or "file"
            for file in name.parent.glob(f"{name.name}*")
            if word.encode() in file.read_bytes()
        }
    return found


def into_file() -> None:
    """Have SQLite write its log into the file, where what follows has to take it out again."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert "file" in places_of()
