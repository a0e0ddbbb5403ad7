"""Rows written as any Django app writes them: derived columns and vectors follow (section 4)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from memory import Memory
from memory.exceptions import RecallError
from memory.models import Embedding, EmbeddingJob, Message, Resource, Thread
from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db

OnCommit = Callable[..., AbstractContextManager[list[Callable[[], Any]]]]


@pytest.fixture
def thread() -> Thread:
    Memory().create_thread("r1", thread_id="t1")
    return Thread.objects.get(uid="t1")


def found(text: str, thread_id: str = "t1", **options: Any) -> list[str]:
    """Ids of the hits for a text, best first."""
    result = Memory(semantic_recall={"threshold": 0.9, "message_range": 0, **options}).recall(
        thread_id, vector_search_string=text, per_page=0
    )
    return [message.uid for message in result]


@pytest.mark.smoke
def test_create_fills_derived_columns_and_is_embedded(
    thread: Thread, embedder: HashEmbedder, on_commit: OnCommit
) -> None:
    with on_commit():
        message = Message.objects.create(thread=thread, role="user", content="purple rain")
    assert message.text == "purple rain"
    assert message.body == {
        "format": 2,
        "parts": [{"type": "text", "text": "purple rain"}],
        "content": "purple rain",
    }
    assert message.created_at is not None
    assert found("purple rain") == [message.uid]
    assert embedder.calls[0] == ["purple rain"]


def test_content_and_metadata_are_one_on_the_way_out(thread: Thread) -> None:
    message = Message(thread=thread, role="user", content="hi", metadata={"k": 1})
    assert message.content["metadata"] == {"k": 1}
    message.content = {"format": 2, "parts": [], "metadata": {}}
    assert message.content == {"format": 2, "parts": [], "metadata": {}}
    message.content = [{"type": "text", "text": "a"}]
    assert message.content == {"format": 2, "parts": [{"type": "text", "text": "a"}]}


def test_assigning_no_content_is_refused(thread: Thread) -> None:
    with pytest.raises(RecallError) as caught:
        Message(thread=thread, role="user", content=7)
    assert [issue.field for issue in caught.value.issues] == ["content"]
    message = Message(thread=thread, role="user", body={"parts": [{"type": "text"}]})
    with pytest.raises(ValidationError):
        message.full_clean()
    with pytest.raises(RecallError):
        message.save()


def test_what_cannot_be_stored_is_replaced_on_save(thread: Thread) -> None:
    body = {"format": 2, "parts": [{"type": "text", "text": "a\x00b"}], "k\x00": "\ud800"}
    message = Message.objects.create(thread=thread, role="user", body=body, metadata={"m": "\x00"})
    message.refresh_from_db()
    assert message.text == "a\ufffdb"
    assert message.body["k\ufffd"] == "\ufffd"
    assert message.metadata == {"m": "\ufffd"}


def test_save_follows_an_edit_and_drops_the_vector_of_a_cleared_text(
    thread: Thread, on_commit: OnCommit
) -> None:
    with on_commit():
        message = Message.objects.create(thread=thread, role="user", content="purple")
    with on_commit():
        message.content = "green"
        message.save(update_fields=["body"])
    assert (found("purple"), found("green")) == ([], [message.uid])
    with on_commit():
        message.content = ""
        message.save()
    assert Embedding.objects.count() == 0
    assert EmbeddingJob.objects.count() == 0


def test_bulk_paths_are_followed(thread: Thread, embedder: HashEmbedder, on_commit: OnCommit) -> None:
    with on_commit():
        messages = Message.objects.bulk_create(
            [Message(thread=thread, role="user", content=text) for text in ("red", "blue")]
        )
    assert found("blue") == [messages[1].uid]
    with on_commit():
        for message in messages:
            message.content = f"dark {message.text}"
        Message.objects.bulk_update(messages, ["body"])
    assert (found("blue"), found("dark blue")) == ([], [messages[1].uid])
    with on_commit():
        Message.objects.filter(pk=messages[0].pk).update(body={"format": 2, "parts": [], "content": "gold"})
    assert found("gold") == [messages[0].uid]
    with on_commit():
        Message.objects.filter(pk=messages[0].pk).update(metadata={"k": 1})
    assert [call for call in embedder.calls if "gold" in call] == [["gold"]]


def test_bulk_create_with_conflicts_is_followed(thread: Thread, on_commit: OnCommit) -> None:
    with on_commit():
        Message.objects.create(uid="m1", thread=thread, role="user", content="old")
    with on_commit():
        Message.objects.bulk_create(
            [Message(uid="m1", thread=thread, role="user", content="new")],
            update_conflicts=True,
            unique_fields=["uid"],
            update_fields=["body", "text"],
        )
    assert (found("old"), found("new")) == ([], ["m1"])


def test_update_of_a_body_expression_needs_its_text(thread: Thread) -> None:
    from django.db.models import F

    with pytest.raises(TypeError, match="needs text="):
        Message.objects.filter(thread=thread).update(body=F("metadata"))


@pytest.mark.parametrize("bulk", [True, False])
def test_a_move_takes_the_vectors_along(
    bulk: bool, thread: Thread, embedder: HashEmbedder, on_commit: OnCommit
) -> None:
    Memory().create_thread("r2", thread_id="t2")
    other = Thread.objects.get(uid="t2")
    with on_commit():
        message = Message.objects.create(thread=thread, role="user", content="purple")
    calls = len(embedder.calls)
    with on_commit():
        if bulk:
            Message.objects.filter(pk=message.pk).update(thread=other)
        else:
            message.thread = other
            message.save()
    assert len(embedder.calls) == calls
    assert (found("purple", "t1"), found("purple", "t2")) == ([], [message.uid])


@pytest.mark.parametrize("bulk", [True, False])
def test_a_transfer_takes_the_vectors_along(bulk: bool, thread: Thread, on_commit: OnCommit) -> None:
    with on_commit():
        message = Message.objects.create(thread=thread, role="user", content="purple")
    owner = Resource.objects.ensure("r2")
    if bulk:
        Thread.objects.filter(pk=thread.pk).update(resource=owner)
    else:
        thread.resource = Resource.objects.get(uid="r2")
        thread.save()
    assert Embedding.objects.get().resource_id == owner.pk
    assert found("purple", scope="resource") == [message.uid]


def test_the_same_text_costs_one_call(thread: Thread, embedder: HashEmbedder, on_commit: OnCommit) -> None:
    with on_commit():
        Memory().save_messages([{"thread_id": "t1", "role": "user", "content": "thanks"} for _ in range(3)])
    with on_commit():
        Message.objects.create(thread=thread, role="user", content="thanks")
    assert embedder.calls == [["thanks"]]
    assert Embedding.objects.count() == 4


def test_one_wake_up_a_transaction(thread: Thread, embedder: HashEmbedder, on_commit: OnCommit) -> None:
    with on_commit() as callbacks:
        for number in range(5):
            Message.objects.create(thread=thread, role="user", content=f"number {number}")
    assert len(callbacks) == 1
    assert [len(call) for call in embedder.calls] == [5]
