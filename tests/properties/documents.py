"""Random JSON of every kind, and what storing makes of it in plain Python (contract section 3)."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

REPLACEMENT = "\ufffd"
# What breaks storage or hand-written SQL: NUL, surrogates, quotes, JSON paths, LIKE and format signs.
AWKWARD = "\x00\ud800\udc00\udfff\ufffd\"'\\/$.[]%_{}\u2028\u0301\x7f 0aé한中😀"

texts = st.text(st.one_of(st.sampled_from(AWKWARD), st.characters()), max_size=8)
doubles = st.floats(allow_nan=False, allow_infinity=False)
integers = st.one_of(
    st.integers(-(2**70), 2**70),
    st.builds(
        lambda base, step: base + step,
        st.sampled_from([2**53, 2**63, -(2**53), -(2**63)]),
        st.integers(-2, 2),
    ),
    st.integers(-(10**308), 10**308),
)
scalars = st.one_of(st.none(), st.booleans(), integers, doubles, texts)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts, documents, max_size=5)


def storable(text: str) -> str:
    """`text` with U+0000 and each surrogate that is not half of a pair as U+FFFD; pairs are one character."""
    result: list[str] = []
    for character in text:
        previous = result[-1] if result else ""
        if "\ud800" <= previous <= "\udbff" and "\udc00" <= character <= "\udfff":
            result[-1] = chr(0x10000 + ((ord(previous) - 0xD800) << 10) + ord(character) - 0xDC00)
        else:
            result.append(character)
    return "".join(REPLACEMENT if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in result)


def stored(document: Any) -> Any:
    """`document` as it comes back: texts and keys storable, the last of equal keys kept."""
    if isinstance(document, str):
        return storable(document)
    if isinstance(document, list):
        return [stored(element) for element in document]
    if isinstance(document, dict):
        return {storable(key): stored(value) for key, value in document.items()}
    return document


def same_json(one: Any, other: Any) -> bool:
    """Whether two documents are equal with numbers as doubles, which no boolean is."""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return float(one) == float(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    return isinstance(one, str) and isinstance(other, str) and one == other


def neighbours(number: float) -> list[float]:
    """The doubles next to one, as far as they are finite."""
    near = [math.nextafter(number, -math.inf), math.nextafter(number, math.inf)]
    return [float(number), *filter(math.isfinite, near)]
