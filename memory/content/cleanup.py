"""What a saved message never holds: working-memory blocks and calls of the working-memory tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.content.text import text_of

TOOL_NAMES = frozenset({"updateWorkingMemory", "update-working-memory", "setWorkingMemory"})
OPENING, CLOSING = "<working_memory>", "</working_memory>"


def clean_body(body: dict[str, Any]) -> dict[str, Any]:
    """`body` without working memory (contract section 3); text is otherwise left as it came."""
    cleaned = dict(body)
    cleaned["parts"] = [_clean_part(part) for part in body["parts"] if not _is_tool_part(part)]
    if isinstance(body.get("content"), str):
        cleaned["content"] = strip_blocks(body["content"])
    if isinstance(body.get("toolInvocations"), list):
        cleaned["toolInvocations"] = [
            call
            for call in body["toolInvocations"]
            if not (isinstance(call, Mapping) and _is_tool_name(call.get("toolName")))
        ]
    return cleaned


def is_empty(body: Mapping[str, Any]) -> bool:
    """Nothing is left to store: no part and no text."""
    return not body["parts"] and not text_of(body)


def strip_blocks(text: str) -> str:
    """`text` without its closed working-memory blocks; an unclosed one stays."""
    kept: list[str] = []
    position = 0
    # A search of its own instead of a regular expression: linear for any number of unclosed openings.
    while (opening := text.find(OPENING, position)) >= 0:
        closing = text.find(CLOSING, opening)
        if closing < 0:
            break
        kept.append(text[position:opening])
        position = closing + len(CLOSING)
    return "".join(kept) + text[position:]


def _clean_part(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") == "text" and OPENING in part["text"]:
        return {**part, "text": strip_blocks(part["text"])}
    return part


def _is_tool_part(part: Mapping[str, Any]) -> bool:
    kind = part["type"]
    if kind == "tool-invocation":
        call = part.get("toolInvocation")
        return isinstance(call, Mapping) and _is_tool_name(call.get("toolName"))
    return _is_tool_name(kind.removeprefix("tool-"))


def _is_tool_name(name: Any) -> bool:
    return isinstance(name, str) and name in TOOL_NAMES
