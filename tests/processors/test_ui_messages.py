"""UI messages as the AI SDK shows and sends them (version 5)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memory import Memory
from memory.exceptions import RecallError
from memory.processors.chat_message import ChatMessage
from memory.processors.message_list import MessageList
from memory.processors.openai_messages import to_openai
from memory.processors.ui_messages import from_ui, to_ui
from tests.processors.messages import call, calling


def shown(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of an assistant message as a client gets them."""
    [message] = to_ui([ChatMessage(role="assistant", content={"format": 2, "parts": list(parts)})])
    return list(message["parts"])


def tool(state: str, **keys: Any) -> dict[str, Any]:
    """A tool part of a UI message."""
    return {"type": "tool-weather", "toolCallId": "c", "state": state, "input": {"city": "Seoul"}, **keys}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "text", "text": "Hi"}, {"type": "text", "text": "Hi"}),
        (
            {"type": "reasoning", "reasoning": "", "details": [{"type": "text", "text": "Hm"}]},
            {
                "type": "reasoning",
                "text": "Hm",
                "providerMetadata": {
                    "format2": {"reasoning": "", "details": [{"type": "text", "text": "Hm"}]}
                },
            },
        ),
        (call("partial-call"), tool("input-streaming")),
        (call("call"), tool("input-available")),
        (call("result", result={"x": 1}), tool("output-available", output={"x": 1})),
        (call("output-error", errorText="no network"), tool("output-error", errorText="no network")),
        (
            call("approval-requested"),
            tool("input-available", callProviderMetadata={"format2": {"state": "approval-requested"}}),
        ),
        (
            call("output-denied"),
            tool(
                "output-error",
                errorText="The call was denied.",
                callProviderMetadata={"format2": {"state": "output-denied"}},
            ),
        ),
        (
            {"type": "file", "url": "https://a.b/c", "mediaType": "image/png"},
            {"type": "file", "url": "https://a.b/c", "mediaType": "image/png"},
        ),
        (
            {"type": "file", "data": "AAAA", "mimeType": "image/png"},
            {
                "type": "file",
                "url": "data:image/png;base64,AAAA",
                "mediaType": "image/png",
                "providerMetadata": {"format2": {"data": "bare", "mimeType": True}},
            },
        ),
        (
            {
                "type": "source",
                "source": {"sourceType": "url", "id": "1", "url": "https://a.b", "title": "T"},
            },
            {"type": "source-url", "sourceId": "1", "url": "https://a.b", "title": "T"},
        ),
        ({"type": "step-start"}, {"type": "step-start"}),
        ({"type": "data-chart", "id": "1", "data": [1]}, {"type": "data-chart", "id": "1", "data": [1]}),
        (
            {"type": "error", "name": "E", "message": "m"},
            {"type": "data-format2", "data": {"type": "error", "name": "E", "message": "m"}},
        ),
    ],
)
def test_parts_as_a_client_gets_them(part: dict[str, Any], expected: dict[str, Any]) -> None:
    """What the UI format knows is shown in its words; the rest travels in a data part."""
    assert shown(part) == [expected]
    assert from_ui({"role": "assistant", "parts": [expected]}).parts == [part]


def test_metadata_gains_the_messages_fields() -> None:
    """As `mastra` does: date, thread and owner, where they are known."""
    message = ChatMessage(
        id="m1",
        role="user",
        content={"format": 2, "parts": [{"type": "text", "text": "Hi"}], "metadata": {"k": 1}},
        thread_id="t",
        resource_id="r",
        created_at=datetime(2026, 1, 31, 9, 0, 0, 123456, tzinfo=UTC),
    )
    [ui] = to_ui([message])
    assert ui == {
        "id": "m1",
        "role": "user",
        "metadata": {"k": 1, "createdAt": "2026-01-31T09:00:00.123Z", "threadId": "t", "resourceId": "r"},
        "parts": [{"type": "text", "text": "Hi"}],
    }
    ui["metadata"]["createdAt"] = 1769850000123
    [again] = MessageList("t", "r").add(ui)
    assert (again.metadata, again.thread_id, again.created_at) == (
        {"k": 1},
        "t",
        datetime(2026, 1, 31, 9, 0, 0, 123000, tzinfo=UTC),
    )


def test_client_answers_a_waiting_call() -> None:
    """Section 5: a tool that the client ran; also after an approval, which version 5 shows as waiting."""
    for state in ("call", "approval-requested"):
        stored = calling("a1", call(state, approval={"id": "x"}), minute=0)
        messages = MessageList("t").add(stored, "memory")
        [ui] = to_ui(messages)
        ui["parts"][0] |= {"state": "output-available", "output": "sunny"}
        messages.add(ui)
        assert [m.id for m in messages.changed] == ["a1"]
        assert messages["a1"].parts == [call("result", result="sunny", approval={"id": "x"})]
    newer = {
        "id": "a2",
        "role": "assistant",
        "parts": [tool("approval-responded", approval={"approved": True})],
    }
    assert MessageList().add(newer)["a2"].parts[0]["toolInvocation"]["state"] == "approval-responded"


@pytest.mark.django_db
def test_failed_tool_stays_failed() -> None:
    """Case 62: after storing and loading too, for the client and for the model."""
    parts = [call("output-error", errorText="no network")]
    Memory().save_messages([{**calling("a1", *parts), "thread_id": "t"}], create_thread=True, resource_id="r")
    messages = MessageList("t", "r").add(Memory().recall("t").messages, "memory")
    assert to_ui(messages)[0]["parts"] == [tool("output-error", errorText="no network")]
    assert to_openai(messages)[1]["content"] == "no network"


@pytest.mark.django_db
def test_data_parts_survive() -> None:
    """Case 66: unchanged after reload, a suspended tool call's included."""
    parts = [
        {"type": "data-tool-call-suspended", "data": {"toolCallId": "c", "runId": "1"}},
        {"type": "data-chart", "id": "1", "data": {"x": [1.5, None]}},
    ]
    messages = MessageList("t", "r").add({"id": "a1", "role": "assistant", "parts": parts}, "response")
    Memory().save_messages([m.as_dict() for m in messages], create_thread=True)
    loaded = MessageList("t", "r").add(Memory().recall("t").messages, "memory")
    assert to_ui(loaded)[0]["parts"] == parts


def test_ui_parts_in_a_stored_message() -> None:
    """Rows that were saved with a UI message's parts are read as what they say."""
    stored = calling("a1", tool("output-available", output="sunny"), {"type": "reasoning", "text": "Hm"})
    messages = MessageList("t").add(stored, "memory")
    assert [turn["role"] for turn in to_openai(messages)] == ["assistant", "tool"]
    assert to_ui(messages)[0]["parts"] == stored["content"]["parts"]


def test_signals_are_shown_as_the_users_and_come_back_as_signals() -> None:
    """Version 5 knows three roles; a client that forges one more gets none."""
    signal = ChatMessage(
        role="signal",
        content={
            "format": 2,
            "parts": [{"type": "text", "text": "x"}],
            "metadata": {"signal": {"type": "user"}},
        },
    )
    [ui] = to_ui([signal])
    assert (ui["role"], from_ui(ui)) == ("user", signal)
    ui["metadata"]["format2"]["role"] = "system"
    assert from_ui(ui).role == "user"


def test_bad_message_is_named() -> None:
    """One `RecallError`, as for a list."""
    with pytest.raises(RecallError, match=r"message\.parts: must be a list"):
        from_ui({"role": "user"})
