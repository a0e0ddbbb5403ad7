"""Messages and changes as they come from outside, validated before anything is queried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory.conf import memory_settings
from memory.content.cleanup import clean_body, is_empty
from memory.content.normalise import Content, normalise_content, normalise_object
from memory.ids import uuid7
from memory.validation import Check, Given

STORED_ROLES = ("user", "assistant", "tool", "signal")
ROLES = (*STORED_ROLES, "system")
NAMES = ("id", "uid", "thread_id", "resource_id", "role", "type", "content", "created_at")
MAX_TYPE_LENGTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """One message to save; `created_at` None means now."""

    uid: str
    thread_uid: str
    resource_uid: str | None
    role: str
    type: str
    content: Content
    created_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingChange:
    """One change of a stored message; None = stays as it is. `path` tells where it was given."""

    path: str
    uid: str
    thread_uid: str | None = None
    resource_uid: str | None = None
    role: str | None = None
    type: str | None = None
    content: Content | None = None
    # The keys of `content` that were named.
    named: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        return (self.thread_uid, self.role, self.type, self.content) == (None, None, None, None)


def read_messages(check: Check, values: Sequence[Any]) -> list[IncomingMessage]:
    """Messages to store, in order, each id once: the last content at the first place and date.

    `system` messages and those left with neither part nor text are dropped (contract section 3). Over the
    wire each has to name its thread and its resource, and a thread only one resource.
    """
    found: dict[str, IncomingMessage] = {}
    owners: dict[str, str | None] = {}
    for given in check.sequence(values, "messages", maximum=memory_settings.MAX_MESSAGES):
        message = _read_message(check, *given)
        if message is None:
            continue
        first = found.get(message.uid)
        if first is not None and first.created_at is not None:
            message = replace(message, created_at=first.created_at)
        found[message.uid] = message
        if check.wire and owners.setdefault(message.thread_uid, message.resource_uid) != message.resource_uid:
            check.fail(f"{given.path}.resourceId", "differs from that of another message of the same thread")
    return list(found.values())


def read_changes(check: Check, values: Sequence[Any]) -> list[IncomingChange]:
    """Changes in order; unknown keys are ignored, as on messages."""
    found = []
    for value, path in check.sequence(values, "changes", maximum=memory_settings.MAX_MESSAGES):
        known = len(check.issues)
        given = check.mapping(value, path, NAMES, strict=False)
        if len(check.issues) > known:
            continue
        options: dict[str, Any] = {"path": path, "uid": _read_id(check, given, path, required=True)}
        for name, option in (("thread_id", "thread_uid"), ("resource_id", "resource_uid")):
            if name in given and given[name].value is not None:
                options[option] = check.identifier(*given[name])
        if "role" in given:
            options["role"] = check.choice(*given["role"], STORED_ROLES)
        if "type" in given:
            options["type"] = _read_type(check, given)
        if "content" in given:
            options |= _read_partial_content(check, *given["content"])
        if len(check.issues) == known:
            found.append(IncomingChange(**options))
    return found


def _read_message(check: Check, value: Any, path: str) -> IncomingMessage | None:
    known = len(check.issues)
    given = check.mapping(value, path, NAMES, strict=False)
    if len(check.issues) > known:
        return None
    uid = _read_id(check, given, path, required=False)
    thread = check.required(given, "thread_id", path)
    thread_uid = check.identifier(*thread) if thread else None
    owner = check.required(given, "resource_id", path) if check.wire else given.get("resource_id")
    resource_uid = None
    if owner is not None and (check.wire or owner.value is not None):
        resource_uid = check.identifier(*owner)
    role_given = check.required(given, "role", path)
    role = check.choice(*role_given, ROLES) if role_given else None
    kind = _read_type(check, given)
    created_at = None
    if "created_at" in given and given["created_at"].value is not None:
        created_at = check.date(*given["created_at"])
    raw = check.required(given, "content", path)
    content = normalise_content(check, *raw) if raw else None
    if raw is None or len(check.issues) > known or content is None or role is None or role == "system":
        return None
    body = clean_body(content.body)
    if is_empty(body):
        return None
    return IncomingMessage(
        uid=uid or uuid7(),
        thread_uid=thread_uid or "",
        resource_uid=resource_uid,
        role="assistant" if role == "tool" and isinstance(raw.value, list | tuple) else role,
        type=kind,
        content=Content(body, content.metadata),
        created_at=created_at,
    )


def _read_id(check: Check, given: dict[str, Given], path: str, *, required: bool) -> str | None:
    """The id, under the wire's name or the model's."""
    uid: Given = given.get("id") or given.get("uid") or Given(None, f"{path}.id")
    if uid.value is None and not required:
        return None
    return check.identifier(*uid)


def _read_type(check: Check, given: dict[str, Given]) -> str:
    """The free-text type of a message; the wire's own name for format 2, `v2`, says nothing."""
    kind_given: Given = given.get("type", Given(None, ""))
    if kind_given.value is None or (isinstance(kind_given.value, str) and kind_given.value == "v2"):
        return ""
    kind = check.text(*kind_given)
    if kind is not None and len(kind) > MAX_TYPE_LENGTH:
        check.fail(kind_given.path, f"must have at most {MAX_TYPE_LENGTH} characters")
    return kind or ""


def _read_partial_content(check: Check, value: Any, path: str) -> dict[str, Any]:
    """Content of a change: whole in the short forms, any keys in the object form."""
    if isinstance(value, Mapping):
        content, named = normalise_object(check, value, path), frozenset(value)
    else:
        content = normalise_content(check, value, path)
        named = frozenset(content.body) if content else frozenset()
    if content is None:
        return {}
    return {"content": Content(clean_body(content.body), content.metadata), "named": named}
