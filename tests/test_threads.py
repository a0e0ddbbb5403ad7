"""The verbs of threads and resources (section 3)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, timedelta
from typing import Any

import pytest

from memory import Memory
from memory.exceptions import RecallError, ThreadConflict, ThreadNotFound
from memory.models import Embedding, EmbeddingJob, Message, Resource, Thread, WorkingMemory

pytestmark = pytest.mark.django_db

memory = Memory()


@pytest.mark.smoke
def test_create_again_updates_what_is_given_and_keeps_the_rest() -> None:
    first = memory.create_thread("r1", thread_id="t1", title="One", metadata={"a": 1, "b": 1})
    again = memory.create_thread("r1", thread_id="t1", metadata={"b": 2})
    assert (again.pk, again.title, again.metadata) == (first.pk, "One", {"a": 1, "b": 2})
    assert again.created_at == first.created_at
    assert again.updated_at > first.updated_at


def test_the_id_of_another_owner_is_refused() -> None:
    memory.create_thread("r1", thread_id="t1", title="Mine")
    with pytest.raises(ThreadConflict) as caught:
        memory.create_thread("r2", thread_id="t1", title="Taken")
    assert "r1" not in str(caught.value)
    thread = memory.get_thread("t1")
    assert thread is not None
    assert (thread.resource.uid, thread.title) == ("r1", "Mine")
    assert Resource.objects.filter(uid="r2").count() == 0


def test_get_is_limited_to_the_owner() -> None:
    memory.create_thread("r1", thread_id="t1")
    assert memory.get_thread("t1", resource_id="r2") is None
    assert memory.get_thread("unknown") is None
    assert memory.get_thread("t1", resource_id="r1") is not None


def test_update_merges_metadata() -> None:
    before = memory.create_thread("r1", thread_id="t1", title="T", metadata={"a": 1, "b": {"c": 1}})
    after = memory.update_thread("t1", metadata={"b": {"d": 1}, "n": None})
    assert (after.title, after.metadata) == ("T", {"a": 1, "b": {"d": 1}, "n": None})
    assert memory.update_thread("t1", title="").title == ""
    assert after.updated_at > before.updated_at
    with pytest.raises(ThreadNotFound):
        memory.update_thread("unknown", title="x")


def test_titles_and_metadata_are_made_storable() -> None:
    thread = memory.create_thread("r1", title="a\x00b\ud800", metadata={"k\x00": ["\udfff"]})
    thread.refresh_from_db()
    assert (thread.title, thread.metadata) == ("a\ufffdb\ufffd", {"k\ufffd": ["\ufffd"]})


def test_list_filters_orders_and_pages() -> None:
    for number in range(5):
        memory.create_thread("r1", thread_id=f"t{number}", metadata={"n": number, "even": number % 2 == 0})
    memory.create_thread("r2", thread_id="other", metadata={"n": 1})
    Thread.objects.update(created_at=Thread.objects.get(uid="t0").created_at)
    listed = memory.list_threads(resource_id="r1", per_page=2)
    assert [thread.uid for thread in listed.threads] == ["t4", "t3"]
    assert (listed.total, listed.has_more) == (5, True)
    listed = memory.list_threads(resource_id="r1", per_page=2, page=2, order_by={"direction": "ASC"})
    assert ([thread.uid for thread in listed.threads], listed.has_more) == (["t4"], False)
    assert [t.uid for t in memory.list_threads(metadata={"n": 1}).threads] == ["other", "t1"]
    assert [t.uid for t in memory.list_threads(metadata={"n": True}).threads] == []
    assert [
        t.uid for t in memory.list_threads(resource_id="r1", metadata={"n": 1, "even": False}).threads
    ] == ["t1"]
    memory.update_thread("t2", title="touched")
    by_update = memory.list_threads(resource_id="r1", order_by={"field": "updatedAt"})
    assert by_update.threads[0].uid == "t2"
    everything = memory.list_threads(per_page=False)
    assert (len(everything.threads), everything.total, everything.has_more) == (6, 6, False)
    nothing = memory.list_threads(resource_id="r1", per_page=0)
    assert (nothing.threads, nothing.total, nothing.has_more) == ([], 5, True)


def test_transfer_gives_everything_to_the_new_owner(
    on_commit: Callable[..., AbstractContextManager[list[Callable[[], Any]]]],
) -> None:
    with on_commit():
        memory.save_messages(
            [{"id": "m1", "thread_id": "t1", "role": "user", "content": "purple"}],
            create_thread=True,
            resource_id="r1",
        )
    before = Thread.objects.get(uid="t1")
    unchanged = memory.transfer_thread("t1", "r1")
    assert unchanged.updated_at == before.updated_at
    moved = memory.transfer_thread("t1", "r2")
    assert (moved.resource.uid, moved.created_at) == ("r2", before.created_at)
    assert moved.updated_at > before.updated_at
    search = {"vector_search_string": "purple", "thread_config": {"semantic_recall": True}, "per_page": 0}
    assert [m.uid for m in memory.recall("t1", resource_id="r2", **search)] == ["m1"]  # type: ignore[arg-type]
    assert [m.uid for m in memory.recall("new", resource_id="r1", **search)] == []  # type: ignore[arg-type]
    with pytest.raises(ThreadNotFound):
        memory.transfer_thread("unknown", "r2")


def test_delete_takes_all_that_hangs_on_the_thread(
    on_commit: Callable[..., AbstractContextManager[list[Callable[[], Any]]]],
) -> None:
    keeper = Memory(working_memory={"enabled": True})
    for uid in ("t1", "t2"):
        with on_commit():
            memory.save_messages(
                [{"thread_id": uid, "role": "user", "content": f"{n}"} for n in range(3)],
                create_thread=True,
                resource_id="r1",
            )
        keeper.update_working_memory(
            "note", thread_id=uid, thread_config={"workingMemory": {"scope": "thread"}}
        )
    memory.save_messages([{"thread_id": "t1", "role": "user", "content": "not embedded yet"}])
    keeper.update_working_memory("the owner's", resource_id="r1")
    memory.delete_thread("t1")
    memory.delete_thread("t1")
    assert list(Thread.objects.values_list("uid", flat=True)) == ["t2"]
    counts = [model.objects.count() for model in (Message, Embedding)]
    assert counts == [3, 3]
    assert EmbeddingJob.objects.count() == 0
    assert WorkingMemory.objects.count() == 2
    assert keeper.get_working_memory(resource_id="r1") == "the owner's"


def test_many_are_deleted_at_once(count_queries: Callable[..., AbstractContextManager[Any]]) -> None:
    """What staff do in a list: those of the owners, and no statement for each."""
    for number in range(12):
        memory.create_thread("other" if number == 3 else "r", thread_id=f"t{number}")
    named = [f"t{number}" for number in range(10)]
    assert Thread.objects.delete_threads(["unknown"]) == Thread.objects.delete_threads([]) == []
    with pytest.raises(RecallError):
        Thread.objects.delete_threads(["t1", ""])
    with count_queries(at_most=12):
        deleted = Thread.objects.delete_threads([*named, "unknown"], owners=["r"])
    assert deleted == [uid for uid in named if uid != "t3"]
    assert sorted(Thread.objects.values_list("uid", flat=True)) == ["t10", "t11", "t3"]


def test_last_message_at_follows_the_newest_message() -> None:
    memory.create_thread("r1", thread_id="t1")
    memory.create_thread("r1", thread_id="t2")

    def last(uid: str) -> str:
        moment = Thread.objects.get(uid=uid).last_message_at
        return "" if moment is None else f"{moment.astimezone(UTC):%H:%M}"

    assert last("t1") == ""
    memory.save_messages(
        [
            {
                "id": f"m{n}",
                "thread_id": "t1",
                "role": "user",
                "content": "x",
                "created_at": f"2026-01-01T0{n}:00:00Z",
            }
            for n in (3, 1, 2)
        ]
    )
    assert last("t1") == "03:00"
    memory.update_messages([{"id": "m3", "thread_id": "t2"}])
    assert (last("t1"), last("t2")) == ("02:00", "03:00")
    memory.save_messages([{"id": "m2", "thread_id": "t2", "role": "user", "content": "x"}])
    assert (last("t1"), last("t2")) == ("01:00", "03:00")
    memory.delete_messages(["m3", "m1"])
    assert (last("t1"), last("t2")) == ("", "02:00")


def test_resources_are_made_and_merged() -> None:
    resource = Resource.objects.update_resource("r1", metadata={"plan": "pro", "n": 1})
    again = Resource.objects.update_resource("r1", metadata={"n": 2})
    assert (again.pk, again.metadata) == (resource.pk, {"plan": "pro", "n": 2})
    assert again.updated_at - resource.updated_at > timedelta(0)
