"""Content as it comes from outside, normalised to format 2 (contract section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from memory.conf import memory_settings
from memory.content.json import clean_json, clean_metadata
from memory.content.text import text_of
from memory.validation import Check

FORMAT = 2


class Content(NamedTuple):
    """Format-2 content, with the metadata apart.

    Attributes:
        body: the content without the metadata's entries; the key `metadata` stands in it, empty, if
            metadata was given, so that it comes out again where it went in.
        metadata: the message's metadata.
    """

    body: dict[str, Any]
    metadata: dict[str, Any]


def empty_body() -> dict[str, Any]:
    """Content without parts."""
    return {"format": FORMAT, "parts": []}


def normalise_content(check: Check, value: Any, path: str) -> Content | None:
    """Format-2 content from an object, a plain string or a list of parts; None with an issue noted."""
    known = len(check.issues)
    if isinstance(value, str):
        value = {"parts": [{"type": "text", "text": value}], "content": value}
    elif isinstance(value, list | tuple):
        value = {"parts": _join_tool_parts(value)}
    elif not isinstance(value, Mapping):
        check.fail(path, "must be a string, a list of parts or an object with `format: 2` and `parts`")
        return None
    content = normalise_object(check, value, path)
    if content is None or len(check.issues) > known:
        return None
    return content


def normalise_object(check: Check, value: Mapping[str, Any], path: str) -> Content | None:
    """The object form; also what an update gives, where any key may be missing but `parts` is made."""
    metadata = value.get("metadata")
    given = {key: entry for key, entry in value.items() if key not in ("format", "metadata")}
    form = value.get("format", FORMAT)
    if not isinstance(form, int) or form != FORMAT:
        check.fail(f"{path}.format", "must be 2")
    mirror = given.get("content")
    if mirror is not None and not isinstance(mirror, str):
        check.fail(f"{path}.content", "must be a string")
        return None
    if "parts" not in given:
        given["parts"] = [{"type": "text", "text": mirror}] if mirror else []
    if not _parts_are_sound(check, given["parts"], f"{path}.parts"):
        return None
    body = clean_json(check, {"format": FORMAT, **given}, path)
    if metadata is not None:
        body["metadata"] = {}
        metadata = clean_metadata(check, metadata, f"{path}.metadata")
    text = text_of(body)
    if len(text) > memory_settings.MAX_TEXT:
        check.fail(path, f"must have at most {memory_settings.MAX_TEXT:,} characters of text")
    return Content(body, metadata or {})


def _parts_are_sound(check: Check, parts: Any, path: str) -> bool:
    known = len(check.issues)
    for part, at in check.sequence(parts, path, maximum=memory_settings.MAX_PARTS):
        if not isinstance(part, Mapping):
            check.fail(at, "must be an object with a `type`")
        elif not isinstance(part.get("type"), str):
            check.fail(f"{at}.type", "must be a string")
        elif part["type"] == "text" and not isinstance(part.get("text"), str):
            check.fail(f"{at}.text", "must be a string")
    return len(check.issues) == known


def _join_tool_parts(parts: list[Any] | tuple[Any, ...]) -> list[Any]:
    """`tool-call` and `tool-result` parts of the older wire format as `tool-invocation` parts; a result
    joins the call before it."""
    joined: list[Any] = []
    calls: dict[Any, dict[str, Any]] = {}
    for part in parts:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in ("tool-call", "tool-result"):
            joined.append(part)
            continue
        call_id = part.get("toolCallId")
        invocation = {"toolCallId": call_id, "toolName": part.get("toolName"), "args": part.get("args") or {}}
        if kind == "tool-call":
            invocation["state"] = "call"
        else:
            invocation |= {"state": "result", "result": part.get("result")}
            known = calls.get(call_id) if isinstance(call_id, str) else None
            if known is not None:
                known |= {"state": "result", "result": part.get("result")}
                continue
        if isinstance(call_id, str):
            calls[call_id] = invocation
        joined.append({"type": "tool-invocation", "toolInvocation": invocation})
    return joined
