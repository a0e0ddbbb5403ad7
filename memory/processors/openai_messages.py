"""OpenAI chat-completions messages, from and to format 2."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memory.ids import uuid7
from memory.processors.chat_message import ChatMessage, as_mapping
from memory.processors.openai_calls import (
    is_function_call,
    read_calls,
    read_function_call,
    read_result,
    write_call,
    write_result,
)
from memory.processors.openai_notes import given_keys, noted, notes_of, with_notes
from memory.processors.openai_parts import is_list, read_content, write_part, write_user_content
from memory.processors.tool_calls import call_id, has_call, invocation_of, is_finished
from memory.validation import Check

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
# Names under which servers answer what a model thought; the format itself has none.
REASONING = ("reasoning_content", "reasoning")
# What an answer can consist of beside its content.
SAID = ("refusal", "audio", "function_call", "tool_calls")
# Keys of every message that are read on their own, or that only the Python package adds.
USED = (
    *("role", "content", "id", "metadata", "tool_calls", "function_call", "refusal", "annotations"),
    *("audio", "parsed"),
)

Part = dict[str, Any]


def from_openai(message: Any) -> ChatMessage:
    """The message of a chat-completions message, a dict or an object of the `openai` package.

    A `tool` or `function` message becomes one of role `tool` with a result that has no call yet; a
    :class:`MessageList` joins the two.

    Raises:
        RecallError: it is none.
    """
    check = Check()
    found = read_openai(check, as_mapping(message), "message")
    check.finish()
    found.normalise(check, "message")
    check.finish()
    return found


def read_openai(check: Check, value: Any, path: str) -> ChatMessage:
    """See :func:`from_openai`; issues are noted in `check`."""
    message = value if isinstance(value, Mapping) else {}
    if message is not value:
        check.fail(path, "must be an object with `role` and `content`")
    role = check.choice(message.get("role"), f"{path}.role", ROLES) or "user"
    content: dict[str, Any] = {"format": 2}
    if message.get("metadata") is not None:
        content["metadata"] = message["metadata"]
    if role in ("tool", "function"):
        return ChatMessage(role="tool", content={**content, "parts": read_result(check, message, path)})
    parts = read_content(check, message.get("content"), f"{path}.content")
    rest = given_keys(message, *USED, *REASONING)
    if role == "assistant":
        parts = [*_read_reasoning(message), *parts, *_read_answer(check, message, path)]
    if parts:
        notes = {"role": role if role == "developer" else None, "message": rest}
        parts[0] = with_notes(parts[0], **notes)
    return ChatMessage(role="system" if role == "developer" else role, content={**content, "parts": parts})


def _read_reasoning(message: Mapping[str, Any]) -> Iterator[Part]:
    for name in REASONING:
        text = message.get(name)
        if isinstance(text, str) and text:
            part = {"type": "reasoning", "reasoning": text, "details": [{"type": "text", "text": text}]}
            yield with_notes(part, field=name)
            return


def _read_answer(check: Check, message: Mapping[str, Any], path: str) -> Iterator[Part]:
    """What only an assistant message has, in the order in which it is read."""
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield with_notes({"type": "text", "text": refusal}, refusal="message")
    audio = message.get("audio")
    if isinstance(audio, Mapping) and isinstance(audio.get("id"), str):
        # Its text is what was said.
        text = audio.get("transcript")
        part = {"type": "text", "text": text if isinstance(text, str) else ""}
        yield with_notes(part, audio=given_keys(audio, "transcript"), transcript=isinstance(text, str))
    annotations = message.get("annotations")
    yield from map(_read_annotation, annotations if isinstance(annotations, list | tuple) else ())
    yield from read_calls(check, message.get("tool_calls"), f"{path}.tool_calls")
    yield from read_function_call(check, message.get("function_call"), f"{path}.function_call")


def _read_annotation(annotation: Any) -> Part:
    citation = annotation.get("url_citation") if isinstance(annotation, Mapping) else None
    if not isinstance(citation, Mapping) or not isinstance(citation.get("url"), str):
        return {"type": "data-openai-annotation", "data": annotation}
    source = {"sourceType": "url", "id": uuid7(), "url": citation["url"]}
    if isinstance(citation.get("title"), str):
        source["title"] = citation["title"]
    citation = given_keys(citation, *source)
    return with_notes({"type": "source", "source": source}, type="annotation", citation=citation)


def to_openai(
    messages: Iterable[ChatMessage], *, thread_id: str | None = None, extra_fields: bool = False
) -> list[dict[str, Any]]:
    """The prompt for the chat-completions API.

    Args:
        messages: a :class:`MessageList`, whose system messages come first, or messages in order.
        thread_id: messages of other threads are left out; default the list's own thread.
        extra_fields: also write what servers answer but the request format does not know: annotations,
            reasoning, the data of an audio answer, fields of a server's own. Some servers want theirs
            back, others refuse what they do not know.

    An assistant message with tool steps becomes one message a step, its calls side by side, each followed
    by the results in the order of the calls. Calls without a result, results without a call, empty text
    and redacted messages are left out, and so is a message that holds nothing else. A signal is a turn
    where it stands for the user; other signals were for the run that got them.
    """
    own_thread = thread_id or getattr(messages, "thread_id", None)
    prompt: list[dict[str, Any]] = []
    for message in [*getattr(messages, "system", ()), *messages]:
        if own_thread is None or message.thread_id in (None, own_thread):
            prompt += _write_message(message, extra_fields=extra_fields)
    return prompt


def _write_message(message: ChatMessage, *, extra_fields: bool) -> list[dict[str, Any]]:
    parts = _parts_with_text(message)
    if message.role in ("assistant", "tool"):
        steps = _steps(parts)
        return [turn for step in steps for turn in _write_step(step, extra_fields=extra_fields)]
    if message.role != "system" and not message.is_user_turn:
        return []
    content = write_user_content(parts)
    if content is None:
        return []
    role = "user"
    if message.role == "system":
        role = "developer" if _note(parts, "role") == "developer" else "system"
    return [{"role": role, "content": content, **_message_fields(parts, extra_fields=extra_fields)}]


def _parts_with_text(message: ChatMessage) -> list[Part]:
    """The parts; text that stands in the content's mirror only comes first. Of a tool there is only what
    it was called for: a text without its call is a result without one."""
    if message.role == "tool":
        return [part for part in message.parts if invocation_of(part) is not None]
    if any(part["type"] == "text" and part["text"] for part in message.parts) or not message.text:
        return message.parts
    return [{"type": "text", "text": message.text}, *message.parts]


def _steps(parts: Sequence[Part]) -> list[list[Part]]:
    """The parts of an assistant message by step: text after a call belongs to the answer that followed."""
    steps: list[list[Part]] = [[]]
    for part in parts:
        if part["type"] == "step-start" or _begins_step(part, steps[-1]):
            steps.append([])
        if part["type"] != "step-start":
            steps[-1].append(part)
    return steps


def _begins_step(part: Part, step: Sequence[Part]) -> bool:
    calls = [other for other in step if invocation_of(other) is not None]
    if not calls:
        return False
    if invocation_of(part) is None:
        return part["type"] == "reasoning" or (part["type"] == "text" and bool(part["text"]))
    if is_function_call(part) or is_function_call(calls[-1]):
        return True
    # Some servers count their ids from 0 in each answer.
    return call_id(part) in map(call_id, calls)


def _write_step(step: Sequence[Part], *, extra_fields: bool) -> list[dict[str, Any]]:
    calls = [part for part in step if is_finished(part) and has_call(part)]
    fields = {
        **_message_fields(step, extra_fields=extra_fields),
        **_write_fields(step, extra_fields=extra_fields),
    }
    message = {"role": "assistant", "content": _write_text(step), **fields}
    if calls and is_function_call(calls[0]):
        message["function_call"] = write_call(calls[0], extra_fields=extra_fields)
    elif calls:
        message["tool_calls"] = [write_call(part, extra_fields=extra_fields) for part in calls]
    if message["content"] is None and not any(key in message for key in SAID):
        return []
    return [message, *map(write_result, calls)]


def _write_text(step: Sequence[Part]) -> str | list[Part] | None:
    texts = [part for part in step if part["type"] == "text" and _is_content(part)]
    if is_list(texts):
        return [content for part in texts if (content := write_part(part)) is not None] or None
    return "".join(part["text"] for part in texts) or None


def _is_content(part: Part) -> bool:
    notes = notes_of(part)
    return notes.get("refusal") != "message" and not _has_audio(notes)


def _has_audio(notes: Mapping[str, Any]) -> bool:
    """There is an audio answer that the provider still keeps; of others only what was said is left."""
    audio = notes.get("audio")
    if not isinstance(audio, dict) or not isinstance(audio.get("id"), str):
        return False
    expires = audio.get("expires_at")
    return not isinstance(expires, int | float) or expires > time.time()


def _write_fields(step: Sequence[Part], *, extra_fields: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for part in step:
        notes = notes_of(part)
        if part["type"] == "text" and notes.get("refusal") == "message":
            fields["refusal"] = fields.get("refusal", "") + part["text"]
        elif part["type"] == "text" and _has_audio(notes):
            audio = {"id": notes["audio"]["id"]}
            if extra_fields:
                audio = {**notes["audio"]} | ({"transcript": part["text"]} if notes.get("transcript") else {})
            fields["audio"] = audio
        elif extra_fields and part["type"] == "source" and notes.get("type") == "annotation":
            fields.setdefault("annotations", []).append(_write_annotation(part, notes))
        elif extra_fields and part["type"] == "data-openai-annotation":
            fields.setdefault("annotations", []).append(part.get("data"))
        elif extra_fields and notes.get("field") in REASONING:
            fields[notes["field"]] = part.get("reasoning")
    return fields


def _write_annotation(part: Part, notes: Mapping[str, Any]) -> Part:
    source = part["source"] if isinstance(part.get("source"), dict) else {}
    named = {key: source[key] for key in ("url", "title") if key in source}
    return {"type": "url_citation", "url_citation": {**noted(notes, "citation"), **named}}


def _message_fields(parts: Sequence[Part], *, extra_fields: bool) -> dict[str, Any]:
    fields = _note(parts, "message")
    if not isinstance(fields, dict):
        return {}
    fields = {key: value for key, value in fields.items() if key not in USED}
    return fields if extra_fields else {"name": fields["name"]} if isinstance(fields.get("name"), str) else {}


def _note(parts: Sequence[Part], name: str) -> Any:
    return next((notes[name] for part in parts if name in (notes := notes_of(part))), None)
