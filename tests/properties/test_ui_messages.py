"""Between format 2 and UI messages nothing is lost in either direction (issue 4, point 1)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from memory import Memory
from memory.processors.chat_message import ChatMessage
from memory.processors.message_list import MessageList
from memory.processors.openai_messages import to_openai
from memory.processors.ui_messages import from_ui, to_ui
from tests.properties.histories import fresh
from tests.properties.ui_messages import chat_messages, ui_messages

pytestmark = pytest.mark.once

STATES = {"input-streaming", "input-available", "output-available", "output-error"}
TYPES = {"text", "reasoning", "file", "source-url", "source-document", "step-start", "dynamic-tool"}


@settings(max_examples=200)
@given(message=chat_messages())
def test_format_2_to_ui_to_format_2_is_the_same(message: ChatMessage) -> None:
    """And what stands between is of version 5: known types and states, JSON, an error with its text."""
    before = message.copy()
    [shown] = to_ui([message])
    assert message == before
    assert shown["role"] in ("system", "user", "assistant")
    for part in shown["parts"]:
        kind = part["type"]
        assert kind in TYPES or kind.startswith(("data-", "tool-"))
        if kind == "dynamic-tool" or kind.startswith("tool-"):
            assert part["state"] in STATES
            assert (part["state"] == "output-error") == ("errorText" in part)
    assert from_ui(json.loads(json.dumps(shown))) == message


@settings(max_examples=200)
@given(message=ui_messages)
def test_ui_to_format_2_to_ui_is_the_same(message: dict[str, Any]) -> None:
    """Every part and state that the types of version 5 allow, with all of its keys."""
    before = json.dumps(message)
    assert to_ui([from_ui(message)]) == [message]
    assert json.dumps(message) == before


@pytest.mark.django_db
@settings(max_examples=60)
@given(message=chat_messages())
def test_stored_and_loaded_it_gives_the_same_prompt(message: ChatMessage) -> None:
    """To the byte, on both databases, where arguments and results are documents and no text."""
    thread, owner = fresh("thread"), fresh("owner")
    message.id, message.thread_id, message.resource_id = fresh("message"), thread, owner
    messages = MessageList(thread, owner).add(message)
    if message.role == "system" or not Memory().save_messages(
        [message.as_dict() for message in messages], create_thread=True
    ):
        return
    again = MessageList(thread, owner).add(Memory().recall(thread).messages, "memory")
    # No model sees the order of a message's keys.
    prompts = [json.dumps(to_openai(each), sort_keys=True) for each in (again, messages)]
    assert prompts[0] == prompts[1]
