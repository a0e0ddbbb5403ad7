"""Where visible characters begin: the common rules of Unicode's UAX 29."""

from __future__ import annotations

import unicodedata

# Longest sequence of signs that is kept as one character; more is no writing but mischief.
LONGEST_CHARACTER = 64
_JOINER = "\u200d"


def next_boundary(text: str, place: int) -> int:
    """`place`, or the end of the visible character that it is inside of."""
    for at in range(place, min(len(text), place + LONGEST_CHARACTER)):
        if is_boundary(text, at):
            return at
    return min(len(text), place + LONGEST_CHARACTER)


def previous_boundary(text: str, place: int) -> int:
    """`place`, or the beginning of the visible character that it is inside of."""
    for at in range(place, max(0, place - LONGEST_CHARACTER), -1):
        if is_boundary(text, at):
            return at
    return max(0, place - LONGEST_CHARACTER)


def is_boundary(text: str, place: int) -> bool:
    """Whether a visible character begins at `place`, between two code points."""
    before, after = text[place - 1], text[place]
    if before < "\u0300" and after < "\u0300":
        return not (before == "\r" and after == "\n")
    if before == _JOINER or after == _JOINER or unicodedata.category(after)[0] == "M":
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return False
    if "\u1160" <= after <= "\u11ff" or after in "\uff9e\uff9f":
        return False
    if _is_flag_half(before) and _is_flag_half(after):
        halves = 0
        while halves < place and _is_flag_half(text[place - 1 - halves]):
            halves += 1
        return halves % 2 == 0
    return True


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
