"""Erasing an owner: everything goes, a receipt stays (issue 5, point 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection, transaction

from memory import Memory
from memory.exceptions import RecallError
from memory.managers import erasing
from memory.models import (
    AdminEvent,
    Embedding,
    EmbeddingJob,
    Message,
    Resource,
    Thread,
    WorkingMemory,
    WorkingMemoryVersion,
)
from memory.recall import EraseReceipt
from memory.recall.receipts import hashed_id
from tests.cases import message, save, uids
from tests.embedders.hashing import HashEmbedder
from tests.support import MARKER, into_file, log, make_owner, places_of

memory = Memory()
OWNED = (Embedding, EmbeddingJob, Message, Resource, Thread, WorkingMemory, WorkingMemoryVersion)


def gone() -> bool:
    return not any(model._default_manager.exists() for model in OWNED)


@pytest.mark.smoke
@pytest.mark.django_db(transaction=True)
def test_nothing_is_left_anywhere() -> None:
    """In no value of any table, the admin's log and the events too, and in no byte of SQLite's files."""
    owner = make_owner()
    rows = [owner, *Thread.objects.all(), *Message.objects.all(), *WorkingMemory.objects.all()]
    for row in rows:
        log(row)
    AdminEvent.objects.record("read", resource_id=owner.uid, thread_id=f"{owner.uid}-0")
    into_file()
    written = places_of()
    assert {model._meta.db_table for model in OWNED if model not in (Embedding, EmbeddingJob)} <= written
    assert {"django_admin_log", "memory_adminevent"} <= written
    receipt = memory.erase_resource(owner.uid)
    assert places_of() == set()
    assert gone()
    assert receipt.counts == {
        "resources": 1,
        "threads": 2,
        "messages": 6,
        "words": 6,
        "embeddings": 6,
        "jobs": 0,
        "working_memories": 3,
        "versions": 4,
        "log_entries": len(rows),
        "admin_events": 1,
        "copies_left": 0,
    }
    assert receipt.leaves_disk == ("now" if connection.vendor == "sqlite" else "vacuum")
    assert receipt.resource_uid == f"sha256:{hashlib.sha256(owner.uid.encode()).hexdigest()}"
    event = AdminEvent.objects.get()
    assert event.resource_uid == receipt.resource_uid
    assert event.thread_uid == f"sha256:{hashlib.sha256(f'{owner.uid}-0'.encode()).hexdigest()}"
    assert event.message_uid == ""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("uid", [MARKER, "x" * 200 + MARKER, f"\u202e{MARKER}\u200b"])
def test_nothing_names_what_was_deleted_before(uid: str) -> None:
    """Rows that are gone have no key by which the log would be found: their ids stand in the events."""
    make_owner(uid)
    rows = {"thread_id": Thread.objects.first(), "message_id": Message.objects.last()}
    for name, row in rows.items():
        assert row is not None
        AdminEvent.objects.record("read", resource_id=uid, **{"thread_id": f"{uid}-0", name: row.uid})
        entry = log(row)
        LogEntry.objects.filter(pk=entry.pk).update(object_repr=str(row)[:200])
        row.delete()
    # Somebody else's.
    log(make_owner("other", threads=0))
    into_file()
    receipt = memory.erase_resource(uid)
    assert receipt.counts["log_entries"] == receipt.counts["admin_events"] == 2
    assert MARKER not in repr(list(AdminEvent.objects.values()))
    assert set(LogEntry.objects.values_list("object_repr", flat=True)) == {"", f"the {MARKER}"}


@pytest.mark.django_db(transaction=True)
def test_events_under_another_owner_name_it_by_hashes() -> None:
    """What was done while a thread, or a thread that a message was in, was still somebody else's."""
    make_owner("former", threads=1)
    gone, moved = "former-0", "former-0-1"
    memory.create_thread("former", thread_id="kept")
    AdminEvent.objects.record("read", resource_id="former", thread_id=gone, message_id="former-0-0")
    AdminEvent.objects.record("move_message", resource_id="former", thread_id="kept", message_id=moved)
    AdminEvent.objects.record("read", resource_id="former", thread_id="kept")
    AdminEvent.objects.record("read", resource_id="former")
    memory.transfer_thread(gone, "o")
    assert memory.erase_resource("o").counts["admin_events"] == 2
    fields = ("resource_uid", "thread_uid", "message_uid")
    assert list(AdminEvent.objects.order_by("pk").values_list(*fields)) == [
        ("former", hashed_id(gone), hashed_id("former-0-0")),
        ("former", "kept", hashed_id(moved)),
        ("former", "kept", ""),
        ("former", "", ""),
    ]
    memory.erase_resource("former")
    # What is a hash already stays that.
    first = AdminEvent.objects.order_by("pk").values_list(*fields).first()
    assert first == (hashed_id("former"), hashed_id(gone), hashed_id("former-0-0"))
    stored = list(AdminEvent.objects.values())
    memory.erase_resource(hashed_id("former"))
    assert list(AdminEvent.objects.values()) == stored


