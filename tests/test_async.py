"""The async twins of the verbs (section 7), on real transactions."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import SynchronousOnlyOperation

from memory import Memory
from memory.exceptions import MessageConflict, RecallError, ThreadNotFound
from memory.models import AdminEvent, Message, Resource, Thread, WorkingMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db(transaction=True)

SEMANTIC = {"semantic_recall": {"message_range": 0, "top_k": 1}}


def message(uid: str, text: str, thread: str = "t") -> dict[str, Any]:
    return {"id": uid, "thread_id": thread, "role": "user", "content": text}


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run async code, its database work in this thread."""
    async_to_sync(main)()


def is_twin(member: object) -> bool:
    return inspect.iscoroutinefunction(member) or inspect.isasyncgenfunction(member)


def test_every_verb_has_a_twin() -> None:
    """Of the facade and of the managers, with the same parameters."""
    for owner in (
        Memory,
        *(type(model.objects) for model in (Message, Thread, Resource, WorkingMemory, AdminEvent)),
    ):
        verbs = [
            name
            for kind in owner.__mro__
            if kind.__module__.startswith("memory.")
            for name, member in vars(kind).items()
            if is_twin(member)
        ]
        assert verbs
        for twin in verbs:
            verb = getattr(owner, twin.removeprefix("a"))
            assert twin.startswith("a")
            assert inspect.signature(getattr(owner, twin)) == inspect.signature(verb)
    public = {name for name in dir(Memory) if name[0] != "_" and inspect.isfunction(getattr(Memory, name))}
    sync = {name for name in public if not is_twin(getattr(Memory, name))}
    # A turn is a block, of either kind.
    expected = sync - {"config", "layers", "turn"}
    assert len(expected) > 20
    assert {f"a{name}" for name in expected} <= public


def test_saving_and_recalling(embedder: HashEmbedder) -> None:
    """What is saved is embedded after its commit and found; lazy counts have awaitable twins."""

    async def main() -> None:
        memory = Memory()
        saved = await memory.asave_messages(
            [message("m1", "a green apple"), message("m2", "the night train")],
            create_thread=True,
            resource_id="r",
        )
        assert [row.uid for row in saved] == ["m1", "m2"]
        assert embedder.calls == [["a green apple", "the night train"]]
        result = await memory.arecall(
            "t", resource_id="r", vector_search_string="train", per_page=1, thread_config=SEMANTIC
        )
        assert [row.uid for row in result] == ["m2"]
        assert result.messages[0].recall.sources == {"history", "semantic"}
        assert result.usage == {"tokens": 1}
        assert await result.atotal() == 2
        assert await result.apending_embeddings() == 0
        # Once counted, they are plain attributes.
        assert (result.total, result.pending_embeddings) == (2, 0)
        (found,) = await memory.aget_messages(["m1"])
        assert found.as_dict()["threadId"] == "t"

    run(main)


def test_results_need_no_database() -> None:
    """`.thread.uid` and `as_dict()` work inside a coroutine; an uncounted `total` says what to do there."""

    async def main() -> None:
        await Memory().asave_messages([message("m1", "x")], create_thread=True, resource_id="r")
        result = await Memory().arecall("t", include=[{"id": "m1"}])
        assert [(row.thread.uid, row.as_dict()["resourceId"]) for row in result] == [("t", "r")]
        with pytest.raises(SynchronousOnlyOperation):
            _ = result.total
        assert await result.atotal() == 1

    run(main)


def test_verbs_of_messages() -> None:
    """Update and delete."""

    async def main() -> None:
        memory = Memory()
        await memory.asave_messages([message("m1", "x")], create_thread=True, resource_id="r")
        (changed,) = await memory.aupdate_messages([{"id": "m1", "content": "y"}])
        assert changed.text == "y"
        assert await memory.adelete_messages(["m1", "unknown"], resource_id="r") == 1
        assert await memory.aget_messages(["m1"]) == []

    run(main)


def test_verbs_of_threads() -> None:
    """Create, get, list, update, clone, transfer and delete."""

    async def main() -> None:
        memory = Memory()
        thread = await memory.acreate_thread("r", thread_id="t", title="one", metadata={"a": 1})
        assert thread.resource.uid == "r"
        await memory.asave_messages([message("m1", "x")])
        updated = await memory.aupdate_thread("t", title="two", metadata={"b": 2})
        assert (updated.title, updated.metadata) == ("two", {"a": 1, "b": 2})
        page = await memory.alist_threads(resource_id="r", metadata={"b": 2})
        assert ([row.uid for row in page.threads], page.total) == (["t"], 1)
        clone = await memory.aclone_thread("t", new_thread_id="copy")
        assert clone.message_id_map == {"m1": clone.messages[0].uid}
        assert (await memory.atransfer_thread("copy", "s")).resource.uid == "s"
        await memory.adelete_thread("t")
        assert await memory.aget_thread("t") is None
        assert (await memory.aget_thread("copy", resource_id="s")) is not None

    run(main)


def test_working_memory() -> None:
    """Read and written."""

    async def main() -> None:
        memory = Memory(working_memory={"enabled": True})
        assert await memory.aget_working_memory(resource_id="r") is None
        await memory.aupdate_working_memory("likes tea", resource_id="r")
        assert await memory.aget_working_memory(resource_id="r") == "likes tea"

    run(main)


def test_managers() -> None:
    """`Message.objects` and `Thread.objects` carry the same twins."""

    async def main() -> None:
        await Thread.objects.acreate_thread("r", thread_id="t")
        await Message.objects.asave_messages([message("m1", "x")])
        result = await Message.objects.arecall("t", resource_id="r")
        assert [row.uid for row in result] == ["m1"]
        assert (await Resource.objects.aensure("r")).uid == "r"

    run(main)


def test_errors_pass_through() -> None:
    """The errors are those of the sync verbs."""

    async def main() -> None:
        memory = Memory()
        with pytest.raises(RecallError, match="per_page"):
            await memory.arecall("t", per_page=-1)
        with pytest.raises(ThreadNotFound):
            await memory.arecall("t", resource_id="r")
        await memory.asave_messages([message("m1", "x")], create_thread=True, resource_id="r")
        with pytest.raises(MessageConflict):
            await memory.asave_messages([message("m1", "x", "u")], create_thread=True, resource_id="s")
        assert await memory.aget_thread("u") is None

    run(main)


def test_many_at_once() -> None:
    """Gathered calls each give their own answer, and lose none of the messages."""

    async def main() -> None:
        memory = Memory()
        for n in range(4):
            await memory.acreate_thread("r", thread_id=f"t{n}")
        await asyncio.gather(
            *(memory.asave_messages([message(f"m{n}", "x", f"t{n % 4}")]) for n in range(20))
        )
        results = await asyncio.gather(*(memory.arecall(f"t{n}", per_page=False) for n in range(4)))
        for n, result in enumerate(results):
            assert {row.uid for row in result} == {f"m{k}" for k in range(20) if k % 4 == n}
            assert {row.thread.uid for row in result} == {f"t{n}"}

    run(main)
