"""The words of a text as the word search sees them: the tokenizer `memory_terms_1`.

The rules (their twin in SQL is :mod:`memory.content.terms_sql`):

- A text is its first 100,000 characters; words beyond them are not found. PostgreSQL could not store the
  terms of much more.
- Characters without a shape of their own go, those unknown to Unicode 14.0 separate; then NFKC, lower case
  (İ as i, ς as σ, which Unicode lowers by language and place) and again the first 100,000 characters.
- A run of a script without spaces between words gives its overlapping pairs and its last character alone:
  `환불요청` is 환불, 불요, 요청, 청. No dictionary is needed, and every part of the run is found.
- Any other run of letters, numbers and their marks is one word, of which the first 128 characters count.
- Everything else separates, `_` too: `A-4711` is a, 4711.

An index keeps what the tokenizer made. So other rules need another name, and a migration that indexes anew.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from memory.content.characters import IGNORED, MARK, UNKNOWN, UNSPACED, WORD

MAX_INDEXED = 100_000
MAX_WORD = 128
MAX_QUERY_TERMS = 128


class QueryTerm(NamedTuple):
    """A term that a text must have; of a `prefix`, one that begins with it."""

    term: str
    prefix: bool


def character_class(*groups: tuple[tuple[int, int], ...]) -> str:
    """The inside of a bracket expression, in escapes that Python and PostgreSQL read alike."""
    return "".join(
        _escape(first) if first == last else f"{_escape(first)}-{_escape(last)}"
        for group in groups
        for first, last in group
    )


def _escape(point: int) -> str:
    return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"


class _Patterns(NamedTuple):
    """What to look for in texts of characters up to some code point."""

    ignored: re.Pattern[str]
    unknown: re.Pattern[str]
    run: re.Pattern[str]

    @classmethod
    def up_to(cls, last: int) -> _Patterns:
        def members(*groups: tuple[tuple[int, int], ...]) -> str:
            kept = (tuple(pair for pair in group if pair[0] <= last) for group in groups)
            return f"[{character_class(*kept)}]"

        return cls(
            ignored=re.compile(f"{members(IGNORED)}+"),
            unknown=re.compile(members(UNKNOWN)),
            run=re.compile(f"({members(UNSPACED)}+)|{members(WORD)}{members(WORD, MARK)}*"),
        )


# Python looks up characters to U+FFFF in a table, and compares the others range by range.
_USUAL, _ALL = _Patterns.up_to(0xFFFF), _Patterns.up_to(0x10FFFF)
_UNUSUAL = re.compile("[\U00010000-\U0010ffff]")


def _patterns(text: str) -> _Patterns:
    return _ALL if _UNUSUAL.search(text) else _USUAL


def fold(text: str) -> str:
    """`text` as it is compared: in one spelling, without case."""
    text = text[:MAX_INDEXED]
    if text.isascii():
        return text.lower()
    patterns = _patterns(text)
    return respell(patterns.unknown.sub(" ", patterns.ignored.sub("", text)))[:MAX_INDEXED]


def respell(text: str) -> str:
    """NFKC, and lower case that depends on no language and no place in a word."""
    return unicodedata.normalize("NFKC", text).replace("\u0130", "i").lower().replace("ς", "σ")


def runs(folded: str) -> Iterator[tuple[str, bool]]:
    """The runs of a folded text, with whether their script puts no spaces between words."""
    for found in _patterns(folded).run.finditer(folded):
        yield found[0], found[1] is not None


def terms(text: str) -> list[str]:
    """The terms of a text, each once, in the order in which they occur."""
    found: dict[str, None] = {}
    for run, unspaced in runs(fold(text)):
        if unspaced:
            found.update(dict.fromkeys(a + b for a, b in pairwise(run)))
            found[run[-1]] = None
        else:
            found[run[:MAX_WORD]] = None
    return list(found)


def query_terms(query: str) -> tuple[QueryTerm, ...]:
    """What a text must have, all of it, to match the words of `query`; nothing where there are none.

    Words match as prefixes, and so does a single character of a script without spaces; longer runs of
    these match by their pairs. The first 128 terms count.
    """
    found: dict[QueryTerm, None] = {}
    for run, unspaced in runs(fold(query)):
        if unspaced and len(run) > 1:
            found.update(dict.fromkeys(QueryTerm(a + b, False) for a, b in pairwise(run)))
        else:
            found[QueryTerm(run[:MAX_WORD], True)] = None
    return tuple(found)[:MAX_QUERY_TERMS]
