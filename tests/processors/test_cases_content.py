"""Section D of the public bug reports (and 13), on the path through the processors and the turn."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.models import Message, Thread
from memory.processors import MessageHistory, MessageList
from memory.processors.ui_messages import to_ui
from tests.cases import at, message, save
from tests.processors import (
    CONTEXT,
    ModelDown,
    answered,
    asked,
    content,
    failing_turn,
    invocation,
    stored,
    unpaired,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.django_db


def test_case_13_history_that_a_client_sends_again() -> None:
    """Stored u1, a1; the request carries u1, a1, u2 without dates: the prompt is u1, a1, u2, and nothing is
    stored twice."""
    save(message("u1"), message("a1", role="assistant"))
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user({"id": "u1", "role": "user", "content": "u1"})
        turn.user({"id": "a1", "role": "assistant", "content": "a1"})
        turn.user("u2", id="u2")
        prompt = turn.messages()
        turn.response("a2", id="a2")
    assert [entry["content"] for entry in prompt] == ["u1", "a1", "u2"]
    assert list(Message.objects.chronological().values_list("uid", flat=True)) == ["u1", "a1", "u2", "a2"]


def test_case_54_a_model_that_fails_before_output_leaves_nothing() -> None:
    """0 new rows, no thread; the retry stores 2."""
    with failing_turn() as turn:
        turn.user("question", id="u1")
        turn.messages()
    assert (Thread.objects.count(), Message.objects.count()) == (0, 0)
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("question", id="u1")
        turn.response("answer")
    assert stored() == [("user", "question"), ("assistant", "answer")]


def test_case_54_partial_output_is_stored_and_completed_by_a_retry() -> None:
    """Marked incomplete; a retry with the user's id, with or without the answer's, takes its place."""
    for answer_id in (None, "a1"):
        Thread.objects.all().delete()
        with failing_turn() as turn:
            turn.user("question", id="u1")
            turn.response("ans", id=answer_id)
        assert stored() == [("user", "question"), ("assistant", "ans")]
        assert Message.objects.get(role="assistant").metadata == {"incomplete": True}
        with Memory().turn(thread_id="t", resource_id="r") as turn:
            turn.user({"role": "user", "content": "question", "id": "u1"})
            assert [entry["content"] for entry in turn.messages()] == ["question"]
            turn.response("answer", id=answer_id)
        assert stored() == [("user", "question"), ("assistant", "answer")]
        assert Message.objects.get(role="assistant").metadata == {}


def test_case_54_a_retry_that_asks_twice_loses_nothing() -> None:
    """Two questions in one turn, the first is a retry: its answer is not joined to the broken one."""
    with failing_turn() as turn:
        turn.user("question", id="u1")
        turn.response("ans")
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("question", id="u1")
        turn.messages()
        turn.response("answer")
        turn.user("and then?", id="u2")
        assert [entry["content"] for entry in turn.messages()] == ["question", "answer", "and then?"]
        turn.response("nothing")
    assert [text for _, text in stored()].count("ans") == 0
    assert sorted(text for role, text in stored() if role == "user") == ["and then?", "question"]


def test_case_54_another_question_leaves_the_broken_answer_alone() -> None:
    with failing_turn() as turn:
        turn.user("question", id="u1")
        turn.response("ans")
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("another", id="u2")
        turn.messages()
        turn.response("answer")
    assert stored() == [
        ("user", "question"),
        ("assistant", "ans"),
        ("user", "another"),
        ("assistant", "answer"),
    ]


def test_case_54_a_call_whose_tool_fails_is_no_answer() -> None:
    """Nothing would be left of it: the user's message does not stay alone."""
    with failing_turn() as turn:
        turn.user("weather?")
        turn.response(answered(None, ("c", "weather", "{}")))
    assert not Thread.objects.exists()


@pytest.mark.parametrize("stop_at", [1, 2])
def test_case_55_an_aborted_stream_keeps_what_was_said(stop_at: int) -> None:
    """After the first chunk of text: the question and the partial answer; before it: nothing."""
    chunks = [
        {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"delta": {"content": "Once"}}]},
        {"choices": [{"delta": {"content": " upon"}}]},
    ]
    with failing_turn() as turn:
        turn.user("a story")
        for number, _ in enumerate(turn.stream(iter(chunks)), 1):
            if number == stop_at:
                raise ModelDown
    assert stored() == ([("user", "a story"), ("assistant", "Once")] if stop_at == 2 else [])


@pytest.mark.parametrize("off", [False, 0])
def test_case_56_history_off_still_stores_the_turn(off: Any) -> None:
    for number in (1, 2):
        with Memory(last_messages=off).turn(thread_id="t", resource_id="r") as turn:
            turn.user(f"question {number}")
            assert [entry["content"] for entry in turn.messages()] == [f"question {number}"]
            turn.response(f"answer {number}")
    assert [text for _, text in stored()] == ["question 1", "answer 1", "question 2", "answer 2"]


