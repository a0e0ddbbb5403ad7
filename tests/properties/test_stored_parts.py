"""A stored message may hold any parts: over HTTP a client sends what it likes (section 1)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.processors.chat_message import ChatMessage
from memory.processors.message_list import MessageList
from memory.processors.openai_messages import to_openai
from memory.processors.tool_calls import drop_incomplete, pending_calls
from memory.processors.ui_messages import from_ui, to_ui
from tests.properties.conversations import check_prompt, optional, words
from tests.properties.documents import documents, stored

pytestmark = pytest.mark.once

KINDS = [
    "text",
    "reasoning",
    "tool-invocation",
    "tool-x",
    "dynamic-tool",
    "file",
    "source",
    "source-url",
    "step-start",
    "data-format2",
    "data-openai-content",
    "data-openai-annotation",
    "error",
    "other",
]
KEYS = [
    "url",
    "mediaType",
    "mimeType",
    "filename",
    "reasoning",
    "details",
    "source",
    "preliminary",
    "state",
    "toolCallId",
    "toolName",
    "input",
    "output",
    "data",
]
NOTES = [
    "list",
    "refusal",
    "rest",
    "type",
    "content",
    "bare",
    "audio",
    "transcript",
    "field",
    "role",
    "message",
    "arguments",
    "function",
    "citation",
    "state",
    "data",
    "mimeType",
    "details",
    "reasoning",
]
STATES = [
    "partial-call",
    "call",
    "result",
    "output-error",
    "output-denied",
    "input-available",
    "output-available",
]

anything = documents.map(stored)
notes = st.dictionaries(
    st.sampled_from(NOTES),
    anything
    | st.sampled_from(["message", "function_call", "custom", "annotation", "image_url", "reasoning_content"])
    | st.just({"id": "audio_1"})
    | st.just({"role": "system", "content": 1, "tool_calls": 1, "type": "x", "name": 1}),
    max_size=3,
)
providers = anything | st.dictionaries(
    st.sampled_from(["openaiChat", "format2"]), notes | anything, max_size=2
)
calls = anything | st.fixed_dictionaries(
    {"state": st.sampled_from(STATES), "toolCallId": st.just("c") | anything, "toolName": words | anything},
    optional={"args": anything, "result": anything, "errorText": anything, "approval": anything},
)


@st.composite
def parts(draw: st.DrawFn) -> dict[str, Any]:
    """A part of a known type with anything at its keys; a text has a text, or it would not be stored."""
    kind = draw(st.sampled_from(KINDS))
    part: dict[str, Any] = {"type": kind}
    for key in draw(st.lists(st.sampled_from(KEYS), max_size=4)):
        part[key] = draw(anything | words | st.sampled_from(STATES))
    part |= draw(optional("providerMetadata", providers)) | draw(optional("callProviderMetadata", providers))
    if kind == "tool-invocation" or draw(st.integers(0, 9)) == 0:
        part["toolInvocation"] = draw(calls)
    if kind == "text" or draw(st.booleans()):
        part["text"] = draw(words | st.just("")) if kind == "text" else draw(anything)
    return part


@settings(max_examples=150)
@given(
    role=st.sampled_from(["user", "assistant", "tool", "signal"]),
    first=st.lists(parts(), max_size=4),
    second=st.lists(parts(), max_size=4),
    extra_fields=st.booleans(),
)
def test_no_part_breaks_a_conversion(
    role: str, first: list[dict[str, Any]], second: list[dict[str, Any]], extra_fields: bool
) -> None:
    """Every prompt is valid, and every UI message comes back as it went."""
    messages = MessageList("t")
    for content, source in ((first, "memory"), (second, "response")):
        messages.add(
            ChatMessage(id="m", role=role, content={"format": 2, "parts": content}),
            source,  # type: ignore[arg-type]
        )
    before = json.dumps([message.content for message in messages])
    prompt = to_openai(messages, extra_fields=extra_fields)
    if not extra_fields:
        check_prompt(prompt)
    assert {turn["role"] for turn in prompt} <= {"user", "assistant", "tool", "function"}
    for message, shown in zip(messages, to_ui(messages), strict=True):
        assert from_ui(json.loads(json.dumps(shown))).content == message.content
        pending_calls(message.parts)
        kept = drop_incomplete(message.content)["parts"]
        assert pending_calls(kept) == []
    assert json.dumps([message.content for message in messages]) == before
