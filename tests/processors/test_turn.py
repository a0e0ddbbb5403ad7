"""`Memory.turn`: what it takes, when the model is needed, what it costs (issue 4, point 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from openai.types.chat import ChatCompletion

from memory import Memory
from memory.exceptions import RecallError
from memory.models import Message, Thread
from memory.processors import MessageList
from tests.cases import message, numbered, save
from tests.processors import answered, content, invocation, stored, talk

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.django_db

COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}],
}


@pytest.mark.parametrize(
    "said",
    [
        "Hello",
        [{"type": "text", "text": "Hello"}],
        content("Hello"),
        {"role": "user", "content": "Hello"},
        {"role": "user", "content": content("Hello"), "id": "u1"},
        {"role": "user", "parts": [{"type": "text", "text": "Hello"}], "id": "u1"},
        MessageList().add("Hello").all[0],
        Message(uid="u1", role="user", content="Hello", thread=Thread(uid="t")),
    ],
    ids=["text", "parts", "format 2", "OpenAI", "stored", "AI SDK", "ChatMessage", "row"],
)
def test_what_the_user_says(said: Any) -> None:
    """A text, parts, or a whole message in any form that a list takes."""
    prompt = talk(said=said)
    assert prompt[-1]["role"] == "user"
    assert prompt[-1]["content"] in ("Hello", [{"type": "text", "text": "Hello"}])
    assert stored() == [("user", "Hello"), ("assistant", "y")]


@pytest.mark.parametrize("said", [5, None, {"role": "king", "content": "x"}, [5], object()])
def test_what_no_user_says(said: Any) -> None:
    with Memory(read_only=True).turn(thread_id="t") as turn, pytest.raises(RecallError):
        turn.user(said)


@pytest.mark.parametrize(
    "reply",
    ["Hi", COMPLETION, ChatCompletion.model_validate(COMPLETION), answered("Hi")],
    ids=["text", "dict", "object", "message"],
)
def test_what_the_model_answers(reply: Any) -> None:
    talk(answer=reply)
    assert stored()[1] == ("assistant", "Hi")


@pytest.mark.parametrize("reply", [5, None, {"choices": []}, {"role": "king", "content": "x"}, object()])
def test_what_no_model_answers(reply: Any) -> None:
    with Memory(read_only=True).turn(thread_id="t") as turn, pytest.raises(RecallError):
        turn.response(reply)


def test_when_the_model_is_needed() -> None:
    with Memory(read_only=True).turn(thread_id="t") as turn:
        assert not turn.needs_model()
        turn.user("weather?")
        assert turn.needs_model()
        calls = turn.response(answered("One moment", ("a", "look", '{"n":1}'), ("b", "look", "not json")))
        assert [(call.id, call.name, call.arguments) for call in calls] == [
            ("a", "look", {"n": 1}),
            ("b", "look", "not json"),
        ]
        assert turn.tool_calls() == calls
        turn.tool_result("b", {"sunny": True})
        assert not turn.needs_model()
        turn.tool_result("a", "fine")
        assert turn.needs_model()
        assert [entry["content"] for entry in turn.messages()[-2:]] == ["fine", '{"sunny":true}']
        turn.response("It is sunny.")
        assert not turn.needs_model()
        turn.user("Thanks")
        assert turn.needs_model()


@pytest.mark.parametrize("uid", ["a", "unknown", "", None])
def test_a_result_needs_its_call(uid: Any) -> None:
    """Once; what is no JSON is refused too."""
    with Memory(read_only=True).turn(thread_id="t") as turn:
        turn.user("weather?")
        turn.response(answered(None, ("a", "look", "{}")))
        with pytest.raises(RecallError):
            turn.tool_result("a", float("nan"))
        turn.tool_result("a", None)
        with pytest.raises(RecallError, match="call_id"):
            turn.tool_result(uid, 1)


def test_ids_are_kept() -> None:
    """Of question and answer; all steps of an answer are one message, under the id of any of them."""
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("weather?", id="u1")
        turn.response(answered(None, ("c", "look", "{}")), id="a1")
        turn.tool_result("c", 1)
        turn.response("sunny")
    assert list(Message.objects.chronological().values_list("uid", flat=True)) == ["u1", "a1"]
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("weather?", id="u1")
        turn.messages()
        turn.response("rainy", id="a1")
    assert stored() == [("user", "weather?"), ("assistant", "rainy")]


def test_a_new_conversation_gets_an_id() -> None:
    with Memory().turn(resource_id="r") as turn:
        turn.user("Hello")
        turn.response("Hi")
    assert stored(turn.thread_id) == [("user", "Hello"), ("assistant", "Hi")]


@pytest.mark.parametrize(
    ("options", "at_most"),
    [
        ({}, 2),
        ({"last_messages": 0}, 0),
        ({"working_memory": {"enabled": True}}, 4),
        ({"semantic_recall": True}, 7),
        ({"semantic_recall": True, "working_memory": {"enabled": True}}, 9),
    ],
)
def test_what_a_prompt_costs(
    options: dict[str, Any], at_most: int, count_queries: Callable[..., Any], on_commit: Callable[..., Any]
) -> None:
    """2 queries for history, 2 for working memory, 5 for a search; the second call of a turn none."""
    with on_commit():
        numbered(30)
        save(message("x", "m1", thread="other"))
    with Memory(**options, read_only=True).turn(thread_id="t", resource_id="r") as turn:
        turn.user("m1")
        with count_queries(at_most=at_most):
            turn.messages()
        with count_queries(exactly=0):
            turn.messages()


def test_options_of_one_turn() -> None:
    """`thread_config` over the agent; wrong ones are told when the block begins."""
    numbered(3)
    options = {"last_messages": 1, "readOnly": True}
    assert [entry["content"] for entry in talk(thread_config=options)] == ["m3", "x"]
    assert Message.objects.count() == 3
    with pytest.raises(RecallError, match=r"thread_config\.last_messages"):
        talk(thread_config={"last_messages": -1})


def test_the_next_question_of_a_turn_searches_again(on_commit: Callable[..., Any]) -> None:
    with on_commit():
        save(message("a", "purple", thread="a"), message("b", "gold", thread="b"))
    memory = Memory(semantic_recall={"threshold": 0.9, "message_range": 0}, read_only=True)
    with memory.turn(thread_id="t", resource_id="r") as turn:
        for said in ("purple", "gold"):
            turn.user(said)
            assert f"User: {said}" in turn.messages()[0]["content"]
            assert [row.text for row in turn.list.recalled] == [said]


def test_nothing_said_nothing_stored() -> None:
    with Memory(generate_title=True, semantic_recall=True).turn(thread_id="t", resource_id="r") as turn:
        assert turn.messages() == []
    assert not Thread.objects.exists()


def test_an_answer_with_nothing_in_it_is_not_stored() -> None:
    talk(answer={"role": "assistant", "content": None})
    assert stored() == [("user", "x")]


def test_a_result_for_a_call_of_the_history_completes_it() -> None:
    """One that waits in an older message, as a client's tool leaves it."""
    save(message("u1"), message("a1", content(invocation("c", "call")), role="assistant"))
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.messages()
        turn.response({"role": "tool", "tool_call_id": "c", "content": "sunny"})
    (part,) = Message.objects.get(uid="a1").content["parts"]
    assert part["toolInvocation"]["result"] == "sunny"
