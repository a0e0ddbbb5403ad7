"""Streamed answers put together, of OpenAI and of servers that stream in ways of their own."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk

from memory.processors.message_list import MessageList
from memory.processors.openai_messages import to_openai
from memory.processors.stream import Accumulator


def chunk(delta: Any = None, finish: str | None = None, **keys: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    base = {"id": "1", "created": 1, "model": "m", "object": "chat.completion.chunk"}
    return {**base, "choices": [choice], **keys}


def collected(*chunks: Any) -> Accumulator:
    """All chunks taken in."""
    found = Accumulator()
    for each in chunks:
        found.add(each)
    return found


def piece(**keys: Any) -> dict[str, Any]:
    """The delta of one tool call."""
    return {"tool_calls": [keys]}


def whole(uid: str, arguments: str, name: str = "f") -> dict[str, Any]:
    """A tool call as it is in the message."""
    return {"id": uid, "type": "function", "function": {"name": name, "arguments": arguments}}


USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
STREAM = [
    chunk({"role": "assistant", "content": "", "refusal": None}),
    chunk({"content": "Wa"}),
    chunk({"content": "it"}),
    chunk(piece(index=0, id="a", type="function", function={"name": "f", "arguments": ""})),
    chunk(piece(index=1, id="b", type="function", function={"name": "g", "arguments": ""})),
    chunk(piece(index=0, function={"arguments": '{"x"'})),
    chunk(piece(index=1, function={"arguments": "{}"})),
    chunk(piece(index=0, function={"arguments": ":1}"})),
    chunk({}, "tool_calls"),
    chunk(choices=[], usage=USAGE),
]


@pytest.mark.parametrize("is_object", [False, True])
def test_stream_of_openai(is_object: bool) -> None:
    """Text and parallel calls in pieces, then the reason, then the usage; objects or dicts."""
    found = Accumulator()
    assert (found.is_complete, found.message) == (False, None)
    for each in STREAM:
        assert not found.is_complete or each is STREAM[-1]
        found.add(ChatCompletionChunk.model_validate(each) if is_object else each)
    calls = [whole("a", '{"x":1}'), whole("b", "{}", "g")]
    assert found.message == {"role": "assistant", "content": "Wait", "tool_calls": calls}
    assert (found.finish_reason, found.is_complete) == ("tool_calls", True)
    assert found.usage is not None
    assert {**found.usage, **USAGE} == found.usage


def test_answer_so_far_is_a_message() -> None:
    """A stream that breaks leaves a part of the answer, and no call that may be half (case 54)."""
    assert collected(STREAM[0], STREAM[3]).message is None
    found = collected(*STREAM[:6])
    assert found.message == {"role": "assistant", "content": "Wait"}
    messages = MessageList().add(found.message, "response")
    assert to_openai(messages) == [{"role": "assistant", "content": "Wait"}]
    found.add(STREAM[6]).add(STREAM[7])
    assert found.message is not None
    found.message["tool_calls"][0]["function"]["name"] = "changed"
    assert found.message["tool_calls"] == [whole("a", '{"x":1}'), whole("b", "{}", "g")]


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([piece(id="a", function={"name": "f", "arguments": "{}"})], [whole("a", "{}")]),
        (
            [piece(id="a", function={"name": "f", "arguments": {"b": 1, "a": 2}})],
            [whole("a", '{"a":2,"b":1}')],
        ),
        (
            [piece(id="a", function={"name": "f"}), piece(function={"arguments": "{}"})],
            [whole("a", "{}")],
        ),
        (
            [
                piece(index=0, id="a", function={"name": "f", "arguments": "{}"}),
                piece(index=0, id="b", function={"name": "f", "arguments": "{}"}),
            ],
            [whole("a", "{}"), whole("b", "{}")],
        ),
        (
            [
                piece(index=0, id="a", function={"name": "f", "arguments": "{"}),
                piece(index=0, id="a", function={"name": "f", "arguments": "}"}),
                piece(index=0, id="", function={"name": None, "arguments": None}),
            ],
            [whole("a", "{}")],
        ),
        (
            [
                piece(function={"name": "f", "arguments": "{}"}),
                piece(function={"name": "g", "arguments": "{}"}),
            ],
            [whole("", "{}"), whole("", "{}", "g")],
        ),
        (
            [
                piece(index=0, id="a", type="custom", custom={"name": "f", "input": "x"}),
                piece(index=0, custom={"input": "y"}),
            ],
            [{"id": "a", "type": "custom", "custom": {"name": "f", "input": "xy"}}],
        ),
        (
            [piece(index=0, id="a", function={"name": "f", "arguments": "{}"}, extra_content={"s": 1})],
            [{**whole("a", "{}"), "extra_content": {"s": 1}}],
        ),
    ],
)
def test_calls_of_odd_servers(pieces: list[dict[str, Any]], calls: list[dict[str, Any]]) -> None:
    """No index, the same index for all, whole calls, repeated names and ids, arguments that are no text."""
    found = collected(*map(chunk, pieces), chunk(finish="tool_calls"))
    assert found.message == {"role": "assistant", "content": None, "tool_calls": calls}


def test_other_fields_of_an_answer() -> None:
    """Refusal and thoughts in pieces, audio, annotations and the older function call."""
    found = collected(
        chunk({"refusal": "I ", "reasoning_content": "H", "annotations": [1]}),
        chunk({"refusal": "can't", "reasoning_content": "m", "annotations": [2]}),
        chunk({"audio": {"id": "audio_1", "data": "AA", "transcript": "He"}}),
        chunk({"audio": {"id": None, "data": "BB", "transcript": "y"}}),
        chunk({"audio": {"expires_at": 5}}),
        chunk({"function_call": {"name": "f", "arguments": "{"}}),
        chunk({"function_call": {"arguments": "}"}}, "function_call"),
    )
    assert found.message == {
        "role": "assistant",
        "content": None,
        "refusal": "I can't",
        "reasoning_content": "Hm",
        "annotations": [1, 2],
        "audio": {"id": "audio_1", "data": "AABB", "transcript": "Hey", "expires_at": 5},
        "function_call": {"name": "f", "arguments": "{}"},
    }


def test_what_is_no_answer_is_passed_over() -> None:
    """Other choices, empty chunks, comments of a server; a whole message in place of a delta is taken."""
    found = collected(
        {},
        None,
        {"choices": None},
        {"choices": [None, {"delta": None}, {"index": 1, "delta": {"content": "Other"}}]},
        {"choices": [{"message": {"role": "assistant", "content": "Hi", "tool_calls": None}}]},
        {"choices": [{"delta": {"content": None}, "finish_reason": "length"}]},
        {"choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]},
    )
    assert (found.message, found.finish_reason) == ({"role": "assistant", "content": "Hi"}, "length")
