"""What a turn refuses, and what it leaves behind when something breaks between its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from memory import Memory
from memory.exceptions import RecallError
from memory.models import Message
from memory.processors import RequestContext, SemanticRecall
from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db


def test_a_new_conversation_needs_an_owner() -> None:
    """Told before the model is asked, not when its answer is to be stored."""
    with pytest.raises(RecallError) as caught:
        Memory().turn()
    assert [issue.field for issue in caught.value.issues] == ["resource_id"]


def test_an_answer_is_stored_before_it_is_embedded(
    embedder: HashEmbedder, on_commit: Callable[..., AbstractContextManager[Any]]
) -> None:
    """No network call comes between an answer and its row; each text is embedded once."""
    memory = Memory(semantic_recall=True)
    with on_commit():
        with memory.turn(thread_id="t", resource_id="r") as turn:
            turn.user("where is my parcel")
            turn.messages()
            turn.response("on its way")
        assert Message.objects.count() == 2
        assert embedder.calls == []
    assert sorted(text for call in embedder.calls for text in call) == ["on its way", "where is my parcel"]


def test_a_retry_completes_the_answer_with_history_off() -> None:
    memory = Memory(last_messages=0)

    def pieces() -> Iterator[Any]:
        yield {"choices": [{"delta": {"role": "assistant", "content": "part"}, "finish_reason": None}]}
        raise ConnectionError

    with pytest.raises(ConnectionError), memory.turn(thread_id="t", resource_id="r") as turn:  # noqa: PT012
        turn.user("q", id="q")
        turn.messages()
        turn.response(pieces())
    with memory.turn(thread_id="t", resource_id="r") as turn:
        turn.user("q", id="q")
        turn.messages()
        turn.response("whole")
    stored = [(row.role, row.text, row.metadata) for row in Message.objects.order_by("created_at", "pk")]
    assert stored == [("user", "q", {}), ("assistant", "whole", {})]


def test_a_stopped_stream_is_closed() -> None:
    closed = []

    def pieces() -> Iterator[Any]:
        try:
            while True:
                yield {"choices": [{"delta": {"content": "x"}, "finish_reason": None}]}
        finally:
            closed.append(True)

    source = pieces()
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("q")
        for _ in turn.stream(source):
            break
    assert closed == [True]


def test_options_of_a_run_reach_a_processor_by_hand(embedder: HashEmbedder) -> None:
    context = RequestContext(thread_id="t", resource_id="r", thread_config={"semantic_recall": False})
    Memory().create_thread("r", thread_id="t")
    SemanticRecall().process_input(["a question"], request_context=context)
    assert embedder.calls == []
    wrong = RequestContext(thread_id="t", resource_id="r", thread_config={"bogus": 1})
    with pytest.raises(RecallError):
        SemanticRecall().process_input(["a question"], request_context=wrong)


def test_a_picture_costs_no_more_than_a_picture() -> None:
    memory = Memory(last_messages=50)
    memory.save_messages(
        [{"thread_id": "t", "role": "user", "content": f"said {n}"} for n in range(6)],
        create_thread=True,
        resource_id="r",
    )
    url = "data:image/png;base64," + "A" * 200_000
    with memory.turn(thread_id="t", resource_id="r", max_tokens=8_000) as turn:
        turn.user([{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": url}}])
        assert len(turn.messages()) == 7


def test_versions_of_other_owners_are_never_listed() -> None:
    thread_scope = {"enabled": True, "scope": "thread"}
    writer = Memory(working_memory=thread_scope)
    for owner in ("alice", "bob"):
        writer.create_thread(owner, thread_id=owner)
        writer.update_working_memory(f"of {owner}", thread_id=owner)
    assert Memory().list_working_memory_versions() == []
    assert Memory().list_working_memory_versions(thread_id="alice") == []
    assert [version.value for version in writer.list_working_memory_versions(thread_id="alice")] == [
        "of alice"
    ]
