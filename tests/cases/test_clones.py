"""Cases 86 and 88: clones, and saving in bulk (contract sections 3 and 4)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.db import DatabaseError, connection

from memory import Memory
from memory.exceptions import RecallError, ThreadNotFound
from memory.models import Embedding, EmbeddingJob, Message, Resource, Thread, WorkingMemory
from tests.cases import at, found, in_parallel, message, names, numbered, save, uids
from tests.queries import FRAMING

if TYPE_CHECKING:
    from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db

OnCommit = Callable[..., Any]
THREAD_NOTES = Memory(working_memory={"enabled": True, "scope": "thread"})
RESOURCE_NOTES = Memory(working_memory={"enabled": True, "scope": "resource"})


class FailAt:
    """An `execute_wrapper` that fails one statement, counted from 1; framing of transactions goes by."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = 0

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if not FRAMING.match(sql):
            self.seen += 1
            if self.seen == self.number:
                raise DatabaseError("staged")
        return execute(sql, params, many, context)


def rows() -> tuple[int, ...]:
    """The number of rows in every table."""
    tables = (Resource, Thread, Message, Embedding, EmbeddingJob, WorkingMemory)
    return tuple(model.objects.count() for model in tables)


def test_case_86_a_clone_has_everything(embedder: HashEmbedder, on_commit: OnCommit) -> None:
    """Messages with dates, order and metadata; vectors without an embedder call; the thread's memory."""
    Memory().create_thread("r", thread_id="t", title="Trip", metadata={"a": 1})
    with on_commit():
        save(*(message(f"m{n}", f"purple {n}", created_at=at(0)) for n in range(1, 6)))
        save(message("m6", {"content": "green", "metadata": {"k": 1}}, role="assistant", type="note"))
        save(message("m7", "yellow " * 10_000))
        THREAD_NOTES.update_working_memory("note", thread_id="t")
    embedder.calls.clear()
    vectors = Embedding.objects.count()
    with on_commit():
        result = Memory().clone_thread("t", new_thread_id="copy")
    assert embedder.calls == []
    assert Embedding.objects.count() == 2 * vectors
    assert EmbeddingJob.objects.count() == 0
    originals = Memory().recall("t", per_page=False).chronological()
    copies = Memory().recall("copy", per_page=False).chronological()
    assert uids(copies) == uids(result.messages) == [result.message_id_map[row.uid] for row in originals]
    assert not set(uids(copies)) & set(uids(originals))
    for original, copied in zip(originals, copies, strict=True):
        kept = ("role", "type", "content", "text", "created_at")
        assert [getattr(copied, name) for name in kept] == [getattr(original, name) for name in kept]
    assert THREAD_NOTES.get_working_memory(thread_id="copy") == "note"
    origin = result.thread.metadata.pop("clone")
    assert (result.thread.title, result.thread.metadata) == ("Clone of Trip", {})
    assert (origin["sourceThreadId"], origin["lastMessageId"]) == ("t", "m7")
    assert found("green", thread="copy", scope="thread") == [result.message_id_map["m6"]]
    assert found("yellow", thread="copy", scope="thread") == [result.message_id_map["m7"]]


def test_case_86_a_clone_lives_its_own_life(on_commit: OnCommit) -> None:
    """Neither side follows edits, deletions and notes of the other."""
    with on_commit():
        save(message("m1", "purple", created_at=at(1)))
        THREAD_NOTES.update_working_memory("note", thread_id="t")
    with on_commit():
        copy = Memory().clone_thread("t", new_thread_id="copy").message_id_map["m1"]
        Memory().update_messages([{"id": "m1", "content": "green"}])
        THREAD_NOTES.update_working_memory("other", thread_id="copy")
    assert THREAD_NOTES.get_working_memory(thread_id="t") == "note"
    assert found("purple") == [copy]
    assert found("green") == names(1)
    Memory().delete_thread("t")
    assert found("purple", thread="copy") == [copy]
    assert found("green", thread="copy") == []


def test_case_86_a_clone_of_what_is_not_embedded_yet(on_commit: OnCommit) -> None:
    """The copies wait for their vectors like the originals."""
    with on_commit():
        save(message("m1", "purple"))
        copy = Memory().clone_thread("t", new_thread_id="copy").message_id_map["m1"]
    assert sorted(found("purple")) == sorted(["m1", copy])
    assert EmbeddingJob.objects.count() == 0


