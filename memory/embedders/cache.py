"""The vectors an embedder made last: a question that becomes a message is sent once."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memory.conf import memory_settings


class CachedVector(NamedTuple):
    """A vector of length 1.

    Attributes:
        tokens: tokens the service counted for this text, where it counts.
        counted: the text was embedded in a call of its own, so `tokens` is what the service says of it.
    """

    vector: npt.NDArray[np.float32]
    tokens: int | None
    counted: bool


class EmbeddingCache:
    """Least recently used first out, at most `MEMORY["EMBEDDING_CACHE"]` entries; one for each embedder.

    Keys are SHA-256 of the text: texts are not held, and no two are taken for each other.
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[bytes, CachedVector] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, text: str) -> CachedVector | None:
        key = _key(text)
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def set(self, text: str, entry: CachedVector) -> None:
        key = _key(text)
        with self._lock:
            self._entries[key] = entry
            self._entries.move_to_end(key)
            while len(self._entries) > memory_settings.EMBEDDING_CACHE:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


def _key(text: str) -> bytes:
    # Lone surrogates are replaced before a text is embedded; an embedder called directly may get some.
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
