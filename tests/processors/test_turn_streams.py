"""Turns with the real `openai` package against a server: whole answers, streams, broken ones, async."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from openai import APIConnectionError, AsyncOpenAI, InternalServerError, OpenAI

from memory import Memory
from memory.exceptions import RecallError
from memory.models import Message, Thread
from memory.processors.working_memory_text import TOOL_NAME
from tests.embedders.openai_stub import OpenAIStub, replying, says
from tests.processors import ModelDown, failing_turn, stored

pytestmark = pytest.mark.django_db

LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def ask(client: Any, turn: Any, **options: Any) -> Any:
    return client.chat.completions.create(
        model="m", messages=turn.messages(), tools=turn.tools(LOOK), **options
    )


def converse(client: Any, said: str, memory: Memory | None = None, **options: Any) -> None:
    """A whole turn of one answer."""
    with (memory or Memory()).turn(thread_id="t", resource_id="r") as turn:
        turn.user(said)
        turn.response(ask(client, turn, **options))


def incomplete() -> list[Any]:
    return [row.metadata.get("incomplete") for row in Message.objects.filter(role="assistant")]


def test_a_turn_without_tools_sends_none(client: OpenAI, stub: OpenAIStub) -> None:
    """Its service refuses an empty list; the package leaves out what `tools()` answers."""
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("Hello")
        reply = client.chat.completions.create(model="m", messages=turn.messages(), tools=turn.tools())
        assert turn.response(reply) == []
    (body,) = stub.asked("/chat/completions")
    assert "tools" not in body
    assert body["messages"] == [{"role": "user", "content": "Hello"}]
    assert stored() == [("user", "Hello"), ("assistant", "Well.")]


@pytest.mark.parametrize("stream", [False, True])
def test_the_loop_with_tools(stream: bool, client: OpenAI, stub: OpenAIStub) -> None:
    """Parallel calls, own tools and that of the working memory; the second request holds their results."""
    stub.chats.extend(
        [
            says("One moment.", ("look", {"at": "sky"}), (TOOL_NAME, {"memory": "Likes sun"}), ("look", {})),
            says("It is sunny."),
        ]
    )
    with Memory(working_memory={"enabled": True}).turn(thread_id="t", resource_id="r") as turn:
        turn.user("Weather?")
        while turn.needs_model():
            for call in turn.response(ask(client, turn, stream=stream)):
                turn.tool_result(call.id, {"seen": call.arguments})
    second = stub.asked("/chat/completions")[1]["messages"][-4:]
    assert [entry["role"] for entry in second] == ["assistant", "tool", "tool", "tool"]
    assert second[0]["content"] == "One moment."
    assert [entry["content"] for entry in second[1:]] == [
        '{"seen":{"at":"sky"}}',
        '{"success":true}',
        '{"seen":{}}',
    ]
    assert stored() == [("user", "Weather?"), ("assistant", "One moment. It is sunny.")]
    assert incomplete() == [None]
    assert Memory(working_memory={"enabled": True}).get_working_memory(resource_id="r") == "Likes sun"


def test_chunks_are_passed_on(client: OpenAI, stub: OpenAIStub) -> None:
    stub.chats.append(says("Once upon a time"))
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("A story")
        chunks = list(turn.stream(ask(client, turn, stream=True), id="a1"))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Once upon a time"
    assert Message.objects.get(uid="a1").text == "Once upon a time"


@pytest.mark.parametrize("stop_after", [0, 1, 2, 3])
def test_a_lost_connection(stop_after: int, client: OpenAI, stub: OpenAIStub) -> None:
    """Before the first word nothing is stored; after it question and partial answer, marked."""
    stub.chats.append(says("Once upon a time", stop_after=stop_after))
    with pytest.raises(APIConnectionError):
        converse(client, "A story", stream=True)
    words = " ".join(["Once", "upon", "a", "time"][: max(0, stop_after - 1)])
    assert stored() == ([("user", "A story"), ("assistant", words)] if words else [])
    assert incomplete() == ([True] if words else [])


def test_an_error_of_the_server(client: OpenAI, stub: OpenAIStub) -> None:
    stub.chats.append(replying({"error": {"message": "x"}}, status=500))
    with pytest.raises(InternalServerError):
        converse(client, "A story")
    assert not Thread.objects.exists()


def test_a_call_that_broke_off_is_not_carried_out(client: OpenAI, stub: OpenAIStub) -> None:
    """Its arguments are not whole; the text before it is kept."""
    stub.chats.append(says("Noted.", (TOOL_NAME, {"memory": "Likes sun"}), stop_after=4))
    memory = Memory(working_memory={"enabled": True})
    with pytest.raises(APIConnectionError):
        converse(client, "I like sun", memory, stream=True)
    assert stored() == [("user", "I like sun"), ("assistant", "Noted.")]
    assert memory.get_working_memory(resource_id="r") is None


@pytest.mark.parametrize("how", ["break", "raise", "held"])
def test_a_reader_that_stops(how: str, client: OpenAI, stub: OpenAIStub) -> None:
    """By leaving the loop, by an error in it, or with the stream still in its hands."""
    stub.chats.append(says("Once upon a time"))
    with failing_turn() as turn:
        turn.user("A story")
        reply = ask(client, turn, stream=True)
        held = turn.stream(reply)
        for number, _ in enumerate(held):
            if number == 2:
                break
        if how == "raise":
            raise ModelDown
        if how == "break":
            del held
    reply.close()
    assert stored() == [("user", "A story"), ("assistant", "Once upon")]
    assert incomplete() == [True]


def test_a_stream_that_is_left_on_purpose_is_marked(client: OpenAI, stub: OpenAIStub) -> None:
    """No exception, but no end either."""
    stub.chats.append(says("Once upon a time"))
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("A story")
        with ask(client, turn, stream=True) as reply:
            for number, _ in enumerate(turn.stream(reply)):
                if number == 2:
                    break
    assert (stored()[1], incomplete()) == (("assistant", "Once upon"), [True])


@pytest.mark.parametrize("wrong", ["", " ", "x" * 600, 5])
def test_what_is_no_id(wrong: Any) -> None:
    """Told at once, not when the turn is stored."""
    with Memory(read_only=True).turn(thread_id="t") as turn:
        for call in (
            lambda: turn.response("x", id=wrong),
            lambda: next(turn.stream(iter([]), id=wrong)),
            lambda: turn.user("x", id=wrong),
        ):
            with pytest.raises(RecallError, match="id"):
                call()


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run async code, its database work in this thread."""
    async_to_sync(main)()