def test_case_86_a_clone_for_another_owner(on_commit: OnCommit) -> None:
    """Rows and vectors are the new owner's; the owner's memory goes along where there is none."""
    with on_commit():
        save(message("m1", "purple"))
        RESOURCE_NOTES.update_working_memory("of r", resource_id="r")
        RESOURCE_NOTES.update_working_memory("of r3", resource_id="r3")
    with on_commit():
        copy = Memory().clone_thread("t", new_thread_id="copy", resource_id="r2").message_id_map["m1"]
        Memory().clone_thread("t", new_thread_id="third", resource_id="r3")
    assert found("purple", thread="copy", resource="r2") == [copy]
    assert found("purple") == names(1)
    assert RESOURCE_NOTES.get_working_memory(resource_id="r2") == "of r"
    assert RESOURCE_NOTES.get_working_memory(resource_id="r3") == "of r3"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (1, 2, 3, 4, 5)),
        ({"message_limit": 2}, (4, 5)),
        ({"message_limit": 9}, (1, 2, 3, 4, 5)),
        ({"message_ids": ["m4", "m2", "unknown", "x1", "m2"]}, (2, 4)),
        ({"message_ids": ["m1", "m2", "m3"], "message_limit": 1}, (3,)),
        ({"message_ids": []}, ()),
        ({"start_date": at(2), "end_date": at(4)}, (2, 3, 4)),
        ({"start_date": at(2), "message_ids": ["m1", "m5"]}, (5,)),
        ({"end_date": at(4), "message_limit": 2}, (3, 4)),
        ({"start_date": at(9)}, ()),
    ],
)
def test_case_86_a_part_of_a_thread(options: dict[str, Any], expected: tuple[int, ...]) -> None:
    """Ids and dates combine by AND, the limit comes last and means the newest; oldest first."""
    numbered(5)
    numbered(1, thread="u", prefix="x")
    result = Memory().clone_thread("t", **options)
    assert list(result.message_id_map) == names(*expected)
    assert [row.text for row in result.messages] == names(*expected)
    last = at(expected[-1]) if expected else None
    assert Thread.objects.get(uid=result.thread.uid).last_message_at == last
    assert result.thread.metadata["clone"].get("lastMessageId") == (f"m{expected[-1]}" if expected else None)


def test_case_86_a_failing_clone_leaves_nothing(on_commit: OnCommit) -> None:
    """Section 4: a database error, at whichever statement, leaves no thread, row or vector."""
    with on_commit():
        save(message("m1", "purple", created_at=at(1)), message("m2", "green", created_at=at(2)))
        THREAD_NOTES.update_working_memory("note", thread_id="t")
        RESOURCE_NOTES.update_working_memory("of r", resource_id="r")
    before = rows()
    for number in itertools.count(1):
        failure = FailAt(number)
        try:
            with connection.execute_wrapper(failure):
                Memory().clone_thread("t", new_thread_id="copy", resource_id="r2")
        except DatabaseError:
            assert rows() == before, number
        else:
            break
    assert number > 8
    assert rows() == tuple(count + more for count, more in zip(before, (1, 1, 2, 2, 0, 2), strict=True))


def test_case_86_a_clone_needs_its_source() -> None:
    with pytest.raises(ThreadNotFound):
        Memory().clone_thread("unknown", new_thread_id="copy", resource_id="new")
    assert Thread.objects.count() == Resource.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_case_86_clones_racing_for_one_id() -> None:
    numbered(3)
    outcomes = in_parallel(*[lambda: Memory().clone_thread("t", new_thread_id="copy")] * 3)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["CloneResult", *["ThreadConflict"] * 2]
    assert (Thread.objects.count(), Message.objects.count()) == (2, 6)


def test_case_88_many_messages_cost_few_queries(
    embedder: HashEmbedder, on_commit: OnCommit, count_queries: Callable[..., Any]
) -> None:
    """500 messages in one call: saved, embedded, saved again, edited, cloned, each with few statements."""
    batch = [message(f"m{n}", f"text {n}", created_at=at(n)) for n in range(500)]
    Memory().create_thread("r", thread_id="t")
    with count_queries(at_most=50), on_commit():
        save(*batch)
    assert len(embedder.calls) <= 5
    assert Embedding.objects.count() == 500
    with count_queries(at_most=50), on_commit():
        save(*batch)
    with count_queries(at_most=60), on_commit():
        Memory().update_messages([{"id": f"m{n}", "content": f"new {n}"} for n in range(500)])
    with count_queries(at_most=40), on_commit():
        Memory().clone_thread("t")
    assert Embedding.objects.count() == 1_000
    with count_queries(at_most=12):
        Memory().delete_thread("t")


def test_case_88_one_bad_message_stores_none() -> None:
    """Atomic: whichever message it is."""
    numbered(1)
    before = rows()
    for place in (0, 250, 499):
        batch: list[Any] = [message(f"n{n}") for n in range(500)]
        batch[place] = message("bad", 5)
        with pytest.raises(RecallError) as caught:
            save(*batch)
        assert [issue.field for issue in caught.value.issues] == [f"messages[{place}].content"]
        assert rows() == before


def test_case_88_a_failing_save_leaves_nothing() -> None:
    """A database error, at whichever statement of a batch of new, known and moving messages."""
    numbered(3)
    Memory().create_thread("r", thread_id="u")
    state = {row.uid: (row.text, row.thread.uid) for row in Memory().get_messages(names(1, 2, 3))}
    before = rows()
    batch = [message("m1", "edited"), message("m2", thread="u"), message("new"), message("first", thread="v")]
    for number in itertools.count(1):
        try:
            with connection.execute_wrapper(FailAt(number)):
                save(*batch)
        except DatabaseError:
            assert rows() == before, number
            found = Memory().get_messages(names(1, 2, 3))
            assert {row.uid: (row.text, row.thread.uid) for row in found} == state
        else:
            break
    assert number > 8
    assert uids(Memory().recall("u")) == names(2)
