"""Snippets: the hit is in sight, and no character is cut."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.content.snippet import LENGTH, snippet

LONG = "lorem ipsum dolor sit amet " * 40


def test_a_short_text_is_shown_whole() -> None:
    assert snippet("  Where is my\n\nrefund? ", "refund") == "Where is my refund?"
    assert snippet("", "refund") == ""


def test_the_hit_is_shown() -> None:
    shown = snippet(f"{LONG} where is my refund now? {LONG}", "refund")
    assert "where is my refund now?" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= LENGTH + 2
    # Cut between words.
    assert set(shown.strip("…").split()) <= {*LONG.split(), "where", "is", "my", "refund", "now?"}


@pytest.mark.parametrize(
    ("hit", "query"),
    [
        ("전액환불 요청", "환불"),
        ("전액환불 요청", "환불 없는말"),
        ("我要申请退款谢谢", "退款"),
        ("ＰＤＦ", "pdf"),
        (unicodedata.normalize("NFD", "전액환불"), "환불"),
        ("Ⅷ﷽ ㌖ İSTANBUL", "istanbul"),
        ("A-4711", "a-47"),
        ("REFUND", "ref"),
    ],
)
def test_hits_of_any_spelling(hit: str, query: str) -> None:
    for filler in (LONG, "ﷺ ㌖ " * 50, unicodedata.normalize("NFD", "각가 " * 200), "漢字" * 300):
        assert hit in snippet(f"{filler} {hit} {filler}", query)


def test_a_word_inside_another_is_no_hit() -> None:
    assert "my fund is" in snippet(f"refund {LONG} my fund is {LONG}", "fund")


def test_without_a_hit_it_is_the_beginning() -> None:
    assert snippet(f"start {LONG}", "nothing").startswith("start lorem")
    assert snippet(f"start {LONG}", "?!").startswith("start lorem")


@pytest.mark.parametrize("character", ["👩‍👩‍👧‍👦", "🇰🇷", "e\u0301\u0323", "한", "👍🏽", "1️⃣", "\r\n"])
@pytest.mark.parametrize("offset", range(8))
def test_characters_stay_whole(character: str, offset: int) -> None:
    text = "x" * offset + character * 200 + " refund " + character * 200
    shown = snippet(text, "refund")
    assert "refund" in shown
    rest = shown.strip("…").replace("refund", "").replace(" ", "").lstrip("x")
    assert rest == character.strip() * rest.count(character.strip() or "?")


@given(st.text(), st.text(max_size=5))
def test_any_input_gives_a_short_line(text: str, query: str) -> None:
    shown = snippet(text * 20, query)
    assert len(shown) <= LENGTH + 2 + 64
    assert "\n" not in shown
