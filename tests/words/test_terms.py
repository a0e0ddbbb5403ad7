"""The tokenizer: what a text is found by."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.content import characters
from memory.content.terms import MAX_INDEXED, MAX_QUERY_TERMS, MAX_WORD, QueryTerm, fold, query_terms, terms
from tests.words import classes

HANGUL = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1, max_size=8)
HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=8)
WORDS = st.text("abcxyz0123789", min_size=1, max_size=8)
TEXTS = st.lists(st.one_of(HANGUL, HAN, WORDS, st.text(max_size=6))).map(" ".join)


def matches(query: str, text: str) -> bool:
    """Whether a search for `query` finds `text`, by the definition."""
    there, wanted = terms(text), query_terms(query)
    return bool(wanted) and all(
        any(term.startswith(one) if prefix else term == one for term in there) for one, prefix in wanted
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("환불요청", "환불 불요 요청 청"),
        ("退款", "退款 款"),
        ("我 要", "我 要"),
        ("ラーメン屋", "ラー ーメ メン ン屋 屋"),
        ("ภาษา", "ภา าษ ษา า"),
        ("A-4711", "a 4711"),
        ("order_id", "order id"),
        ("iPhone15출시", "iphone15 출시 시"),
        ("ＰＤＦ ﾊﾟｿｺﾝ", "pdf パソ ソコ コン ン"),
        (unicodedata.normalize("NFD", "환불 café"), "환불 불 café"),
        ("Straße ΣΊΣΥΦΟΣ İstanbul ISTANBUL", "straße σίσυφοσ istanbul"),
        ("हिन्दी עִבְרִית", "हिन्दी עִבְרִית"),
        ("re\u00adfund \u202erefund\u202c zero\u200bwidth", "refund zero width"),
        ("葛\U000e0100城", "葛城 城"),
        ("don´t don't", "don t"),
        ("\u0301a", "a"),
        ("1️⃣ ❤️ 👩‍🚀", "1"),
        ("", ""),
        (" -_!?'\"*()$% \n\t\u3000 ", ""),
    ],
)
def test_examples(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("환불", [("환불", False)]),
        ("환불요청", [("환불", False), ("불요", False), ("요청", False)]),
        ("환", [("환", True)]),
        ("Ref 4711 ref", [("ref", True), ("4711", True)]),
        ("a-47 退", [("a", True), ("47", True), ("退", True)]),
        ("'\"*:&|!()", []),
        ("", []),
    ],
)
def test_queries(query: str, expected: list[tuple[str, bool]]) -> None:
    assert list(query_terms(query)) == [QueryTerm(*term) for term in expected]


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("환불", "전액환불 부탁드립니다", True),
        ("탈퇴", "회원탈퇴하려고요", True),
        ("退款", "我要申请退款谢谢", True),
        ("환", "전액환불", True),
        ("불", "전액환불", True),
        ("불환", "전액환불", False),
        ("ref", "a refund", True),
        ("fund", "a refund", False),
        ("refund late", "the late refund", True),
        ("refund late", "the refund", False),
        ("４７１１", "A-4711", True),
        ("a-47", "A-4711", True),
        ("the", "The end", True),
        ("!", "!", False),
    ],
)
def test_matches(query: str, text: str, found: bool) -> None:
    assert matches(query, text) is found


@given(TEXTS, st.data())
def test_every_part_of_a_run_is_found(text: str, data: st.DataObject) -> None:
    run = data.draw(st.one_of(HANGUL, HAN))
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert matches(run[start:end], f"{text} {run} {text}")


@given(TEXTS, WORDS, st.data())
def test_every_beginning_of_a_word_is_found(text: str, word: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(1, len(word)))
    assert matches(word[:end], f"{text} {word} {text}")


@given(TEXTS)
def test_a_text_is_found_by_itself(text: str) -> None:
    assert matches(text, text) or not terms(text)


@given(TEXTS)
def test_spelling_does_not_matter(text: str) -> None:
    expected = set(terms(text))
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert set(terms(unicodedata.normalize(form, text))) == expected
    assert set(terms(fold(text))) == expected


@given(TEXTS)
def test_terms_are_plain(text: str) -> None:
    """Both databases get them between quotes and spaces; only letters, numbers and marks are in them."""
    found = terms(text)
    assert len(set(found)) == len(found)
    for term in found:
        assert 1 <= len(term) <= MAX_WORD
        assert all(unicodedata.category(character)[0] in "LMN" for character in term)
        assert not term.isascii() or term.isalnum()


def test_limits() -> None:
    text = "x" * (MAX_INDEXED - 2) + " y z"
    assert terms(text) == ["x" * MAX_WORD, "y"]
    assert query_terms("x" * 1_000) == (QueryTerm("x" * MAX_WORD, True),)
    assert len(query_terms(" ".join(map(str, range(1_000))))) == MAX_QUERY_TERMS
    # A sign that becomes 18 characters.
    assert sum(map(len, terms("\ufdfa" * MAX_INDEXED))) <= MAX_INDEXED


def test_pairs_overlap() -> None:
    run = "가나다라마"
    assert terms(run) == [*map("".join, pairwise(run)), run[-1]]


@pytest.mark.skipif(
    unicodedata.unidata_version != classes.VERSION, reason="the classes are those of Unicode 14.0"
)
def test_the_classes_are_those_of_unicode() -> None:
    for name, ranges in classes.make().items():
        assert getattr(characters, name) == ranges, name
