"""The OpenAI format beyond what the property tests draw: odd servers, old rows, what is not sent."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from memory.exceptions import RecallError
from memory.processors.chat_message import ChatMessage
from memory.processors.message_list import MessageList
from memory.processors.openai_messages import from_openai, to_openai
from tests.processors.messages import call, calling, said
from tests.properties.conversations import check_prompt

CALL = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Seoul"}'}}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "sunny"}


def prompt(*parts: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    """The prompt of one assistant message of these parts."""
    messages = to_openai(MessageList("t").add(calling("a1", *parts)), **options)
    check_prompt(messages)
    return messages


def text(value: str, **keys: Any) -> dict[str, Any]:
    """A text part."""
    return {"type": "text", "text": value, **keys}


def test_steps_of_an_answer() -> None:
    """Calls of one step side by side, each result behind them; text after a call is the next answer."""
    parts = (
        text("Wait"),
        call("result", result="sunny"),
        call("result", uid="d", result={"b": 1.0, "a": 2}),
        text("So"),
    )
    second = {**CALL, "id": "d"}
    assert prompt(*parts) == [
        {"role": "assistant", "content": "Wait", "tool_calls": [CALL, second]},
        RESULT,
        {**RESULT, "tool_call_id": "d", "content": '{"a":2,"b":1}'},
        {"role": "assistant", "content": "So"},
    ]
    in_turn = prompt(
        call("result", result="sunny"), {"type": "step-start"}, call("result", uid="d", result="sunny")
    )
    assert in_turn == [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        RESULT,
        {"role": "assistant", "content": None, "tool_calls": [second]},
        {**RESULT, "tool_call_id": "d"},
    ]


@pytest.mark.parametrize(
    ("part", "content"),
    [
        (call("output-error", errorText="no network"), "no network"),
        (call("output-error", result="failed"), "failed"),
        (call("output-denied", approval={"approved": False, "reason": "not now"}), "not now"),
        (call("output-denied"), "The call was denied."),
        (call("result"), "null"),
        (call("result", result=[text("one"), text("two")]), [text("one"), text("two")]),
        (call("result", result=[]), "[]"),
        (call("result", result="NaN 한"), "NaN 한"),
        (call("result", result={"x": "한"}), '{"x":"한"}'),
    ],
)
def test_outcomes(part: dict[str, Any], content: Any) -> None:
    """Case 62: an error reaches the model as its text, a document as JSON that no storing changes."""
    assert prompt(part)[1] == {**RESULT, "content": content}


@pytest.mark.parametrize(
    "part",
    [
        call("partial-call"),
        call("call"),
        call("approval-requested"),
        call("approval-responded"),
        {**call("result", result=1), "preliminary": True},
        call("no such state"),
        {"type": "tool-invocation", "toolInvocation": {"state": "result", "toolCallId": "c", "result": 1}},
        {"type": "tool-invocation", "toolInvocation": {"state": "result", "toolName": "f", "result": 1}},
        {"type": "tool-invocation", "toolInvocation": None},
        {"type": "tool-invocation"},
        text(""),
        {"type": "reasoning", "reasoning": "Hm"},
        {"type": "data-x", "data": 1},
        {"type": "error", "name": "E", "message": "m"},
        {"type": "step-start"},
        {"type": "file", "url": "data:image/png;base64,", "mediaType": "image/png"},
    ],
)
def test_what_is_left_out(part: dict[str, Any]) -> None:
    """Calls and results without the other, empty text, what the format has no place for."""
    assert prompt(part) == []
    assert prompt(text("one"), part, text("two"))[0]["content"].startswith("one")


def test_pending_call_beside_a_finished_one() -> None:
    """Section 5: only the finished call is sent."""
    [answer, result] = prompt(call("call", uid="d"), call("result", result="sunny"))
    assert (answer["tool_calls"], result) == ([CALL], RESULT)


def test_redacted_message_is_skipped() -> None:
    """Section 3: a redacted message keeps its row; prompts skip it."""
    redacted = ChatMessage(role="user", content={"format": 2, "parts": []}, row=1)
    assert to_openai(MessageList("t").add([redacted, "Hi"], "memory")) == [{"role": "user", "content": "Hi"}]


def test_text_that_stands_in_the_mirror_only() -> None:
    """Section 1: `content.content` is the text of a message; in the prompt its parts come first."""
    mirror = said("m1", content="mirror")
    assert to_openai(MessageList().add(mirror))[0]["content"] == "Hello"
    mirror["content"]["parts"] = []
    assert to_openai(MessageList().add(mirror)) == [{"role": "user", "content": "mirror"}]


def test_text_of_a_tool_is_a_result_without_its_call() -> None:
    """Section 3 stores a message of role `tool` with a text; no prompt can say what it answers."""
    given = {
        "id": "t1",
        "role": "tool",
        "content": {"parts": [text("sunny"), call("result", result="sunny")]},
    }
    [answer, result] = to_openai(MessageList("t").add(given, "memory"))
    assert (answer["content"], answer["tool_calls"], result) == (None, [CALL], RESULT)


def test_item_references_are_not_sent() -> None:
    """Case 65: no reference to what a provider keeps, of dropped parts or of others."""
    reasoning = {"type": "reasoning", "reasoning": "Hm", "providerMetadata": {"openai": {"itemId": "rs_1"}}}
    said_so = text("Sunny", providerMetadata={"openai": {"itemId": "msg_1"}})
    for parts in ((reasoning, said_so), (said_so,)):
        assert (
            prompt(*parts) == prompt(*parts, extra_fields=True) == [{"role": "assistant", "content": "Sunny"}]
        )


def test_answer_of_the_package() -> None:
    """A completion object: its first choice; what the request format does not know is kept, not sent."""
    citation = {"start_index": 0, "end_index": 3, "title": "T", "url": "https://a.b"}
    completion = ChatCompletion.model_validate(
        {
            "id": "chatcmpl-1",
            "created": 1,
            "model": "m",
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": "Wait",
                        "annotations": [{"type": "url_citation", "url_citation": citation}],
                        "reasoning_content": "Hm",
                        "server_field": {"x": 1},
                        "tool_calls": [{**CALL, "extra_content": {"signature": "s"}}],
                    },
                },
                {"index": 1, "finish_reason": "stop", "message": {"role": "assistant", "content": "Other"}},
            ],
        }
    )
    for given in (completion, completion.model_dump(), completion.choices[0].message):
        messages = MessageList("t").add(given, "response").add(RESULT, "response")
        check_prompt(to_openai(messages))
        assert to_openai(messages) == [{"role": "assistant", "content": "Wait", "tool_calls": [CALL]}, RESULT]
        [answer, _] = to_openai(messages, extra_fields=True)
        assert answer == {
            "role": "assistant",
            "content": "Wait",
            "annotations": [{"type": "url_citation", "url_citation": citation}],
            "reasoning_content": "Hm",
            "server_field": {"x": 1},
            "tool_calls": [{**CALL, "extra_content": {"signature": "s"}}],
        }
        [message] = messages
        assert [part["type"] for part in message.parts] == ["reasoning", "text", "source", "tool-invocation"]


def test_audio_answer() -> None:
    """What was said is the text; the id is sent while the provider has the audio, the text after that."""
    audio = {"id": "audio_1", "data": "AAAA", "expires_at": int(time.time()) + 1000, "transcript": "Hello"}
    given = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "audio": audio})
    message = from_openai(given)
    assert message.text == "Hello"
    assert to_openai([message]) == [{"role": "assistant", "content": None, "audio": {"id": "audio_1"}}]
    assert to_openai([message], extra_fields=True)[0]["audio"] == audio
    expired = from_openai({"role": "assistant", "audio": {**audio, "expires_at": 1}})
    assert to_openai([expired]) == [{"role": "assistant", "content": "Hello"}]


@pytest.mark.parametrize(
    "given",
    [
        {"function": {"name": "f", "arguments": {"a": 1}}},
        {"id": "", "type": None, "function": {"name": "f", "arguments": '{"a":1}'}},
        {"id": None, "index": 0, "function": {"name": "f", "arguments": '{"a":1}', "parsed_arguments": None}},
    ],
)
def test_call_of_an_odd_server(given: dict[str, Any]) -> None:
    """Without an id, without a type, with arguments that are no text."""
    [part] = from_openai({"role": "assistant", "tool_calls": [given]}).parts
    invocation = part["toolInvocation"]
    assert invocation.pop("toolCallId").startswith("call_")
    assert invocation == {"state": "call", "toolName": "f", "args": {"a": 1}}
    assert "providerMetadata" not in part


def test_arguments_that_no_document_can_hold() -> None:
    """A model's output fails no save: what is no storable JSON stays the text it is."""
    for arguments in ("[" * 99 + "]" * 99, "1" * 400, "[" * 100_000, '{"a": 1e999}'):
        given = {**CALL, "function": {"name": "f", "arguments": arguments}}
        messages = MessageList().add({"role": "assistant", "tool_calls": [given]}).add(RESULT)
        assert to_openai(messages)[0]["tool_calls"] == [given]


