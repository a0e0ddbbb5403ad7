"""Section C of the public bug reports: recall by meaning, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.exceptions import RecallError, SemanticRecallNotConfigured
from memory.models import Embedding, EmbeddingSpace
from tests.cases import (
    HITS_ONLY,
    at,
    found,
    message,
    names,
    numbered,
    save,
    uids,
    words_apart,
)

if TYPE_CHECKING:
    from pytest_django import Settings

    from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db

OnCommit = Callable[..., Any]


def dimensions(number: int) -> dict[str, Any]:
    """The setting MEMORY with an embedder of so many dimensions."""
    backend = "tests.embedders.hashing.HashEmbedder"
    return {"EMBEDDERS": {"default": {"BACKEND": backend, "OPTIONS": {"dimensions": number}}}}


def test_case_23_a_search_reads_no_history(on_commit: OnCommit, count_queries: Callable[..., Any]) -> None:
    """Rule 6: with history off, one hit without neighbours is one row, however long the thread is."""
    with on_commit():
        numbered(50)
        save(message("hit", "purple rain", created_at=at(51)))
    options = {"last_messages": 0, "semantic_recall": {"top_k": 1, "message_range": 0}}
    search = {"resource_id": "r", "vector_search_string": "purple rain", "thread_config": options}
    with count_queries(at_most=6) as short:
        assert uids(Memory().recall("t", **search)) == ["hit"]
    with on_commit():
        save(*(message(f"n{n}", created_at=at(n)) for n in range(950)))
    with count_queries() as long:
        result = Memory().recall("t", **search)
    assert uids(result) == ["hit"]
    assert len(long) == len(short)
    assert (result.total, result.has_more, result.pending_embeddings) == (0, False, 0)
    assert result.messages[0].recall.sources == {"semantic"}


def test_case_24_threshold(on_commit: OnCommit) -> None:
    """Rule 6: similarity >= threshold, after rounding to 6 decimals."""
    a, b = words_apart(2)
    with on_commit():
        save(message("low", " ".join([a] * 3 + [b] * 4)), message("high", " ".join([a] * 4 + [b] * 3)))
    for threshold, expected in (
        (None, {"low", "high"}),
        (0, {"low", "high"}),
        (0.6, {"low", "high"}),
        (0.600001, {"high"}),
        (0.7, {"high"}),
        (0.8, {"high"}),
        (0.800001, set()),
        (1, set()),
    ):
        assert set(found(a, threshold=threshold, top_k=2)) == expected, threshold
    assert found(f"{a} {b}", threshold=1) == []
    assert found(" ".join([a] * 4 + [b] * 3), threshold=1) == ["high"]
    options = {**HITS_ONLY, "semantic_recall": {"message_range": 0}}
    result = Memory().recall("t", vector_search_string=a, thread_config=options)
    assert {row.uid: row.recall.similarity for row in result} == {"low": 0.6, "high": 0.8}


@pytest.mark.parametrize("threshold", [-0.1, 1.1, 90, "0.5", True, float("nan"), float("inf"), []])
def test_case_24_what_is_no_threshold(threshold: Any) -> None:
    with pytest.raises(RecallError) as caught:
        found("x", threshold=threshold)
    assert [issue.field for issue in caught.value.issues] == ["thread_config.semantic_recall.threshold"]


def test_case_24_ties_go_to_the_newest(on_commit: OnCommit) -> None:
    """Rule 6; equal dates too: the one saved last is the newest."""
    with on_commit():
        save(*(message(f"m{n}", "purple rain", created_at=at(n)) for n in (1, 3, 2)))
        save(*(message(f"e{n}", "green rain", created_at=at(0)) for n in (1, 2, 3)))
    assert found("purple rain", top_k=2, threshold=0.9) == names(3, 2)
    assert found("green rain", top_k=1, threshold=0.9) == ["e3"]


@pytest.mark.parametrize("number", [3, 384, 1536])
def test_case_25_any_number_of_dimensions(number: int, settings: Settings, on_commit: OnCommit) -> None:
    """What is written with an embedder is found with it."""
    settings.MEMORY = dimensions(number)
    with on_commit():
        save(message("m1", "purple rain"))
    assert found("purple rain") == names(1)


def test_case_25_another_embedder_is_a_clear_error(settings: Settings, on_commit: OnCommit) -> None:
    """Section 4: nothing is mixed or silently empty; history and saving go on."""
    settings.MEMORY = dimensions(384)
    with on_commit():
        save(message("m1", "purple rain", created_at=at(1)))
    settings.MEMORY = dimensions(64)
    with on_commit():
        save(message("m2", "purple rain", created_at=at(2)))
    with pytest.raises(SemanticRecallNotConfigured) as caught:
        found("purple rain")
    assert "384" in str(caught.value)
    assert "manage.py embed_messages" in str(caught.value)
    assert uids(Memory().recall("t", resource_id="r")) == names(2, 1)
    assert list(Embedding.objects.values_list("message__uid", flat=True)) == names(1)
    settings.MEMORY = dimensions(384)
    assert found("purple rain") == names(1)


def test_case_25_no_embedder_is_a_clear_error(settings: Settings) -> None:
    """Rule 6; without a search string nothing is asked of the embedder."""
    settings.MEMORY = {"EMBEDDERS": {}}
    numbered(1)
    with pytest.raises(SemanticRecallNotConfigured):
        found("purple")
    result = Memory(semantic_recall=True).recall("t", resource_id="r")
    assert (uids(result), result.usage) == (names(1), None)


def test_case_41_the_very_first_search(embedder: HashEmbedder) -> None:
    """No space, no vectors: no hits and no exception, in an empty thread, a new one and another scope."""
    Memory().create_thread("r", thread_id="t")
    for thread, scope in (("t", "resource"), ("t", "thread"), ("new", "resource")):
        assert found("purple", thread=thread, scope=scope) == []
    assert found("purple", thread="new", resource=None) == []
    numbered(2)
    result = Memory(semantic_recall=True).recall("t", resource_id="r", vector_search_string="purple")
    assert (uids(result), result.pending_embeddings) == (names(2, 1), 2)


def test_case_47_defaults() -> None:
    """Section 1: every default of a recall without options."""
    config = Memory().config()
    assert (config.last_messages, config.semantic_recall, config.generate_title) == (10, None, None)
    assert (config.working_memory.enabled, config.working_memory.scope) == (False, "resource")
    assert config.read_only is False
    semantic = Memory(semantic_recall=True).config().semantic_recall
    assert semantic is not None
    assert (semantic.top_k, semantic.before, semantic.after) == (4, 2, 2)
    assert (semantic.scope, semantic.threshold) == ("resource", None)
    assert Memory(semantic_recall={"top_k": 1}).config().semantic_recall is not None


def test_case_47_defaults_at_work(embedder: HashEmbedder, on_commit: OnCommit) -> None:
    """10 messages, no search; switched on: 4 hits of all threads of the owner, with 2 neighbours each."""
    with on_commit():
        numbered(12)
        for number in range(1, 6):
            rows = [message(f"h{number}-{n}", thread=f"h{number}", created_at=at(n)) for n in range(7)]
            rows[3]["content"] = "purple rain"
            save(*rows)
    embedder.calls.clear()
    result = Memory().recall("t", resource_id="r", vector_search_string="purple rain")
    assert uids(result) == names(*range(12, 2, -1))
    assert (embedder.calls, result.usage, result.pending_embeddings) == ([], None, 0)
    result = Memory(semantic_recall=True).recall("t", resource_id="r", vector_search_string="purple rain")
    hits = {row.uid for row in result if "semantic" in row.recall.sources}
    # All five have the same date: the ones saved last are the newest.
    assert hits == {f"h{number}-3" for number in range(2, 6)}
    context = {row.uid for row in result if row.recall.sources == {"context"}}
    assert context == {f"{hit[:2]}-{n}" for hit in hits for n in (1, 2, 4, 5)}
    assert [row.uid for row in result if row.thread.uid == "t"] == names(*range(12, 2, -1))
    assert result.usage == {"tokens": 2}


@pytest.mark.parametrize("blank", ["", "   ", "\n\t ", "\u3000"])
def test_case_49_a_blank_search_is_no_search(blank: str, embedder: HashEmbedder) -> None:
    """Rule 6: no embedder call, no usage, no space."""
    Memory().create_thread("r", thread_id="t")
    without = Memory(semantic_recall=True).recall("t", resource_id="r")
    result = Memory(semantic_recall=True).recall("t", resource_id="r", vector_search_string=blank)
    assert (result.messages, result.usage) == (without.messages, without.usage) == ([], None)
    assert result.pending_embeddings == 0
    assert embedder.calls == []
    assert EmbeddingSpace.objects.count() == 0
