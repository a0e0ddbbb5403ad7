"""A deterministic embedder for tests: texts that share words have vectors that point the same way."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby

from memory.embedders.base import BaseEmbedder, EmbedResult


def words(text: str) -> Iterator[str]:
    """The runs of letters and numbers (Unicode categories L and N) of the lower-cased text."""
    for is_word, run in groupby(text.lower(), lambda character: unicodedata.category(character)[0] in "LN"):
        if is_word:
            yield "".join(run)


def fnv1a(word: str) -> int:
    """The 32-bit FNV-1a hash of the UTF-8 bytes of `word`."""
    value = 2_166_136_261
    for byte in word.encode():
        value = (value ^ byte) * 16_777_619 % 2**32
    return value


def hash_vector(text: str, dimensions: int) -> list[float]:
    """Each word counts 1 at the place its hash chooses, -1 where the hash has its highest bit set; then
    scaled to length 1. A text without words is the zero vector."""
    counts = [0] * dimensions
    for word in words(text):
        value = fnv1a(word)
        counts[value % dimensions] += 1 if value < 2**31 else -1
    length = math.sqrt(sum(count * count for count in counts))
    return [count / length if length else 0.0 for count in counts]


class HashEmbedder(BaseEmbedder):
    """Test double that needs no service; `tokens` is the number of words.

    Attributes:
        calls: the texts of every call of :meth:`embed`, in order.
    """

    def __init__(self, *, dimensions: int = 64, model: str | None = None) -> None:
        self.dimensions = dimensions
        self.model = model or f"hash-{dimensions}"
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> EmbedResult:
        self.calls.append(list(texts))
        vectors = [hash_vector(text, self.dimensions) for text in texts]
        return EmbedResult(vectors, sum(1 for text in texts for _ in words(text)))
