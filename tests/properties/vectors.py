"""An embedder that answers the vectors a test has chosen, and cosine similarity in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memory.embedders import BaseEmbedder, EmbedResult

if TYPE_CHECKING:
    from collections.abc import Sequence

DIMENSIONS = 8
# Words of this length are 8 tokens by the rule of a quarter token for each ASCII character: two of them
# never fit in one chunk, so every word of a text is a chunk and has a vector of its own.
MAX_TOKENS = 8
WORD_LENGTH = MAX_TOKENS * 4

# What `MEMORY["EMBEDDERS"]` holds in these tests.
SETTING = {"default": {"BACKEND": "tests.properties.vectors.GivenEmbedder"}}


class GivenEmbedder(BaseEmbedder):
    """Looks vectors up by text; a text without one gets ones."""

    def __init__(self) -> None:
        self.model = "given"
        self.dimensions = DIMENSIONS
        self.max_input_tokens = MAX_TOKENS
        self.vectors: dict[str, list[float]] = {}
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> EmbedResult:
        self.calls.append(list(texts))
        return EmbedResult([self.vectors.get(text, [1.0] * DIMENSIONS) for text in texts], len(texts))


def similarity(one: Sequence[float], other: Sequence[float]) -> float | None:
    """1 - cosine distance in float64; None where a vector points nowhere."""
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if not a.any() or not b.any():
        return None
    return float((a / np.linalg.norm(a)) @ (b / np.linalg.norm(b)))
