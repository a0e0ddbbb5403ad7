"""Every JSON document comes back as it went in (contract section 3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings

from memory import Memory
from tests.properties.documents import documents, objects, same_json, storable, stored, texts
from tests.properties.histories import fresh


def saved(content: Any, role: str = "user") -> Any:
    """A message saved with `content`, read again by its id."""
    uid = fresh("message")
    message = {"id": uid, "thread_id": fresh("thread"), "role": role, "content": content}
    Memory().save_messages([message], create_thread=True, resource_id="owner")
    (read,) = Memory().get_messages([uid])
    return read


@pytest.mark.django_db
@settings(max_examples=60)
@example(document={"\x00": "\x00", "\ufffd": "\ud800"})
@example(document=["\ud83d\ude00", "\ude00\ud83d", 1e300, 10**300, -0.0, 5e-324, 2**63, "\\u0000"])
@given(document=documents)
def test_content_round_trips(document: Any) -> None:
    """In a part of an unknown type and under an unknown key of the content."""
    parts = [{"type": "data-x", "data": document}, {"type": "text", "text": "t", "extra": document}]
    content = saved({"format": 2, "parts": parts, "more": document}).content
    assert content["format"] == 2
    assert same_json(content["parts"], stored(parts))
    assert same_json(content["more"], stored(document))


@pytest.mark.django_db
@settings(max_examples=60)
@given(metadata=objects)
def test_message_metadata_round_trips(metadata: dict[str, Any]) -> None:
    """Only `content.metadata` is the message's metadata, and it stays in the content."""
    message = saved({"format": 2, "parts": [{"type": "text", "text": "t"}], "metadata": metadata})
    assert same_json(message.metadata, stored(metadata))
    assert same_json(message.content["metadata"], stored(metadata))


@pytest.mark.django_db
@settings(max_examples=60)
@given(first=objects, second=objects, title=texts)
def test_thread_metadata_round_trips_and_merges(
    first: dict[str, Any], second: dict[str, Any], title: str
) -> None:
    """`update_thread` in Python merges key by key; titles are made storable like all text."""
    thread = Memory().create_thread("owner", metadata=first).uid
    read = Memory().get_thread(thread)
    assert read is not None
    assert same_json(read.metadata, stored(first))
    Memory().update_thread(thread, title=title, metadata=second)
    read = Memory().get_thread(thread)
    assert read is not None
    assert same_json(read.metadata, {**stored(first), **stored(second)})
    assert read.title == storable(title)


@pytest.mark.django_db
@settings(max_examples=60)
@given(text=texts.filter(lambda text: text.strip()))
def test_text_is_stored_as_it_came(text: str) -> None:
    """Never trimmed; NUL and lone surrogates become U+FFFD in every form a text comes in."""
    for content in (text, [{"type": "text", "text": text}], {"format": 2, "parts": [], "content": text}):
        message = saved(content)
        assert message.text == storable(text)
        assert message.role == "user"


@pytest.mark.django_db
@settings(max_examples=60)
@given(metadata=objects, changes=objects)
def test_update_merges_metadata(metadata: dict[str, Any], changes: dict[str, Any]) -> None:
    """A metadata-only update merges key by key and leaves the text alone."""
    message = saved({"format": 2, "parts": [{"type": "text", "text": "t"}], "metadata": metadata})
    Memory().update_messages([{"id": message.uid, "content": {"metadata": changes}}])
    (read,) = Memory().get_messages([message.uid])
    assert same_json(read.metadata, {**stored(metadata), **stored(changes)})
    assert read.text == "t"
