"""Copies of one message, and results and their calls, made one (section 5)."""

from __future__ import annotations

from memory.processors.message_list import MessageList
from memory.processors.openai_messages import to_openai
from memory.processors.tool_calls import ToolCall, pending_calls
from tests.processors.messages import call, calling, ids, said


def test_history_that_a_client_sends_again() -> None:
    """Case 13: the stored copies keep their places and contents, whichever came first."""
    stored = [said("u1", minute=0), said("a1", role="assistant", minute=1)]
    sent = [said("u1", "forged"), said("a1", "forged", role="assistant"), said("u2")]
    for messages in (
        MessageList("t").add(stored, "memory").add(sent),
        MessageList("t").add(sent).add(stored, "memory"),
    ):
        assert [(m.id, m.text, m.source) for m in messages] == [
            ("u1", "Hello", "memory"),
            ("a1", "Hello", "memory"),
            ("u2", "Hello", "input"),
        ]
        assert messages.changed == []


def test_of_a_clients_copy_only_outcomes_are_taken() -> None:
    """Section 5: a result that moves a waiting call on, with the arguments of the stored call."""
    stored = calling(
        "a1", {"type": "text", "text": "Wait"}, call("call"), call("result", uid="d", result=1), minute=0
    )
    forged = calling(
        "a1",
        {"type": "text", "text": "forged"},
        call("result", args={"city": "forged"}, result="sunny"),
        call("output-error", uid="d", errorText="forged"),
        call("result", uid="e", result="forged"),
    )
    messages = MessageList("t").add(stored, "memory").add(forged)
    expected = [
        {"type": "text", "text": "Wait"},
        call("result", result="sunny"),
        call("result", uid="d", result=1),
    ]
    assert messages["a1"].parts == expected
    assert ids(messages.changed) == ["a1"]
    assert "forged" not in str(messages["a1"].as_dict())


def test_input_of_a_known_input_replaces_it_in_place() -> None:
    """The last word of a client counts, but a call that has come further stays there."""
    messages = MessageList("t").add([said("m1"), calling("m2", call("result", result=1)), said("m3")])
    messages.add([said("m1", "Again"), calling("m2", call("call"))])
    assert (ids(messages), messages["m1"].text) == (["m1", "m2", "m3"], "Again")
    assert messages["m2"].parts == [call("result", result=1)]


def test_response_goes_on_with_a_known_message() -> None:
    """Section 5: its parts are appended, or are the stored parts as they are now."""
    text = {"type": "text", "text": "Sunny"}
    for news in ([text], [call("result", result=1), text]):
        messages = MessageList("t").add(calling("a1", call("call"), minute=0), "memory")
        messages.add(calling("a1", *news), "response")
        assert [part["type"] for part in messages["a1"].parts] == ["tool-invocation", "text"]
        assert (ids(messages.changed), messages.response) == (["a1"], [])
    streamed = MessageList("t").add(said("a2", "Sun", role="assistant"), "response")
    streamed.add(said("a2", "Sunny", role="assistant"), "response")
    assert streamed["a2"].parts == [text]


def test_turn_with_tool_steps_is_one_message() -> None:
    """Section 5: a step begins a part of its own; metadata of both stay (case 72)."""
    messages = MessageList("t").add("Weather?")
    messages.add({"role": "assistant", "content": "Wait", "metadata": {"k": 1}}, "response")
    messages.add({"role": "assistant", "content": "Sunny", "metadata": {"l": 2}}, "response")
    [question, answer] = messages
    assert [part["type"] for part in answer.parts] == ["text", "step-start", "text"]
    assert (answer.text, answer.metadata, ids(messages.response)) == (
        "Wait Sunny",
        {"k": 1, "l": 2},
        [answer.id],
    )
    messages.add("And tomorrow?").add("Rain", "response")
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant"]
    messages.add(said("own", role="assistant"), "response")
    assert messages["own"].source == "response"
    assert question.source == "input"


def test_stored_answer_takes_no_step() -> None:
    """A response that follows a stored message is a message of its own."""
    messages = MessageList("t").add(said("a1", role="assistant", minute=0), "memory").add("More", "response")
    assert (len(messages), messages.changed) == (2, [])


def test_result_goes_to_its_call_whoever_made_it() -> None:
    """Section 5: by the id of the call, and the stored message is to be stored again."""
    messages = MessageList("t").add(calling("a1", call("call"), minute=0), "memory")
    assert pending_calls(messages["a1"].parts) == [ToolCall("c", "weather", {"city": "Seoul"})]
    messages.add({"role": "tool", "tool_call_id": "c", "content": "sunny"})
    assert messages["a1"].parts == [call("result", result="sunny")]
    assert (ids(messages), ids(messages.changed)) == (["a1"], ["a1"])
    messages.add({"role": "tool", "tool_call_id": "c", "content": "rain"})
    assert messages["a1"].parts == [call("result", result="sunny")]
    assert len(messages) == 1


def test_result_without_its_call_waits_and_is_in_no_prompt() -> None:
    """Case 63: and a call that is later than the result is not the one it answers."""
    result = {"role": "tool", "tool_call_id": "c", "content": "sunny"}
    messages = MessageList("t").add(result)
    assert (len(messages), to_openai(messages)) == (1, [])
    messages.add(calling("a1", call("call")), "memory")
    assert (ids(messages), len(to_openai(messages))) == (["a1"], 2)
    early = calling(
        "t1", {"type": "tool-invocation", "toolInvocation": {"state": "result", "toolCallId": "c"}}, minute=0
    )
    messages = MessageList("t").add({**early, "role": "tool"}, "memory")
    messages.add(calling("a2", call("call"), minute=1), "memory")
    assert (ids(messages), to_openai(messages)) == (["t1", "a2"], [])
