"""The forms in which a message list takes messages, told apart by their shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models

from memory.content.incoming import MAX_TYPE_LENGTH, ROLES
from memory.content.normalise import normalise_content
from memory.processors.chat_message import ChatMessage, Source, as_mapping
from memory.processors.openai_messages import read_openai
from memory.processors.openai_parts import CONTENT_KEYS
from memory.processors.ui_messages import read_ui
from memory.validation import Check, Given, camel_case

# What only a message in the shape of the store has beside `role` and `content`.
STORED_NAMES = ("thread_id", "resource_id", "created_at", "type")
STORED_KEYS = frozenset(STORED_NAMES) | {camel_case(name) for name in STORED_NAMES} | {"uid"}


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as it was read; `named` = it brought an id of its own."""

    message: ChatMessage
    named: bool


def read(check: Check, value: Any, path: str, source: Source) -> Incoming | None:
    """One message in any form, storable and sharing nothing with `value`; None with an issue noted."""
    known = len(check.issues)
    found = _read(check, as_mapping(value), path, source)
    if found is None or len(check.issues) > known:
        return None
    message = found.message
    if message.row is None:
        message.normalise(check, path)
    if len(check.issues) > known:
        return None
    message.source = source
    return found


def _read(check: Check, value: Any, path: str, source: Source) -> Incoming | None:
    if isinstance(value, str):
        role = "assistant" if source == "response" else "user"
        content = {"format": 2, "parts": [{"type": "text", "text": value}] if value else []}
        return Incoming(ChatMessage(role=role, content=content), named=False)
    if isinstance(value, ChatMessage):
        return Incoming(value.copy(), named=True)
    if isinstance(value, models.Model) and hasattr(value, "content") and hasattr(value, "thread"):
        return Incoming(ChatMessage.of_row(value), named=True)  # type: ignore[arg-type]
    if not isinstance(value, Mapping):
        check.fail(path, "must be a string, a message in one of the known forms, or a list of these")
        return None
    if "choices" in value:
        return _read_completion(check, value, path)
    named = value.get("id") is not None or value.get("uid") is not None
    if "parts" in value and not isinstance(value.get("content"), Mapping):
        return Incoming(read_ui(check, value, path), named)
    if _is_stored(value):
        return Incoming(_read_stored(check, value, path), named)
    message = read_openai(check, value, path)
    if named:
        message.id = check.identifier(value.get("id"), f"{path}.id") or ""
    return Incoming(message, named)


def _read_completion(check: Check, value: Mapping[str, Any], path: str) -> Incoming | None:
    """The first choice of a chat completion: with `n` there are others, of which none was said."""
    choices = value["choices"]
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping):
        check.fail(f"{path}.choices", "must be a list, and the first of it hold a `message`")
        return None
    return Incoming(read_openai(check, message, f"{path}.choices[0].message"), named=False)


def _is_stored(value: Mapping[str, Any]) -> bool:
    """The message has the shape of the store: format 2, a name that OpenAI does not know, or parts that
    it does not."""
    content = value.get("content")
    if isinstance(content, Mapping) or not STORED_KEYS.isdisjoint(value):
        return True
    return isinstance(content, list | tuple) and any(
        isinstance(part, Mapping)
        and part.get("type") in ("tool-invocation", "tool-call", "tool-result", "file")
        and CONTENT_KEYS.get(part["type"]) not in part
        for part in content
    )


def _read_stored(check: Check, value: Mapping[str, Any], path: str) -> ChatMessage:
    """As `save_messages` reads it, except that a thread need not be named."""
    given = check.mapping(value, path, ("id", "uid", "role", "content", *STORED_NAMES), strict=False)
    fields: dict[str, Any] = {}
    for name, field in (
        ("id", "id"),
        ("uid", "id"),
        ("thread_id", "thread_id"),
        ("resource_id", "resource_id"),
    ):
        if name in given and given[name].value is not None:
            fields[field] = check.identifier(*given[name])
    if "created_at" in given and given["created_at"].value is not None:
        fields["created_at"] = check.date(*given["created_at"])
    kind = given.get("type", Given("", f"{path}.type"))
    if kind.value not in (None, "v2"):
        fields["type"] = check.text(*kind)
        if isinstance(kind.value, str) and len(kind.value) > MAX_TYPE_LENGTH:
            check.fail(kind.path, f"must have at most {MAX_TYPE_LENGTH} characters")
    raw = given.get("content", Given(None, f"{path}.content"))
    role = check.choice(*given.get("role", Given(None, f"{path}.role")), ROLES) or "user"
    if role == "tool" and isinstance(raw.value, list | tuple):
        role = "assistant"
    content = normalise_content(check, *raw)
    body = {} if content is None else dict(content.body)
    if "metadata" in body and content is not None:
        body["metadata"] = content.metadata
    return ChatMessage(role=role, content=body, **fields)
