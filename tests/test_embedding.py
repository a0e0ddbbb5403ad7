"""The outbox: failing embedders, repeated passes, the command (section 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from pytest_django import Settings

from memory import Memory
from memory.embedders import EmbedResult
from memory.embedding.worker import embed_messages
from memory.exceptions import EmbedderError, SemanticRecallNotConfigured
from memory.models import Embedding, EmbeddingJob, EmbeddingSpace, Message
from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db

OnCommit = Callable[..., AbstractContextManager[list[Callable[[], Any]]]]
POISON = "poison"


class FailingEmbedder(HashEmbedder):
    """Fails while `broken`, refuses a poisoned text for good."""

    broken = False

    def embed(self, texts: Sequence[str]) -> EmbedResult:
        # The test's own transaction holds no savepoint; one would be the app's.
        assert not connection.savepoint_ids, "the embedder was called in a transaction"
        if type(self).broken:
            raise EmbedderError("The service is down.", retryable=True)
        if POISON in texts:
            raise EmbedderError("The service refuses a text.", refused_input=True)
        return super().embed(texts)


@pytest.fixture
def failing(settings: Settings) -> type[FailingEmbedder]:
    FailingEmbedder.broken = False
    settings.MEMORY = {"EMBEDDERS": {"default": {"BACKEND": f"{__name__}.FailingEmbedder"}}}
    return FailingEmbedder


def save(*texts: str) -> None:
    Memory().save_messages(
        [{"thread_id": "t1", "role": "user", "content": text} for text in texts],
        create_thread=True,
        resource_id="r1",
    )


def pending() -> int:
    result = Memory(semantic_recall={"top_k": 1}).recall("t1", vector_search_string="x", per_page=0)
    return result.pending_embeddings


def test_a_failing_embedder_loses_no_save(failing: type[FailingEmbedder], on_commit: OnCommit) -> None:
    failing.broken = True
    with on_commit():
        save("one", "two")
    assert Message.objects.count() == 2
    jobs = list(EmbeddingJob.objects.all())
    assert [(job.attempts, job.error) for job in jobs] == [(1, "The service is down.")] * 2
    failing.broken = False
    assert pending() == 2
    assert embed_messages("default").embedded == 2
    assert (EmbeddingJob.objects.count(), pending()) == (0, 0)


def test_a_poisoned_text_fails_alone(failing: type[FailingEmbedder], on_commit: OnCommit) -> None:
    with on_commit():
        save("a", "b", POISON, "c", "d")
    assert Embedding.objects.count() == 4
    assert [job.message.text for job in EmbeddingJob.objects.select_related("message")] == [POISON]


def test_a_rolled_back_save_leaves_nothing_to_do(embedder: HashEmbedder, on_commit: OnCommit) -> None:
    with on_commit():
        save("kept")
        with transaction.atomic():
            save("lost")
            transaction.set_rollback(True)
    assert embedder.calls == [["kept"]]


def test_a_text_that_changed_meanwhile_is_not_stored(
    failing: type[FailingEmbedder], on_commit: OnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vectors are always those of the present text."""
    original = FailingEmbedder.embed

    def edit_meanwhile(self: FailingEmbedder, texts: Sequence[str]) -> EmbedResult:
        monkeypatch.setattr(FailingEmbedder, "embed", original)
        Message.objects.filter(uid="m1").update(body={"format": 2, "parts": [], "content": "new"})
        return original(self, texts)

    monkeypatch.setattr(FailingEmbedder, "embed", edit_meanwhile)
    with on_commit():
        Memory().save_messages(
            [{"id": "m1", "thread_id": "t1", "role": "user", "content": "old"}],
            create_thread=True,
            resource_id="r1",
        )
    embed_messages("default")
    hits = Memory(semantic_recall={"threshold": 0.9}).recall("t1", vector_search_string="new", per_page=0)
    assert [message.uid for message in hits] == ["m1"]
    assert Embedding.objects.count() == 1


def test_a_text_that_is_sent_by_a_command(settings: Settings, on_commit: OnCommit) -> None:
    settings.MEMORY = {**settings.MEMORY, "EMBED": "command"}
    with on_commit() as callbacks:
        save("one", "two", "three")
    assert callbacks == []
    out = StringIO()
    call_command("embed_messages", stdout=out)
    assert out.getvalue() == "3 of 3 messages embedded.\n"
    assert Embedding.objects.count() == 3


def test_missing_jobs_are_written(settings: Settings, on_commit: OnCommit) -> None:
    configured = settings.MEMORY
    settings.MEMORY = {"EMBEDDERS": {}}
    with on_commit():
        save("before", "any embedder")
    assert EmbeddingJob.objects.count() == 0
    settings.MEMORY = configured
    out = StringIO()
    call_command("embed_messages", missing=True, stdout=out)
    assert out.getvalue() == "2 jobs written.\n2 of 2 messages embedded.\n"
    call_command("embed_messages", missing=True, stdout=(out := StringIO()))
    assert out.getvalue() == "0 jobs written.\nNothing waits to be embedded.\n"


def test_the_command_tells_what_failed(failing: type[FailingEmbedder], on_commit: OnCommit) -> None:
    failing.broken = True
    with on_commit():
        save("one")
    with pytest.raises(CommandError, match=r"1 jobs are still open:\nThe service is down\."):
        call_command("embed_messages", stdout=StringIO())


def test_the_command_needs_an_embedder(settings: Settings) -> None:
    settings.MEMORY = {}
    with pytest.raises(CommandError, match="No embedder is configured"):
        call_command("embed_messages")


def test_another_model_is_an_error_until_the_space_is_replaced(
    settings: Settings, on_commit: OnCommit
) -> None:
    """Nothing is ever mixed or silently empty; saving goes on."""
    with on_commit():
        save("purple")
    settings.MEMORY = {
        "EMBEDDERS": {
            "default": {"BACKEND": "tests.embedders.hashing.HashEmbedder", "OPTIONS": {"dimensions": 32}}
        }
    }
    memory = Memory(semantic_recall={"threshold": 0.9})
    with pytest.raises(SemanticRecallNotConfigured, match=r"hash-64.*64 dimensions.*hash-32"):
        memory.recall("t1", vector_search_string="purple")
    with on_commit():
        save("green")
    assert Message.objects.count() == 2
    out = StringIO()
    call_command("embed_messages", replace="default", stdout=out)
    assert "Started the space default: hash-32 (32).\n2 jobs written.\n" in out.getvalue()
    hits = memory.recall("t1", vector_search_string="green", per_page=0)
    assert [message.text for message in hits if message.recall.similarity] == ["green"]
    states = EmbeddingSpace.objects.order_by("pk").values_list("model", "state")
    assert list(states) == [("hash-64", "retired"), ("hash-32", "active")]


def test_a_broken_configuration_fails_no_save(
    settings: Settings, on_commit: OnCommit, caplog: pytest.LogCaptureFixture
) -> None:
    settings.MEMORY = {"EMBEDDERS": {"default": {"BACKEND": "nowhere.Embedder"}}}
    with on_commit():
        save("kept")
    assert Message.objects.count() == 1
    assert "nowhere" in caplog.text
    assert "kept" not in caplog.text
    with pytest.raises(SemanticRecallNotConfigured, match="nowhere"):
        Memory(semantic_recall=True).recall("t1", vector_search_string="x")


def test_an_unknown_space_is_an_error(on_commit: OnCommit) -> None:
    with on_commit():
        save("one")
    with pytest.raises(SemanticRecallNotConfigured, match="elsewhere"):
        Memory(semantic_recall={"index_name": "elsewhere"}).recall("t1", vector_search_string="one")
