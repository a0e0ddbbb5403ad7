"""The place of a text that a search found, short enough to be shown in a list."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.content.characters import MARK, WORD
from memory.content.graphemes import next_boundary
from memory.content.terms import MAX_QUERY_TERMS, character_class, fold, query_terms, runs

LENGTH = 160
# Of the length, what stands before the hit.
LEAD = 50
# How far a cut moves to fall on white space.
SLACK = 20

_INSIDE_WORD = re.compile(f"[{character_class(WORD, MARK)}]")


def snippet(text: str, query: str) -> str:
    """About 160 characters of `text` around the first place that matches a word of `query`.

    On one line, cut between words where one ends nearby and never inside a visible character, with `…`
    where text is left out. The beginning of the text where no word is found, as in a search by meaning.
    """
    hit = _first_hit(text, query)
    start = max(0, hit - LEAD)
    end = min(len(text), start + LENGTH)
    start = max(0, min(start, end - LENGTH))
    if start:
        start = _cut(text, start, 1)
    if end < len(text):
        end = _cut(text, end, -1)
    shown = " ".join(text[start:end].split())
    return f"{'…' if text[:start].strip() else ''}{shown}{'…' if text[end:].strip() else ''}"


def _first_hit(text: str, query: str) -> int:
    """Where in `text` the first match stands; 0 where there is none."""
    folded = fold(text)
    for sought in _sought(query):
        places = [(place, part) for part in sought if (place := _find(folded, part)) is not None]
        if places:
            return _original_place(text, *min(places))
    return 0


def _sought(query: str) -> Iterator[list[str]]:
    """What to look for: the query as a whole, else any run of it, else any of its terms."""
    folded = fold(query)
    yield [folded.strip()] if folded.strip() else []
    yield [run for run, _ in runs(folded)][:MAX_QUERY_TERMS]
    yield [term for term, _ in query_terms(query)]


def _find(folded: str, part: str) -> int | None:
    """Where `part` stands in a text, not inside a word."""
    place = folded.find(part)
    while place > 0 and _INSIDE_WORD.match(part) and _INSIDE_WORD.match(folded, place - 1):
        place = folded.find(part, place + 1)
    return None if place < 0 else place


def _original_place(text: str, place: int, found: str) -> int:
    """Where in `text` the folded text has `place`."""
    if fold(text[place : place + len(found)]) == found:
        return place
    # Folding one visible character does not depend on its neighbours.
    at = length = 0
    while at < len(text) and length < place:
        end = next_boundary(text, at + 1)
        length += len(fold(text[at:end]))
        at = end
    return at


def _cut(text: str, place: int, direction: int) -> int:
    """The nearest place from `place` on to cut at, forwards or backwards."""
    limits = (0, len(text))
    for steps in range(SLACK):
        at = place + steps * direction
        if at in limits or text[at - 1].isspace() or text[at].isspace():
            return at
    return next_boundary(text, place)
