"""Content of an OpenAI chat message, between its parts and those of format 2."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping, Sequence
from typing import Any

from memory.conf import memory_settings
from memory.processors.openai_notes import given_keys, noted, notes_of, with_notes
from memory.processors.ui_parts import file_url, media_type
from memory.validation import Check

# The parts of the request format, each with the key under which it holds its content.
CONTENT_KEYS = {
    "text": "text",
    "refusal": "refusal",
    "image_url": "image_url",
    "input_audio": "input_audio",
    "file": "file",
}
# A content part of another kind, as some servers know, travels whole in a data part.
OTHER = "data-openai-content"

Part = dict[str, Any]


def read_content(check: Check, content: Any, path: str) -> list[Part]:
    """The parts of a message's content: a string, a list of content parts, or nothing."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    found: list[Part] = []
    for value, at in check.sequence(content, path, maximum=memory_settings.MAX_PARTS):
        part = _read_part(check, value, at)
        if part is not None:
            found.append(part)
    # How it was written decides how it is written again, where both ways say the same.
    return [with_notes(part, list=number == 0) for number, part in enumerate(found)]


def _read_part(check: Check, value: Any, path: str) -> Part | None:
    kind = value.get("type") if isinstance(value, Mapping) else None
    if not isinstance(kind, str):
        check.fail(path, "must be an object with a `type`")
        return None
    if kind not in CONTENT_KEYS:
        return {"type": OTHER, "data": dict(value)}
    key = CONTENT_KEYS[kind]
    content = value.get(key)
    rest = given_keys(value, "type", key)
    if kind in ("text", "refusal"):
        if not isinstance(content, str):
            check.fail(f"{path}.{key}", "must be a string")
            return None
        refusal = "part" if kind == "refusal" else None
        return with_notes({"type": "text", "text": content}, refusal=refusal, rest=rest)
    if kind == "image_url" and isinstance(content, str):  # how some clients write it
        content = {"url": content}
    if not isinstance(content, Mapping):
        check.fail(f"{path}.{key}", "must be an object")
        return None
    readers = {"image_url": _read_image, "input_audio": _read_audio, "file": _read_file}
    part = readers[kind](check, content, f"{path}.{key}")
    return None if part is None else with_notes(part, type=kind, rest=rest)


def _read_image(check: Check, content: Mapping[str, Any], path: str) -> Part | None:
    url = content.get("url")
    if not isinstance(url, str):
        check.fail(f"{path}.url", "must be a string")
        return None
    part = {"type": "file", "mediaType": _type_of(url, "image/*"), "url": url}
    return with_notes(part, content=given_keys(content, "url"))


def _read_audio(check: Check, content: Mapping[str, Any], path: str) -> Part | None:
    data, form = content.get("data"), content.get("format")
    if not isinstance(data, str) or not isinstance(form, str):
        check.fail(path, "must have `data` and `format`, both strings")
        return None
    kind = "audio/mpeg" if form == "mp3" else f"audio/{form}"
    part = {"type": "file", "mediaType": kind, "url": f"data:{kind};base64,{data}"}
    return with_notes(part, content=given_keys(content, "data", "format"))


def _read_file(check: Check, content: Mapping[str, Any], path: str) -> Part | None:
    data, name, file_id = (content.get(key) for key in ("file_data", "filename", "file_id"))
    for key, value in (("file_data", data), ("filename", name), ("file_id", file_id)):
        if value is not None and not isinstance(value, str):
            check.fail(f"{path}.{key}", "must be a string")
            return None
    guessed = mimetypes.guess_type(name or "")[0] or "application/octet-stream"
    bare = data is not None and not data.startswith(("data:", "http:", "https:"))
    url = f"data:{guessed};base64,{data}" if bare else data or file_id or ""
    part: Part = {"type": "file", "mediaType": _type_of(url, guessed), "url": url}
    if name is not None:
        part["filename"] = name
    return with_notes(part, bare=bare, content=given_keys(content, "file_data", "filename"))


def _type_of(url: str, otherwise: str) -> str:
    head = url[5:].partition(",")[0].partition(";")[0] if url.startswith("data:") else ""
    return head or otherwise


def is_list(parts: Sequence[Part]) -> bool:
    """The content of `parts` came as a list."""
    return any(notes_of(part).get("list") is True for part in parts)


def write_user_content(parts: Sequence[Part]) -> str | list[Part] | None:
    """The content of a user message; None if nothing is left. Empty text is left out."""
    written = [content for part in parts if (content := write_part(part)) is not None]
    if len(written) == 1 and written[0].keys() == {"type", "text"} and not is_list(parts):
        text: str = written[0]["text"]
        return text
    return written or None


def write_part(part: Part) -> Part | None:
    """One content part; None for what the format has no part for."""
    kind, notes = part["type"], notes_of(part)
    rest = noted(notes, "rest")
    if kind == "text" and part["text"]:
        key = "refusal" if notes.get("refusal") else "text"
        return {**rest, "type": key, key: part["text"]}
    if kind == "file":
        return {**rest, **_write_file(part, notes)}
    if kind == OTHER and isinstance(part.get("data"), dict):
        return dict(part["data"])
    return None


def _write_file(part: Part, notes: Mapping[str, Any]) -> Part:
    url, media = file_url(part), media_type(part)
    kind = notes.get("type")
    content = noted(notes, "content")
    if kind == "image_url" or (kind is None and media.startswith("image/")):
        return {"type": "image_url", "image_url": {**content, "url": url}}
    data = url.partition(",")[2] if url.startswith("data:") else None
    if data is not None and (kind == "input_audio" or (kind is None and media.startswith("audio/"))):
        form = media.partition("/")[2].removeprefix("x-")
        form = "mp3" if form == "mpeg" else form
        return {"type": "input_audio", "input_audio": {**content, "data": data, "format": form}}
    name = part.get("filename")
    if kind is None and data is None:
        # The format takes no web address of a file; the model can still be told of it.
        return {"type": "text", "text": " ".join(word for word in (name, url) if isinstance(word, str))}
    if url != content.get("file_id") and url:
        content["file_data"] = data if notes.get("bare") and data is not None else url
    if isinstance(name, str):
        content["filename"] = name
    return {"type": "file", "file": content}
