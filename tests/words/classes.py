"""The classes of `memory.content.characters`, made from the character database of Unicode 14.0."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

    Ranges = tuple[tuple[int, int], ...]

VERSION = "14.0.0"
EVERY = range(0x110000)

# Blocks whose scripts put no spaces between words.
UNSPACED_BLOCKS = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)),  # Thai, Lao, Myanmar
    *((0x1780, 0x17FF), (0x19E0, 0x19FF)),  # Khmer
    *((0x1100, 0x11FF), (0xA960, 0xA97F), (0xAC00, 0xD7FF)),  # Hangul
    *((0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),  # Han
    *((0x3041, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x1AFF0, 0x1B16F)),  # kana, Bopomofo
    *((0x17000, 0x18D7F), (0x1B170, 0x1B2FF)),  # Tangut, Khitan, Nushu
)


def make() -> dict[str, Ranges]:
    """The ranges of every class, by its name.

    A class says nothing of code points that cannot occur where it is used, which keeps it short.
    """
    from memory.content.terms import respell

    assert unicodedata.unidata_version == VERSION
    category = [unicodedata.category(chr(point)) for point in EVERY]
    assigned = [point for point in EVERY if category[point] not in ("Cn", "Cs")]
    folded = {point: {ord(character) for character in respell(chr(point))} for point in assigned}
    reachable = set().union(*folded.values())
    unspaced = {
        point
        for point in reachable
        if category[point][0] in "LMN" and any(first <= point <= last for first, last in UNSPACED_BLOCKS)
    }
    marks = {point for point in reachable if category[point] in ("Mn", "Mc")} - unspaced
    words = {point for point in reachable if category[point][0] in "LN"} - unspaced
    textual = words | marks | unspaced
    unknown = {point for point in EVERY if category[point] == "Cn"}
    telling = {point for point in assigned if folded[point] & textual}
    return {
        "WORD": tuple(ranges(words, reachable)),
        "MARK": tuple(ranges(marks, reachable)),
        "UNSPACED": tuple(ranges(unspaced, reachable)),
        "UNKNOWN": tuple(ranges(unknown, telling)),
    }


def ranges(members: Container[int], others: Container[int]) -> Iterator[tuple[int, int]]:
    """The fewest ranges with all of `members` and none of `others` but members."""
    first = last = -1
    for point in EVERY:
        if point in members:
            first, last = (point if first < 0 else first), point
        elif point in others and first >= 0:
            yield first, last
            first = -1
    if first >= 0:
        yield first, last
