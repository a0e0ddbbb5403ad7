"""BaseEmbedder: what is checked whatever the backend, and the test double itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from memory.embedders import BaseEmbedder, EmbedResult
from memory.exceptions import EmbedderError
from tests.embedders.hashing import HashEmbedder, fnv1a, hash_vector, words


class Answering(BaseEmbedder):
    """Answers whatever it was made with."""

    model = "answering"
    dimensions = 2

    def __init__(self, vectors: Any) -> None:
        self.vectors = vectors

    def embed(self, texts: Any) -> EmbedResult:
        return EmbedResult(self.vectors, 3)


@pytest.mark.parametrize(
    "vectors",
    [[[1.0, 2.0]], [(1, 2)], [np.array([1.0, 2.0])], np.array([[1, 2]]), np.array([[1, 2]], np.float16)],
)
def test_lists_and_arrays_are_taken(vectors):
    result = Answering(vectors).embed_checked(["x"])
    assert result.tokens == 3
    (vector,) = result.vectors
    assert isinstance(vector, np.ndarray)
    assert vector.dtype == np.float32
    assert vector.tolist() == [1.0, 2.0]


def test_vectors_are_copies():
    """A vector that someone keeps must not keep those of the whole batch."""
    given = np.ones((1, 2), dtype=np.float32)
    (vector,) = Answering(given).embed_checked(["x"]).vectors
    assert not np.shares_memory(np.asarray(vector), given)


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([], "0 vectors for 1 texts"),
        ([[1.0, 2.0]] * 2, "2 vectors for 1 texts"),
        ([[1.0]], "1 dimensions; 2 are configured"),
        ([[]], "0 dimensions"),
        ([[[1.0, 2.0]]], "1 x 2 dimensions"),
        ([1.0], "no dimensions"),
        ([[1.0, math.nan]], "NaN or infinity"),
        ([[1.0, -math.inf]], "NaN or infinity"),
        ([[1.0, None]], "NaN or infinity"),
        ([[1.0, 1e39]], "NaN or infinity"),
        ([np.array([1.0, 1e39])], "NaN or infinity"),
        ([[1.0, 10**400]], "no list of numbers"),
        ([[1.0, "secret"]], "no list of numbers"),
        ([[1.0, [2.0]]], "no list of numbers"),
    ],
)
def test_unusable_vectors(vectors, said):
    with pytest.raises(EmbedderError, match=said) as caught:
        Answering(vectors).embed_checked(["x"])
    assert str(caught.value).startswith("answering answered")
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_no_texts_no_call():
    embedder = HashEmbedder()
    assert embedder.embed_checked([]) == EmbedResult([], 0)
    assert embedder.calls == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("가", 1), ("가나 다", 4), ("😀é", 2), ("\ud83dabcd", 2)],
)
def test_count_tokens(text, tokens):
    assert HashEmbedder().count_tokens(text) == tokens


def test_hash_embedder_is_the_known_function():
    assert [fnv1a(""), fnv1a("a"), fnv1a("foobar")] == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]
    assert list(words("It's ÉTÉ_2024, 보라색 코끼리!")) == ["it", "s", "été", "2024", "보라색", "코끼리"]
    assert hash_vector("?!", 4) == [0.0] * 4
    vector = hash_vector("purple purple elephants", 64)
    places = {"purple": fnv1a("purple"), "elephants": fnv1a("elephants")}
    for word, weight in (("purple", 2), ("elephants", 1)):
        sign = -1 if places[word] & 0x80000000 else 1
        assert vector[places[word] % 64] == sign * weight / math.sqrt(5)


def test_hash_embedder_records_its_calls():
    embedder = HashEmbedder(dimensions=8)
    assert (embedder.model, embedder.dimensions) == ("hash-8", 8)
    assert embedder.embed_checked(["one two", "three"]).tokens == 3
    embedder.embed(("four",))
    assert embedder.calls == [["one two", "three"], ["four"]]


def test_texts_whose_short_hashes_collide_get_their_own_vectors():
    first, second = HashEmbedder().embed_checked(["msg-4246", "msg-268273"]).vectors
    assert not np.array_equal(first, second)
