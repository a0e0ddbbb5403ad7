"""Messages in the shape of the store, as short as they can be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 1, 31, 9, tzinfo=UTC)


def said(uid: str, text: str = "Hello", *, role: str = "user", minute: int | None = None, **keys: Any) -> Any:
    """A message in the shape of the store."""
    content = {"format": 2, "parts": [{"type": "text", "text": text}], **keys}
    date = {} if minute is None else {"created_at": START + timedelta(minutes=minute)}
    return {"id": uid, "role": role, "content": content, **date}


def call(state: str, *, uid: str = "c", **keys: Any) -> dict[str, Any]:
    """The part of a tool call."""
    base = {"state": state, "toolCallId": uid, "toolName": "weather", "args": {"city": "Seoul"}}
    return {"type": "tool-invocation", "toolInvocation": {**base, **keys}}


def calling(uid: str, *parts: dict[str, Any], minute: int | None = None) -> dict[str, Any]:
    """An assistant message of these parts."""
    message: dict[str, Any] = said(uid, role="assistant", minute=minute)
    message["content"]["parts"] = list(parts)
    return message


def ids(messages: Any) -> list[str]:
    """The ids, in order."""
    return [message.id for message in messages]
