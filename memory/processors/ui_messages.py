"""The AI SDK's UI messages (version 5), from and to format 2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memory.conf import memory_settings
from memory.content.dates import wire_date
from memory.content.incoming import ROLES
from memory.processors.chat_message import ChatMessage, as_mapping
from memory.processors.ui_parts import OWN, from_ui_part, to_ui_part
from memory.validation import Check

UI_ROLES = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "assistant",
    "signal": "user",
}
# Keys of the metadata that are the message's own fields.
FIELDS = {"threadId": "thread_id", "resourceId": "resource_id"}
FIELD_KEYS = (*FIELDS, "createdAt")


def to_ui(messages: Iterable[ChatMessage]) -> list[dict[str, Any]]:
    """The messages for `useChat` and the like, in order.

    The metadata gains `createdAt`, `threadId` and `resourceId` where they are known, and under `format2`
    what the UI format has no place for, so that :func:`from_ui` loses nothing. Approvals, which version 5
    does not know, show as the nearest state: waiting for a result, or failed.
    """
    return [_write(message) for message in messages]


def _write(message: ChatMessage) -> dict[str, Any]:
    metadata = {key: value for key, value in message.metadata.items() if key not in (*FIELD_KEYS, OWN)}
    own: dict[str, Any] = {
        key: message.metadata[key] for key in (*FIELD_KEYS, OWN) if key in message.metadata
    }
    own = {"metadata": own} if own else {}
    content = {
        key: value for key, value in message.content.items() if key not in ("format", "parts", "metadata")
    }
    if content:
        own["content"] = content
    if UI_ROLES[message.role] != message.role:
        own["role"] = message.role
    if message.type:
        own["type"] = message.type
    for key, name in FIELDS.items():
        if getattr(message, name) is not None:
            metadata[key] = getattr(message, name)
    if message.created_at is not None:
        metadata["createdAt"] = wire_date(message.created_at)
    if own:
        metadata[OWN] = own
    shape: dict[str, Any] = {"id": message.id, "role": UI_ROLES[message.role]}
    if metadata or "metadata" in message.content:
        shape["metadata"] = metadata
    copied = message.copy().parts
    return {**shape, "parts": [to_ui_part(part) for part in copied]}


def from_ui(message: Any) -> ChatMessage:
    """The message of a UI message, a dict or an object that `model_dump` makes one of.

    Raises:
        RecallError: it is none.
    """
    check = Check()
    found = read_ui(check, as_mapping(message), "message")
    check.finish()
    found.normalise(check, "message")
    check.finish()
    return found


def read_ui(check: Check, message: Any, path: str) -> ChatMessage:
    """See :func:`from_ui`; issues are noted in `check`."""
    value = _as_dict(message)
    if not isinstance(message, Mapping):
        check.fail(path, "must be an object with `role` and `parts`")
    given = value.get("metadata")
    if given is not None and not isinstance(given, Mapping):
        check.fail(f"{path}.metadata", "must be an object")
    metadata = _as_dict(given)
    own = _as_dict(metadata.pop(OWN, None))
    fields: dict[str, Any] = {}
    for key, name in FIELDS.items():
        if metadata.get(key) is not None:
            fields[name] = check.identifier(metadata[key], f"{path}.metadata.{key}")
        metadata.pop(key, None)
    created_at = metadata.pop("createdAt", None) or value.get("createdAt")
    if created_at is not None:
        # As it came over the wire, where a date may be in epoch milliseconds.
        dates = Check(wire=True)
        fields["created_at"] = dates.date(created_at, f"{path}.metadata.createdAt")
        check.issues += dates.issues
    if value.get("id") is not None:
        fields["id"] = check.identifier(value["id"], f"{path}.id")
    role = check.choice(value.get("role"), f"{path}.role", ROLES) or "user"
    if own.get("role") in ROLES and UI_ROLES[own["role"]] == role:
        role = own["role"]
    content = _as_dict(own.get("content"))
    content |= {"format": 2, "parts": _read_parts(check, value, path), "metadata": None}
    metadata |= _as_dict(own.get("metadata"))
    if metadata or given == {}:
        content["metadata"] = metadata
    kind = own.get("type")
    return ChatMessage(role=role, content=content, type=kind if isinstance(kind, str) else "", **fields)


def _read_parts(check: Check, value: Mapping[str, Any], path: str) -> list[dict[str, Any]]:
    found = []
    for part, at in check.sequence(value.get("parts"), f"{path}.parts", maximum=memory_settings.MAX_PARTS):
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            check.fail(at, "must be an object with a `type`")
        else:
            found.append(from_ui_part(part))
    return found


def _as_dict(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
