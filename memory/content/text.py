"""The text of a message, and the chunks in which it is embedded."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Any

MAX_CHUNK_LENGTH = 16_384


def text_of(body: Mapping[str, Any]) -> str:
    """The text that is embedded, searched and previewed (contract section 1); "" for blank text.

    `content.content` if it is a non-blank string, else the `text` parts joined by one space.
    """
    mirror = body.get("content")
    if isinstance(mirror, str) and mirror.strip():
        return mirror
    text = parts_text(body.get("parts") or [])
    return text if text.strip() else ""


def parts_text(parts: list[dict[str, Any]]) -> str:
    """The `text` parts joined by one space."""
    return " ".join(part["text"] for part in parts if part.get("type") == "text")


def text_hash(rule: str, text: str) -> str:
    """Names an embedded text: 64 hexadecimal digits over the space's rule and the text."""
    return hashlib.sha256(f"{rule}\n{text}".encode()).hexdigest()


def chunks(text: str, *, max_tokens: int, count_tokens: Callable[[str], int]) -> list[str]:
    """Cut `text` on white space into what an embedder can read (contract section 4).

    Args:
        text: any text; a blank one has no chunk.
        max_tokens: most tokens a chunk, by `count_tokens`, which must not shrink as text grows.

    Returns:
        Chunks of at most 16,384 characters, words joined by single spaces. A word longer than that is
        cut; its pieces stand alone.
    """

    def fits(candidate: str) -> bool:
        return len(candidate) <= MAX_CHUNK_LENGTH and count_tokens(candidate) <= max_tokens

    words = text.split()
    found: list[str] = []
    start = 0
    while start < len(words):
        limit = _within_length(words, start)
        count = _longest(limit - start, lambda n: fits(" ".join(words[start : start + n])))  # noqa: B023
        if count:
            found.append(" ".join(words[start : start + count]))
            start += count
        else:
            found.extend(_cut(words[start], fits))
            start += 1
    return found


def _within_length(words: list[str], start: int) -> int:
    """End of the longest run of words from `start` that a chunk's length allows."""
    length, end = -1, start
    while end < len(words) and (length := length + 1 + len(words[end])) <= MAX_CHUNK_LENGTH:
        end += 1
    return end


def _cut(word: str, fits: Callable[[str], bool]) -> Iterator[str]:
    while word:
        most = min(len(word), MAX_CHUNK_LENGTH)
        size = max(1, _longest(most, lambda n: fits(word[:n])))  # noqa: B023
        yield word[:size]
        word = word[size:]


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The greatest n from 0 to `most` that fits; the usual case, all of it, costs one call."""
    if most and fits(most):
        return most
    return bisect_right(range(1, most), False, key=lambda n: not fits(n))