def test_arguments_that_were_changed_since() -> None:
    """The text that the model wrote is sent only while it says the same as the arguments."""
    given = {**CALL, "function": {"name": "f", "arguments": '{ "city": "Seoul" }'}}
    message = from_openai({"role": "assistant", "tool_calls": [given]})
    message.parts[0]["toolInvocation"] |= {"state": "result", "result": "", "args": {"city": "***"}}
    assert to_openai([message])[0]["tool_calls"][0]["function"]["arguments"] == '{"city":"***"}'


FILES = [
    (
        {"url": "https://a.b/c.png", "mediaType": "image/png"},
        {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}},
    ),
    (
        {"data": "AAAA", "mimeType": "image/png"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ),
    (
        {"data": "AAAA", "mimeType": "audio/x-wav"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
    ),
    (
        {"data": "AAAA", "mimeType": "audio/mpeg"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
    ),
    (
        {"data": "AAAA", "mimeType": "application/pdf", "filename": "a.pdf"},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}},
    ),
    (
        {"url": "https://a.b/c", "mediaType": "application/pdf", "filename": "a.pdf"},
        text("a.pdf https://a.b/c"),
    ),
]


@pytest.mark.parametrize(("file", "content"), FILES)
def test_files_of_format_2(file: dict[str, Any], content: dict[str, Any]) -> None:
    """Images, sounds and files; of a file on the web, which the format cannot take, the model is told."""
    message = said("m1")
    message["content"]["parts"] = [text("Look"), {"type": "file", **file}]
    messages = to_openai(MessageList().add(message))
    check_prompt(messages)
    assert messages == [{"role": "user", "content": [text("Look"), content]}]


def test_content_part_of_a_servers_own() -> None:
    """It goes back as it came."""
    video = {"type": "video_url", "video_url": {"url": "https://a.b/c.mp4"}}
    given = {"role": "user", "content": [video]}
    assert to_openai(MessageList().add(given)) == [given]


def test_from_openai_alone() -> None:
    """A dict or an object, one message; bad ones are named."""
    assert from_openai({"role": "developer", "content": "Be kind"}).role == "system"
    assert json.dumps(from_openai(RESULT).parts[0]["toolInvocation"]) == json.dumps(
        {"state": "result", "result": "sunny", "toolCallId": "c"}
    )
    with pytest.raises(RecallError, match=r"message\.role: must be one of"):
        from_openai({"content": "x"})
    with pytest.raises(RecallError, match="message: must be an object"):
        from_openai("x")