def async_client(stub: OpenAIStub) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=stub.url, api_key="key", max_retries=0, timeout=5)


async def aask(client: AsyncOpenAI, turn: Any, **options: Any) -> Any:
    return await client.chat.completions.create(model="m", messages=await turn.amessages(), **options)


@pytest.mark.parametrize("stream", [False, True])
def test_an_async_turn(stream: bool, stub: OpenAIStub) -> None:
    """`async with`, whole answers and streams, read to the end by `aresponse`."""
    stub.chats.extend([says(None, (TOOL_NAME, {"memory": "Likes sun"})), says("Noted, Ada.")])
    memory = Memory(working_memory={"enabled": True}, generate_title=True)

    async def main() -> None:
        async with async_client(stub) as client, memory.turn(thread_id="t", resource_id="r") as turn:
            turn.user("I like sun")
            while turn.needs_model():
                await turn.aresponse(await aask(client, turn, stream=stream, tools=turn.tools()))
        assert await memory.aget_working_memory(resource_id="r") == "Likes sun"

    run(main)
    assert stored() == [("user", "I like sun"), ("assistant", "Noted, Ada.")]
    assert Thread.objects.get().title == "I like sun"


def test_an_async_stream_is_passed_on(stub: OpenAIStub) -> None:
    stub.chats.append(says("Once upon a time"))

    async def main() -> None:
        async with async_client(stub) as client, Memory().turn(thread_id="t", resource_id="r") as turn:
            turn.user("A story")
            chunks = turn.astream(await aask(client, turn, stream=True))
            words.extend([chunk.choices[0].delta.content or "" async for chunk in chunks])

    words: list[str] = []
    run(main)
    assert "".join(words) == stored()[1][1] == "Once upon a time"


@pytest.mark.parametrize("waiting_in", ["the stream", "the reader"])
def test_cancellation_in_the_middle_stores_the_partial_answer(waiting_in: str, stub: OpenAIStub) -> None:
    """As when a browser goes away: while the next chunk is awaited, or while one is passed on."""
    go_on = threading.Event()
    chunks = iter(range(99))

    def wait() -> None:
        if waiting_in == "the stream" and next(chunks) == 2:
            go_on.wait(10)

    async def main() -> None:
        arrived = asyncio.Event()

        async def answer() -> None:
            async with async_client(stub) as client, Memory().turn(thread_id="t", resource_id="r") as turn:
                turn.user("A story")
                number = 0
                async for _ in turn.astream(await aask(client, turn, stream=True)):
                    number += 1
                    if number == 3:
                        arrived.set()
                        if waiting_in == "the reader":
                            await asyncio.sleep(10)

        task = asyncio.create_task(answer())
        await asyncio.wait_for(arrived.wait(), 10)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    stub.chats.append(says("Once upon a time", wait=wait))
    run(main)
    assert stored() == [("user", "A story"), ("assistant", "Once upon")]
    assert incomplete() == [True]


def test_a_stream_of_dicts() -> None:
    """Any iterator of chunks will do, sync or async."""
    chunks: list[Any] = [
        {"choices": [{"delta": {"content": "Once"}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    ]

    async def arriving() -> AsyncIterator[Any]:
        for chunk in chunks:
            yield chunk

    async def main() -> None:
        async with Memory().turn(thread_id="u", resource_id="r") as turn:
            turn.user("A story")
            await turn.aresponse(arriving())

    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("A story")
        turn.response(iter(chunks))
    run(main)
    assert stored() == stored("u") == [("user", "A story"), ("assistant", "Once")]
    assert incomplete() == [None, None]