@pytest.mark.django_db(transaction=True)
def test_everybody_else_keeps_everything() -> None:
    make_owner("o")
    make_owner("other")
    for row in (*Resource.objects.all(), *Thread.objects.all(), *Message.objects.all()):
        log(row)
    AdminEvent.objects.record("read", resource_id="other")
    memory.transfer_thread("o-1", "other")
    kept = {
        model: list(model._default_manager.filter(pk__in=keys).order_by("pk").values())
        for model, keys in {
            Resource: Resource.objects.filter(uid="other").values("pk"),
            Thread: Thread.objects.filter(resource__uid="other").values("pk"),
            Message: Message.objects.filter(thread__resource__uid="other").values("pk"),
            WorkingMemoryVersion: WorkingMemoryVersion.objects.exclude(working_memory__thread__uid="o-0")
            .exclude(working_memory__resource__uid="o")
            .values("pk"),
        }.items()
    }
    receipt = memory.erase_resource("o")
    assert (receipt.counts["threads"], receipt.counts["messages"]) == (1, 3)
    for model, rows in kept.items():
        assert list(model._default_manager.order_by("pk").values()) == rows
    assert len(uids(Message.objects.containing(MARKER))) == 9
    assert Embedding.objects.count() == 9
    assert LogEntry.objects.filter(object_repr="", change_message="").count() == 1 + 1 + 3
    assert LogEntry.objects.filter(object_repr__contains=MARKER).count() == 1 + 3 + 9
    assert AdminEvent.objects.get().resource_uid == "other"


@pytest.mark.django_db
def test_copies_under_other_owners_are_counted() -> None:
    """They are the other owner's; the receipt tells that they are there."""
    save(message("a"), message("b"))
    memory.clone_thread("t", resource_id="other")
    memory.clone_thread("t", new_thread_id="own")
    assert memory.erase_resource("r").counts["copies_left"] == 2
    assert sorted(Message.objects.values_list("text", flat=True)) == ["a", "b"]


@pytest.mark.django_db(transaction=True)
def test_again_and_unknown() -> None:
    make_owner("o")
    memory.erase_resource("o")
    for uid in ("o", "never there"):
        receipt = memory.erase_resource(uid)
        assert set(receipt.counts.values()) == {0}
        assert list(receipt.counts) == list(EraseReceipt.COUNTED)
    make_owner("o", threads=1)
    assert memory.erase_resource("o").counts["messages"] == 3


@pytest.mark.django_db
@pytest.mark.parametrize("threads", [3, 9])
def test_small_steps(
    threads: int, monkeypatch: pytest.MonkeyPatch, count_queries: Callable[..., Any]
) -> None:
    """Batches of threads and messages, the progress, and the queries of each step."""
    monkeypatch.setattr(erasing, "THREADS", 2)
    monkeypatch.setattr(erasing, "MESSAGES", 4)
    make_owner("o", threads=threads, messages=3)
    make_owner("other", threads=1)
    steps: list[int] = []
    with count_queries() as statements:
        receipt = memory.erase_resource("o", advance=steps.append)
    assert sum(steps) == receipt.counts["messages"] == 3 * threads
    assert receipt.counts["threads"] == threads
    assert max(steps) <= 4
    assert len(statements) <= 25 + 25 * len(steps)
    assert Thread.objects.get().resource.uid == "other"


@pytest.mark.django_db
def test_an_owner_without_threads() -> None:
    Resource.objects.ensure("o")
    assert memory.erase_resource("o").counts["resources"] == 1
    assert gone()


@pytest.mark.django_db(transaction=True)
def test_jobs_and_the_cache(embedder: HashEmbedder, settings: Any) -> None:
    make_owner("o", threads=1)
    assert len(embedder.cache) == 3
    settings.MEMORY = {**settings.MEMORY, "EMBED": "command"}
    memory.save_messages([message("new", thread="o-0")])
    assert memory.erase_resource("o").counts["jobs"] == 1
    assert gone()
    from memory.embedders import embedders

    assert len(embedders["default"].cache) == 0


@pytest.mark.django_db(transaction=True)
def test_vacuum(is_postgres: bool) -> None:
    """What earlier edits left behind goes too."""
    make_owner("o")
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA secure_delete = OFF")
            memory.erase_resource("o")
            cursor.execute("PRAGMA secure_delete")
            assert cursor.fetchone() == (0,)
            memory.save_messages([message("m", f"{MARKER} " * 3_000)], create_thread=True, resource_id="o")
            memory.update_messages([{"id": "m", "content": "short"}])
            into_file()
            memory.erase_resource("o")
            assert places_of() == {"file"}
            cursor.execute("PRAGMA secure_delete = ON")
    assert memory.erase_resource("o", vacuum=True).leaves_disk == ("reuse" if is_postgres else "now")
    assert places_of() == set()


@pytest.mark.django_db
def test_bad_input() -> None:
    with pytest.raises(RecallError, match="resource_id"):
        memory.erase_resource("")
    with transaction.atomic(), pytest.raises(RecallError, match="inside a transaction"):
        memory.erase_resource("o", vacuum=True)


@pytest.mark.django_db(transaction=True)
def test_inside_a_transaction_that_fails() -> None:
    make_owner("o")
    with transaction.atomic():
        memory.erase_resource("o")
        assert gone()
        transaction.set_rollback(True)
    assert Message.objects.count() == 6
    assert len(uids(Message.objects.containing(MARKER))) == 6


@pytest.mark.django_db
@pytest.mark.parametrize("cap", [2, 100])
def test_counting_up_to_a_cap(cap: int, count_queries: Callable[..., Any]) -> None:
    make_owner("o")
    make_owner("other")
    with count_queries(at_most=5):
        counted = Resource.objects.count_owned("o", cap=cap)
    numbers = {"threads": 2, "messages": 6, "versions": 4}
    assert counted == {name: min(number, cap + 1) for name, number in numbers.items()}
