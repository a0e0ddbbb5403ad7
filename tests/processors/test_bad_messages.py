"""What a message list cannot read, in every form it takes (section 7: one error that names the place)."""

from __future__ import annotations

from typing import Any

import pytest

from memory.exceptions import RecallError
from memory.processors.chat_message import ChatMessage
from memory.processors.message_list import MessageList

BAD = [
    (5, "message"),
    ([5], "messages[0]"),
    (["Hi", {"role": "robot", "content": "x"}], "messages[1].role"),
    ([{"content": "x"}], "messages[0].role"),
    ([{"role": "user", "content": 5}], "messages[0].content"),
    ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
    (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
        "messages[0].content[0].image_url.url",
    ),
    ([{"role": "tool", "content": "x"}], "messages[0].tool_call_id"),
    ([{"role": "function", "content": "x"}], "messages[0].name"),
    ([{"role": "assistant", "tool_calls": [{}]}], "messages[0].tool_calls[0].function"),
    ([{"role": "assistant", "tool_calls": 5}], "messages[0].tool_calls"),
    ([{"id": " ", "role": "user", "content": "x"}], "messages[0].id"),
    ([{"id": "m", "role": "user", "parts": 5}], "messages[0].parts"),
    ([{"id": "m", "role": "user", "parts": [{}]}], "messages[0].parts[0]"),
    ([{"id": "m", "role": "user", "parts": [], "metadata": 5}], "messages[0].metadata"),
    (
        [{"id": "m", "role": "user", "parts": [], "metadata": {"createdAt": "x"}}],
        "messages[0].metadata.createdAt",
    ),
    ([{"role": "user", "content": {"format": 3}}], "messages[0].content.format"),
    (
        [{"role": "user", "content": {"parts": [{"type": "x", "y": float("nan")}]}}],
        "messages[0].content.parts[0].y",
    ),
    ([{"role": "user", "content": "x", "createdAt": "2026-01-31T09:00:00"}], "messages[0].createdAt"),
    ([{"role": "user", "content": "x", "threadId": 5}], "messages[0].threadId"),
    ([{"choices": []}], "messages[0].choices"),
    (
        [{"choices": [{"message": {"role": "assistant", "content": 5}}]}],
        "messages[0].choices[0].message.content",
    ),
    ([ChatMessage(role="robot", content={"parts": []})], "messages[0].role"),
    ([ChatMessage(role="user", content={"parts": 5})], "messages[0].content.parts"),
]


@pytest.mark.parametrize(("given", "field"), BAD)
def test_bad_input_names_its_place(given: Any, field: str) -> None:
    """One `RecallError` with the path, and nothing taken in."""
    messages = MessageList("t")
    with pytest.raises(RecallError) as caught:
        messages.add(given)
    assert [issue.field for issue in caught.value.issues] == [field]
    assert len(messages) == 0
