"""Cutting long text for an embedder (contract section 4)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import Memory
from memory.content.text import chunks
from memory.embedders import embedders
from tests.properties.histories import fresh
from tests.properties.vectors import MAX_TOKENS, SETTING, GivenEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pytest_django import Settings

MAX_CHARACTERS = 16_384

spaces = st.sampled_from([" ", "\n", "\t", "  ", "\r\n", "\u3000", " \n "])
short_words = st.text(st.sampled_from("abc.,é한中😀"), min_size=1, max_size=12)
# Lengths about the limits, and far beyond them.
long_words = st.builds(
    lambda letter, length: letter * length,
    st.sampled_from("x한"),
    st.sampled_from([1, 31, 32, 33, 16_383, 16_384, 16_385, 40_000]),
)


def text_of(words: st.SearchStrategy[str], *, most: int) -> st.SearchStrategy[str]:
    """Words with white space of any kind between, before and after them."""
    pieces = st.lists(st.tuples(words, spaces), max_size=most)
    return st.builds(
        lambda lead, drawn: lead + "".join(word + space for word, space in drawn),
        st.sampled_from(["", " ", "\n"]),
        pieces,
    )


def tokens(text: str) -> float:
    """The contract's measure: a token for each non-ASCII character, a quarter for each ASCII one."""
    return sum(0.25 if character.isascii() else 1 for character in text)


def cut(text: str, max_tokens: int) -> list[str]:
    """The chunks of an embedder without a tokenizer."""
    return chunks(text, max_tokens=max_tokens, count_tokens=GivenEmbedder().count_tokens)


def check_chunks(text: str, found: list[str], max_tokens: int) -> None:
    """Never empty, within both limits, and every character but white space once and in order."""
    assert all(chunk.strip() for chunk in found)
    assert all(len(chunk) <= MAX_CHARACTERS for chunk in found)
    # A single character may be a whole token and cannot be cut.
    assert all(tokens(chunk) <= max_tokens or len(chunk) == 1 for chunk in found)
    assert "".join("".join(found).split()) == "".join(text.split())


@settings(max_examples=200)
@given(text=text_of(short_words, most=40), max_tokens=st.integers(1, 30))
def test_short_words(text: str, max_tokens: int) -> None:
    """A word that is not longer than the limit stays whole."""
    found = cut(text, max_tokens)
    check_chunks(text, found, max_tokens)
    pieces = [piece for chunk in found for piece in chunk.split()]
    whole = [word for word in text.split() if GivenEmbedder().count_tokens(word) <= max_tokens]
    assert set(whole) <= set(pieces)


@settings(max_examples=100)
@given(text=text_of(short_words, most=40))
def test_as_few_chunks_as_go(text: str) -> None:
    """Words are never cut where they fit, and no two neighbouring chunks could have been one."""
    max_tokens = 12
    found = cut(text, max_tokens)
    assert " ".join(found).split() == text.split()
    for one, other in pairwise(found):
        assert GivenEmbedder().count_tokens(f"{one} {other.split()[0]}") > max_tokens


@settings(max_examples=40)
@given(text=text_of(long_words, most=5), max_tokens=st.sampled_from([8, 4_096, 8_191, 100_000]))
def test_words_longer_than_the_limits(text: str, max_tokens: int) -> None:
    """Characters and tokens both hold, for words of any length."""
    check_chunks(text, cut(text, max_tokens), max_tokens)


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("a" * 40_000 + " b c", [16_384, 16_384, 7_232, 3]),
        ("a" * 20_000 + " b", [16_384, 3_616, 1]),
        ("b " + "a" * 16_384, [1, 16_384]),
        ("a" * 16_381 + " bc", [16_384]),
        ("a" * 16_382 + " bc", [16_382, 2]),
        ("", []),
        (" \n\u3000", []),
    ],
)
def test_known_cuts(text: str, lengths: list[int]) -> None:
    """Case 28."""
    assert [len(chunk) for chunk in cut(text, 8_191)] == lengths


@pytest.mark.django_db
@settings(max_examples=30)
@given(text=text_of(short_words | st.just("한" * 30), most=12).filter(str.strip))
def test_what_the_embedder_gets(
    settings: Settings,
    on_commit: Callable[..., AbstractContextManager[list[object]]],
    text: str,
) -> None:
    """On the way from a saved message: no text above the embedder's limit, and all words of the message."""
    settings.MEMORY = {"EMBEDDERS": SETTING}
    embedder = cast("GivenEmbedder", embedders["default"])
    thread = fresh("thread")
    with on_commit():
        Memory().save_messages(
            [{"thread_id": thread, "role": "user", "content": text}], create_thread=True, resource_id="owner"
        )
    sent = [chunk for call in embedder.calls for chunk in call]
    assert sent
    assert all(chunk.strip() for chunk in sent)
    assert all(tokens(chunk) <= MAX_TOKENS for chunk in sent)
    assert set("".join(sent)) - {" "} == set("".join(text.split()))
    # So that the same text is embedded again by the next example.
    Memory().delete_thread(thread)
