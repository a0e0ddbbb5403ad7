"""Python's and PostgreSQL's terms are the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from memory.content.terms import MAX_INDEXED, terms
from memory.content.terms_sql import FIRST_WITH_UNICODE_LOWER, function_sql
from memory.db.words import FUNCTION
from tests.words.strings import strings

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQL makes terms on PostgreSQL only"),
]


def sql_terms(texts: list[str], function: str = FUNCTION) -> Iterator[list[str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {function}(text) FROM unnest(%s::text[]) WITH ORDINALITY AS t (text, n) ORDER BY n",
            [texts],
        )
        yield from (row[0] for row in cursor.fetchall())


def assert_same(texts: list[str], function: str = FUNCTION) -> None:
    for text, found in zip(texts, sql_terms(texts, function), strict=True):
        assert sorted(set(found)) == sorted(terms(text)), ascii(text)


@pytest.mark.parametrize("seed", range(10))
def test_ten_thousand_strings(seed: int) -> None:
    assert_same(strings(seed, 1_000))


def test_older_servers() -> None:
    """PostgreSQL 15 and 16 have no collation that lowers every letter."""
    with connection.cursor() as cursor:
        cursor.execute(function_sql("older_terms", FIRST_WITH_UNICODE_LOWER - 1))
    assert_same(strings(99, 2_000), "older_terms")


def test_any_locale() -> None:
    """The database's own collation decides nothing."""
    with connection.cursor() as cursor:
        cursor.execute('CREATE TABLE spelled (c text COLLATE "C", u text COLLATE ucs_basic)')
        cursor.execute("INSERT INTO spelled VALUES (%s, %s)", ["ÄRGER ПРИВЕТ ΣΟΣ"] * 2)
        cursor.execute(f"SELECT {FUNCTION}(c), {FUNCTION}(u) FROM spelled")
        assert cursor.fetchone() == (["ärger", "привет", "σοσ"],) * 2


@pytest.mark.parametrize("alphabet", [(0x4E00, 0x9FFF), (0x20000, 0x2A6DF), (0xAC00, 0xD7A3), (0x61, 0x7A)])
def test_long_texts_fit(alphabet: tuple[int, int]) -> None:
    """A tsvector holds less than 1 MB of terms; the longest text stays below, whatever is in it."""
    from random import Random

    draw = Random(7)
    text = "".join(chr(draw.randint(*alphabet)) for _ in range(MAX_INDEXED + 50_000))
    if alphabet[0] == 0x61:
        text = " ".join(text[n : n + 5] for n in range(0, len(text), 5))
    assert_same([text, "\ufdfa" * MAX_INDEXED, "x" * MAX_INDEXED])
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT length(array_to_tsvector({FUNCTION}(%s)))", [text])
        assert cursor.fetchone()[0] == len(terms(text))
