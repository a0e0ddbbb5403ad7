"""Notes in a part's provider metadata: what the OpenAI format says and format 2 has no field for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Not the `openai` of the AI SDK, which it would send on to that provider.
NAMESPACE = "openaiChat"


def notes_of(part: Mapping[str, Any]) -> dict[str, Any]:
    """The notes of a part; they are part of it, so that what is dropped takes its own along."""
    providers = part.get("providerMetadata")
    notes = providers.get(NAMESPACE) if isinstance(providers, Mapping) else None
    return dict(notes) if isinstance(notes, Mapping) else {}


def with_notes(part: Mapping[str, Any], **notes: Any) -> dict[str, Any]:
    """`part` with those of `notes` that say something."""
    said = {name: note for name, note in notes.items() if note not in (None, False, {})}
    if not said:
        return dict(part)
    providers = noted(part, "providerMetadata")
    return {**part, "providerMetadata": {**providers, NAMESPACE: {**notes_of(part), **said}}}


def noted(notes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object among the notes; a client may have sent anything in its place."""
    found = notes.get(name)
    return dict(found) if isinstance(found, Mapping) else {}


def given_keys(mapping: Mapping[str, Any], *used: str) -> dict[str, Any]:
    """The other keys of an object with their values; null is how the format writes "not given"."""
    return {key: value for key, value in mapping.items() if key not in used and value is not None}
