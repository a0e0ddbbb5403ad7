"""The cache of embeddings (case 31, issue 4 point 2)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from memory import Memory
from memory.embedders import embedders
from memory.embedders.cache import CachedVector, EmbeddingCache
from memory.managers.embedding import embed_chunks, embed_text
from tests.cases import message, save

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db


@pytest.fixture
def bound(settings: Any) -> Callable[[int], None]:
    def set_bound(most: int) -> None:
        settings.MEMORY = {**settings.MEMORY, "EMBEDDING_CACHE": most}

    return set_bound


def entry(number: int) -> CachedVector:
    return CachedVector(np.array([number], dtype=np.float32), number, True)


def kept(cache: EmbeddingCache, *texts: str) -> list[str]:
    return [text for text in texts if cache.get(text) is not None]


def test_case_31_texts_that_once_collided(embedder: HashEmbedder) -> None:
    """ "msg-4246" and "msg-268273" share a 32-bit hash; each has its own vector here."""
    one, other = (embed_text(embedder, text, "default").vectors[0] for text in ("msg-4246", "msg-268273"))
    again = [embed_text(embedder, text, "default").vectors[0] for text in ("msg-4246", "msg-268273")]
    assert list(one) != list(other)
    assert [list(vector) for vector in again] == [list(one), list(other)]
    assert embedder.calls == [["msg-4246"], ["msg-268273"]]


def test_case_31_the_cache_is_bounded(embedder: HashEmbedder) -> None:
    """2,000 texts leave 1,000 entries, in many calls or in one, and the newest."""
    for number in range(1_000):
        embed_chunks(embedder, [f"text {number}"], "default")
    embed_chunks(embedder, [f"text {number}" for number in range(1_000, 2_000)], "default")
    assert len(embedder.cache) == 1_000
    assert kept(embedder.cache, "text 0", "text 999", "text 1000", "text 1999") == ["text 1000", "text 1999"]


def test_the_least_recently_used_goes_first(bound: Callable[[int], None]) -> None:
    """Reading counts as use, and so does writing again."""
    bound(3)
    cache = EmbeddingCache()
    for number, text in enumerate(("a", "b", "c")):
        cache.set(text, entry(number))
    cache.get("a")
    cache.set("b", entry(9))
    cache.set("d", entry(3))
    assert kept(cache, "a", "b", "c", "d") == ["a", "b", "d"]
    found = cache.get("b")
    assert found is not None
    assert found.tokens == 9
    bound(1)
    cache.set("e", entry(4))
    assert (len(cache), kept(cache, "a", "b", "d", "e")) == (1, ["e"])
    cache.clear()
    assert len(cache) == 0


def test_no_cache(bound: Callable[[int], None]) -> None:
    """0: nothing is kept, and everything works as before."""
    bound(0)
    embedder: Any = embedders["default"]
    for _ in range(2):
        assert embed_text(embedder, "purple", "default").tokens == 1
    assert embedder.calls == [["purple"]] * 2
    assert len(embedder.cache) == 0


@pytest.mark.parametrize("wrong", ["\ud83d", "a\x00", ""])
def test_any_text_is_a_key(wrong: str) -> None:
    cache = EmbeddingCache()
    cache.set(wrong, entry(1))
    assert kept(cache, wrong, "other") == [wrong]


def test_the_tokens_of_a_repeated_query_are_the_same(
    embedder: HashEmbedder, on_commit: Callable[..., Any]
) -> None:
    """`usage` of a query from the cache, and of one whose text was embedded among others before."""
    with on_commit():
        save(message("m1", "purple plums"), message("m2", "gold figs and more"))
    memory = Memory(semantic_recall=True)
    for query, tokens in (("a new question", 3), ("purple plums", 2)):
        usages = [memory.recall("t", vector_search_string=query).usage for _ in range(3)]
        assert usages == [{"tokens": tokens}] * 3
    assert embedder.calls[1:] == [["a new question"], ["purple plums"]]


def test_searches_and_the_outbox_share_it(embedder: HashEmbedder, on_commit: Callable[..., Any]) -> None:
    """A question that becomes a message, and a message that becomes a question, cost one call."""
    memory = Memory(semantic_recall=True)
    with on_commit():
        save(message("m1", "purple"))
    memory.recall("t", vector_search_string="gold")
    with on_commit():
        save(message("m2", "gold"))
    memory.recall("t", vector_search_string="purple")
    assert embedder.calls == [["purple"], ["gold"]]


def test_another_embedder_has_another_cache(settings: Any) -> None:
    entry_of = settings.MEMORY["EMBEDDERS"]["default"]
    settings.MEMORY = {**settings.MEMORY, "EMBEDDERS": {"default": entry_of, "small": entry_of}}
    assert embedders["default"].cache is embedders["default"].cache
    assert embedders["default"].cache is not embedders["small"].cache


def test_threads_share_it_safely(bound: Callable[[int], None]) -> None:
    """Many threads read and write; it stays bounded, and no text gets the vector of another."""
    bound(50)
    cache = EmbeddingCache()

    def work(start: int) -> list[int]:
        wrong = []
        for number in range(start, start + 400):
            cache.set(str(number % 97), entry(number % 97))
            found = cache.get(str(number * 7 % 97))
            if found is not None and found.tokens != number * 7 % 97:
                wrong.append(number)
        return wrong

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(0, 800, 100))) == [[]] * 8
    assert len(cache) == 50
