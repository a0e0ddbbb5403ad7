"""Changes merged into what is stored: content (contract section 3) and working memory (section 5)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from memory.content.json import clean_json, merge_metadata
from memory.content.normalise import Content
from memory.content.text import parts_text
from memory.validation import Check


def merge_content(stored: Content, update: Content, named: Collection[str], path: str) -> Content:
    """`update` laid over `stored`: shallow for the body, key by key for metadata.

    Args:
        stored: what the row holds.
        update: the change, normalised.
        named: the keys that the change names.
        path: where the change was given.

    Naming only one of `parts` and `content` brings the text of the other along, so that one text is
    stored.

    Raises:
        RecallError: the metadata together exceed ``MAX_METADATA``.
    """
    changes = {key: value for key, value in update.body.items() if key in named}
    body = {**stored.body, **changes}
    if "parts" in changes and "content" not in changes and isinstance(body.get("content"), str):
        body["content"] = parts_text(body["parts"])
    elif isinstance(changes.get("content"), str) and "parts" not in changes:
        body["parts"] = _with_text(body["parts"], body["content"])
    if "metadata" in update.body:
        body["metadata"] = {}
    return Content(body, merge_metadata(stored.metadata, update.metadata, f"{path}.metadata"))


def _with_text(parts: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """`parts` with `text` in the place of the first text part and the other text parts gone."""
    replaced: list[dict[str, Any]] = []
    placed = False
    for part in parts:
        if part.get("type") != "text":
            replaced.append(part)
        elif not placed:
            replaced.append({**part, "text": text})
            placed = True
    return replaced if placed or not text else [*replaced, {"type": "text", "text": text}]


def merge_working_memory(stored: str, update: Mapping[str, Any]) -> str:
    """`update` merged deeply into stored JSON text: None deletes a key, lists and scalars replace.

    Stored text that is no JSON object, as it could be stored today, is started afresh. The result is
    compact JSON; an empty update changes nothing.
    """
    if not update:
        return stored
    check = Check()
    try:
        present = clean_json(check, json.loads(stored), "")
    except (ValueError, RecursionError):
        present = {}
    if check.issues:
        present = {}
    return json.dumps(_merge(present, update), ensure_ascii=False, separators=(",", ":"))


def _merge(present: Any, update: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(present) if isinstance(present, dict) else {}
    for key, value in update.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value) if isinstance(value, Mapping) else value
    return merged