FEATURES: dict[str, dict[str, Any]] = {
    "history off": {"last_messages": False},
    "semantic recall": {"semantic_recall": True},
    "this thread only": {"semantic_recall": {"scope": "thread"}},
    "template": {"working_memory": {"enabled": True, "template": "# User"}},
    "schema": {"working_memory": {"enabled": True, "schema": {"type": "object"}, "scope": "thread"}},
    "title": {"generate_title": True},
    "late title": {"threads": {"generate_title": {"min_messages": 2}}},
    "budget": {},
}


@pytest.mark.parametrize("names", list(combinations(FEATURES, 2)), ids=" + ".join)
def test_case_57_every_pair_of_features_stores_the_turn(
    names: tuple[str, str], on_commit: Callable[..., Any]
) -> None:
    options = {key: value for name in names for key, value in FEATURES[name].items()}
    more: dict[str, Any] = {"max_tokens": 4_000} if "budget" in names else {}
    with on_commit(), Memory(**options).turn(thread_id="t", resource_id="r", **more) as turn:
        turn.user("question")
        assert turn.messages()[-1] == {"role": "user", "content": "question"}
        turn.response("answer")
    assert stored() == [("user", "question"), ("assistant", "answer")]


def test_case_62_a_failed_tool_stays_failed() -> None:
    """state output-error with errorText, after reloading too, and as a UI message; the model is told."""
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("weather?")
        for call in turn.response(answered(None, ("c", "weather", '{"city":"Seoul"}'))):
            turn.tool_result(call.id, error="no such city")
        assert turn.needs_model()
        assert turn.messages()[-1] == {"role": "tool", "tool_call_id": "c", "content": "no such city"}
        turn.response("I could not find out.")
    reloaded = MessageHistory().process_input([], request_context=CONTEXT)
    call_part = reloaded.all[1].parts[0]["toolInvocation"]
    assert (call_part["state"], call_part["errorText"]) == ("output-error", "no such city")
    assert "result" not in call_part
    parts = to_ui(reloaded)[1]["parts"]
    assert (parts[0]["state"], parts[0]["errorText"]) == ("output-error", "no such city")


@pytest.mark.parametrize("last_messages", range(1, 7))
def test_case_63_a_window_never_parts_a_call_from_its_result(last_messages: int) -> None:
    """Text, call, result, text as rows of their own, as other writers store them."""
    rows: list[Any] = [
        message("u1", created_at=at(1)),
        message("a1", content(invocation("c1", "call"), invocation("c2", "call")), role="assistant"),
        message("r1", content(invocation("c1", "result", result=1)), role="tool", created_at=at(3)),
        message("r2", content(invocation("c2", "result", result=2)), role="tool", created_at=at(4)),
        message("a2", "It is sunny.", role="assistant", created_at=at(5)),
    ]
    rows[1]["created_at"] = at(2)
    save(*rows)
    with Memory(last_messages=last_messages).turn(thread_id="t", resource_id="r") as turn:
        turn.user("thanks")
        prompt = turn.messages()
    assert unpaired(prompt) == []
    assert [entry["content"] for entry in prompt][-2:] == ["It is sunny.", "thanks"]
    if last_messages >= 4:
        assert [entry["role"] for entry in prompt][-5:-2] == ["assistant", "tool", "tool"]


def test_case_65_references_to_a_dropped_part_go_with_it() -> None:
    """The call is left out: the item ids of what is left would name a chain in which it is missing."""
    item = {"openai": {"itemId": "msg_1", "phase": "x"}}
    parts = [
        {
            "type": "reasoning",
            "reasoning": "hm",
            "details": [],
            "providerMetadata": {"openai": {"itemId": "rs_1"}},
        },
        {"type": "text", "text": "One moment", "providerMetadata": item},
        {**invocation("c", "call"), "providerMetadata": {"openai": {"itemId": "fc_1"}}},
    ]
    turn = (
        MessageList("t", "r")
        .add(asked("?"))
        .add({"role": "assistant", "content": content(*parts)}, "response")
    )
    MessageHistory().process_output_result([], message_list=turn, request_context=CONTEXT)
    kept = Message.objects.get(role="assistant").content["parts"]
    assert [part["type"] for part in kept] == ["reasoning", "text"]
    assert "itemId" not in str(kept)
    assert kept[1]["providerMetadata"] == {"openai": {"phase": "x"}}


def test_case_66_data_parts_are_stored_unchanged() -> None:
    parts: list[Any] = [
        {"type": "data-tool-call-suspended", "data": {"toolCallId": "c", "reason": None}},
        {"type": "data-chart", "id": "7", "data": [1, {"a": "b"}], "transient": False},
        "done",
    ]
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("a chart")
        turn.response({"role": "assistant", "content": content(*parts)})
    reloaded = MessageHistory().process_input([], request_context=CONTEXT)
    assert reloaded.all[1].parts == content(*parts)["parts"]
