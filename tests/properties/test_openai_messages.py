"""What goes through a message list in the OpenAI format comes out the same (issue 4, point 1)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import Memory
from memory.processors.chat_message import ChatMessage, Source
from memory.processors.message_list import MessageList
from memory.processors.openai_messages import to_openai
from tests.properties.conversations import Turn, check_prompt, histories, systems, without_null
from tests.properties.histories import fresh

pytestmark = pytest.mark.once


def text_of(message: Turn) -> str:
    """What a system message says."""
    content = message["content"]
    return content if isinstance(content, str) else " ".join(part["text"] for part in content)


def sourced(history: list[Turn], *, as_run: bool) -> list[tuple[Turn, Source]]:
    """Each message with its source: what is not of the user as response of a run, or all as input."""
    return [(turn, "response" if as_run and turn["role"] != "user" else "input") for turn in history]


@settings(max_examples=120)
@given(opening=st.lists(systems, max_size=2, unique_by=text_of), history=histories(), as_run=st.booleans())
def test_openai_to_list_to_openai_is_the_same(opening: list[Turn], history: list[Turn], as_run: bool) -> None:
    """Parallel calls, exact arguments, lists of parts, names, refusals, audio ids, files: all of it."""
    messages = MessageList("thread", "owner").add(opening)
    for turn, source in sourced(history, as_run=as_run):
        messages.add(turn, source)
    prompt = to_openai(messages)
    assert without_null(prompt) == without_null([*opening, *history])
    check_prompt(prompt)


@settings(max_examples=60)
@given(history=histories(unique_ids=False))
def test_ids_that_a_server_counts_anew_in_each_answer(history: list[Turn]) -> None:
    """A result belongs to the latest call of its id, within one stored message too."""
    messages = MessageList("thread")
    for turn, source in sourced(history, as_run=True):
        messages.add(turn, source)
    assert without_null(to_openai(messages)) == without_null(history)


@settings(max_examples=120)
@given(history=histories(), data=st.data())
def test_no_window_has_half_of_a_tool_step(history: list[Turn], data: st.DataObject) -> None:
    """Case 63: any part of a history, added in any order, gives a prompt of whole tool steps."""
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(history))] * 2)))
    window = data.draw(st.permutations(history[first:last]))
    messages = MessageList("thread")
    for turn in window:
        messages.add(turn, data.draw(st.sampled_from(["memory", "input", "response", "context"])))
    prompt = to_openai(messages)
    check_prompt(prompt)
    answered = {turn.get("tool_call_id") for turn in window}
    called = {call["id"] for turn in window for call in turn.get("tool_calls", ())}
    sent = [turn["tool_call_id"] for turn in prompt if turn["role"] == "tool"]
    assert sorted(sent) == sorted(answered & called)


@pytest.mark.django_db
@settings(max_examples=60)
@given(history=histories(), as_run=st.booleans(), seed=st.integers(0, 99))
def test_stored_and_loaded_it_gives_the_same_prompt(history: list[Turn], as_run: bool, seed: int) -> None:
    """To the byte, on both databases, and so the prefix that a provider caches stays the same."""
    thread, owner = fresh("thread"), fresh("owner")
    messages = MessageList(thread, owner)
    for turn, source in sourced(history, as_run=as_run):
        messages.add(turn, source)
    Memory().save_messages([message.as_dict() for message in messages], create_thread=True)
    loaded = Memory().recall(thread, per_page=False).chronological()
    random.Random(seed).shuffle(loaded)
    again = MessageList(thread, owner).add(loaded, "memory")
    assert serialised(to_openai(again)) == serialised(to_openai(messages))
    assert [message.id for message in again] == [message.id for message in messages]


def serialised(prompt: list[dict[str, Any]]) -> str:
    """The messages as they are sent, but for the order of keys, of which a model sees nothing."""
    return json.dumps(prompt, ensure_ascii=False, sort_keys=True)


call_states = st.sampled_from(
    [
        "partial-call",
        "call",
        "approval-requested",
        "approval-responded",
        "result",
        "output-error",
        "output-denied",
    ]
)


@settings(max_examples=200)
@given(
    copies=st.lists(
        st.tuples(call_states, st.sampled_from(["memory", "input", "response"]), st.booleans()), min_size=2
    )
)
def test_states_never_go_back(copies: list[tuple[str, Source, bool]]) -> None:
    """Section 5: whichever copies of a call come from wherever, what is known of it stays known."""
    ranks = {"partial-call": 0, "call": 1, "approval-requested": 2, "approval-responded": 3}
    messages = MessageList("thread")
    before = -1
    for number, (state, source, has_text) in enumerate(copies):
        call = {"state": state, "toolCallId": "c", "toolName": "f", "args": {"n": number}}
        if state == "result":
            call["result"] = number
        parts: list[Turn] = [{"type": "text", "text": "Wait"}] if has_text else []
        parts.append({"type": "tool-invocation", "toolInvocation": call})
        messages.add(ChatMessage(id="m", role="assistant", content={"format": 2, "parts": parts}), source)
        calls = [p["toolInvocation"] for p in messages["m"].parts if p["type"] == "tool-invocation"]
        assert len(calls) == 1
        reached = ranks.get(calls[0]["state"], 4)
        assert reached >= before
        assert (calls[0]["state"] == "result") == ("result" in calls[0])
        before = reached
