"""Several writers at once, with real commits: nothing is lost, and no database error comes out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from memory import Memory
from memory.embedding import outbox
from memory.exceptions import ThreadNotFound
from memory.models import Embedding, EmbeddingJob, Message, Resource, Thread
from tests.cases import in_parallel

pytestmark = pytest.mark.django_db(transaction=True)

memory = Memory()


def message(uid: str, thread: str = "a", text: str = "purple") -> dict[str, str]:
    return {"id": uid, "thread_id": thread, "role": "user", "content": text}


def found(text: str) -> list[str]:
    result = Memory(semantic_recall={"threshold": 0.9, "message_range": 0}).recall(
        "a", vector_search_string=text, per_page=0
    )
    return [hit.uid for hit in result]


@contextmanager
def held(work: Callable[[], object]) -> Iterator[None]:
    """`work` is done in a transaction of another thread, which commits half a second after the block has
    begun: what the block does has to wait for it."""
    done = threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                work()
                done.set()
                threading.Event().wait(0.5)
        finally:
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    done.wait(5)
    try:
        yield
    finally:
        thread.join()


@pytest.fixture
def thread() -> Thread:
    memory.save_messages([message("a1"), message("a2")], create_thread=True, resource_id="r1")
    memory.create_thread("r1", thread_id="b")
    return Thread.objects.get(uid="a")


# Writes of the ORM outside a transaction: the row and its work are one (section 4).


def test_orm_writes_in_autocommit_are_embedded(thread: Thread) -> None:
    created = Message.objects.create(thread=thread, role="user", content="red")
    bulk = Message.objects.bulk_create([Message(thread=thread, role="user", content="blue")])
    assert (found("red"), found("blue")) == ([created.uid], [bulk[0].uid])
    Message.objects.filter(pk=created.pk).update(body={"format": 2, "parts": [], "content": "gold"})
    assert (found("red"), found("gold")) == ([], [created.uid])
    created.content = "silver"
    created.save()
    assert (found("gold"), found("silver")) == ([], [created.uid])
    assert EmbeddingJob.objects.count() == 0


@pytest.mark.parametrize(
    "write",
    [
        lambda thread: Message.objects.create(thread=thread, role="user", content="x"),
        lambda thread: Message.objects.bulk_create([Message(thread=thread, role="user", content="x")]),
        lambda thread: Message.objects.filter(thread=thread).update(
            body={"format": 2, "parts": [], "content": "x"}
        ),
        lambda thread: memory.save_messages([message("new", text="x"), message("a1", text="x")]),
        lambda thread: memory.update_messages([{"id": "a1", "content": "x"}]),
    ],
    ids=["create", "bulk_create", "update", "save_messages", "update_messages"],
)
def test_a_write_whose_work_cannot_be_noted_is_undone(
    write: Callable[[Thread], Any], thread: Thread, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise DatabaseError("staged")

    monkeypatch.setattr(outbox, "wake", fail)
    with pytest.raises(DatabaseError, match="staged"):
        write(thread)
    assert sorted(Message.objects.values_list("text", flat=True)) == ["purple", "purple"]
    assert EmbeddingJob.objects.count() == 0


def test_a_transfer_and_its_vectors_are_one(thread: Thread, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise DatabaseError("staged")

    other = Resource.objects.ensure("r2")
    monkeypatch.setattr(Embedding.objects, "using", fail)
    with pytest.raises(DatabaseError, match="staged"):
        Thread.objects.filter(uid="a").update(resource=other)
    assert Thread.objects.get(uid="a").resource_id == thread.resource_id


# What waits for another transaction sees its outcome.


@pytest.mark.parametrize("verb", ["delete_thread", "delete_messages", "save", "update", "clone"])
def test_a_transfer_meanwhile_hides_no_thread(verb: str, thread: Thread) -> None:
    with held(lambda: memory.transfer_thread("a", "r2")):
        if verb == "delete_thread":
            memory.delete_thread("a")
            assert not Thread.objects.filter(uid="a").exists()
        elif verb == "delete_messages":
            assert memory.delete_messages(["a1"]) == 1
        elif verb == "save":
            assert memory.save_messages([message("a3")])[0].thread.resource.uid == "r2"
        elif verb == "update":
            assert memory.update_thread("a", title="x").resource.uid == "r2"
        else:
            assert len(memory.clone_thread("a").messages) == 2


def test_a_thread_deleted_meanwhile_is_made_anew(thread: Thread) -> None:
    with held(lambda: memory.delete_thread("a")):
        again = memory.create_thread("r2", thread_id="a")
    assert again.resource.uid == "r2"
    assert Message.objects.count() == 0


def test_a_message_that_moves_meanwhile_is_deleted_where_it_is(thread: Thread) -> None:
    with held(lambda: memory.update_messages([{"id": "a2", "thread_id": "b"}])):
        assert memory.delete_messages(["a2"]) == 1
    assert Thread.objects.get(uid="b").last_message_at is None
    assert list(Message.objects.values_list("uid", flat=True)) == ["a1"]


def test_working_memory_of_a_thread_deleted_meanwhile(thread: Thread) -> None:
    keeper = Memory(working_memory={"enabled": True, "scope": "thread"})
    with held(lambda: memory.delete_thread("a")), pytest.raises(ThreadNotFound):
        keeper.update_working_memory("x", thread_id="a")


def test_writers_in_opposite_orders_do_not_deadlock() -> None:
    def make(names: list[str]) -> Callable[[], object]:
        values = [message(f"{name}-{names[0]}", thread=name) for name in names]
        return lambda: memory.save_messages(values, create_thread=True, resource_id="r1")

    for attempt in range(4):
        names = [f"{attempt}-{number}" for number in range(10)]
        outcomes = in_parallel(make(names), make(names[::-1]), make(names[5:] + names[:5]))
        assert all(isinstance(outcome, list) for outcome in outcomes), outcomes
    assert Thread.objects.count() == 40
    assert EmbeddingJob.objects.count() == 0


def test_the_same_ids_in_opposite_orders_do_not_deadlock(thread: Thread) -> None:
    uids = [f"m{number:03}" for number in range(100)]

    def save(order: list[str], name: str) -> Callable[[], object]:
        return lambda: memory.save_messages([message(uid, thread=name) for uid in order])

    outcomes = in_parallel(save(uids, "a"), save(uids[::-1], "b"))
    assert all(isinstance(outcome, list) for outcome in outcomes), outcomes
    assert Message.objects.filter(uid__startswith="m").count() == 100


def test_a_new_owner_named_by_two_verbs(thread: Thread) -> None:
    for number in range(4):
        owner = f"new-{number}"
        outcomes = in_parallel(
            lambda owner=owner: memory.transfer_thread("a", owner),
            lambda owner=owner: memory.clone_thread("b", resource_id=owner),
            lambda owner=owner: memory.create_thread(owner),
        )
        assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)], outcomes


def test_parallel_merges_lose_nothing() -> None:
    keeper = Memory(working_memory={"enabled": True, "schema": {"type": "object"}})
    in_parallel(
        *(lambda n=n: keeper.update_working_memory({f"k{n}": n}, resource_id="r1") for n in range(20))
    )
    value = keeper.get_working_memory(resource_id="r1")
    assert value is not None
    assert value.count(":") == 20
