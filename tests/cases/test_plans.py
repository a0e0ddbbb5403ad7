"""Case 42: what a recall costs on big tables; its time is a matter for the benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, models

from memory import Memory
from memory.models import Message, Thread
from tests.cases import at, message, save, uids

pytestmark = pytest.mark.django_db

THREADS, MESSAGES = 100, 40


@pytest.fixture
def big_tables(on_commit: Callable[..., Any]) -> None:
    """100 threads of one owner, with 40 messages or, most of them, with 640; a search finds four."""
    with on_commit():
        save(*(message(f"hit{n}", "purple rain", thread=f"t{n}", created_at=at(20.5)) for n in range(4)))
    for number in range(4, THREADS):
        Memory().create_thread("r", thread_id=f"t{number}")
    # Django's own queryset: these rows need no jobs.
    models.QuerySet(Message).bulk_create(
        Message(uid=f"{thread.uid}-{n}", thread=thread, role="user", text="x", created_at=at(n))
        for thread in Thread.objects.all()
        for n in range(MESSAGES)
    )
    columns = [field.column for field in Message._meta.concrete_fields if field.name not in ("id", "uid")]
    listed = ", ".join(map(connection.ops.quote_name, columns))
    with connection.cursor() as cursor:
        for turn in range(4):
            # The filler doubles inside the database: a planner takes its indexes for big tables only.
            cursor.execute(
                f"INSERT INTO memory_message (uid, {listed}) SELECT uid || '+{turn}', {listed} "
                "FROM memory_message WHERE thread_id IN (SELECT id FROM memory_thread WHERE length(uid) > 2)"
            )
        cursor.execute("ANALYZE")


def plan(sql: str) -> str:
    """How the database would carry out a statement."""
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}")
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def test_case_42_a_recall_reads_index_entries(big_tables: None, count_queries: Callable[..., Any]) -> None:
    """Page and windows walk the index of the order; nothing reads the whole table, nothing is counted."""
    options = {"semantic_recall": {"top_k": 4, "threshold": 0.5}}
    include = [{"id": "t9-20", "with_previous_messages": 1}]
    with count_queries(at_most=6) as statements:
        result = Memory(**options).recall(
            "t0", resource_id="r", vector_search_string="purple rain", include=include
        )
    windows = {f"t{thread}-{n}" for thread in range(4) for n in (19, 20, 21, 22)}
    page = {f"t0-{n}" for n in range(30, 40)}
    hits = {f"hit{n}" for n in range(4)}
    assert set(uids(result)) == {*windows, *page, *hits, "t9-19", "t9-20"}
    reading = [sql for sql in statements if '"text"' in sql and 'FROM "memory_message"' in sql]
    assert len(reading) == 2
    for sql in reading:
        told = plan(sql)
        assert "memory_message_order" in told, told
        assert "Seq Scan on memory_message" not in told, told
        assert "SCAN memory_message" not in told, told
    assert not any("COUNT(" in sql for sql in statements)


def test_case_42_the_number_of_queries_is_fixed(big_tables: None, count_queries: Callable[..., Any]) -> None:
    """Rule 8 counts only what is asked for; pages, windows and hits cost no query each."""
    options: dict[str, Any] = {"semantic_recall": {"top_k": 1, "message_range": 0}}
    with count_queries() as small:
        Memory(**options).recall(
            "t0", vector_search_string="purple rain", per_page=1, include=[{"id": "hit1"}]
        )
    options = {"semantic_recall": {"top_k": 1_000, "message_range": 20}}
    include = [{"id": f"t{n}-20", "with_next_messages": 3} for n in range(THREADS)]
    with count_queries(len(small)):
        Memory(**options).recall("t0", vector_search_string="purple rain", per_page=False, include=include)
    with count_queries(2):
        result = Memory().recall("t0", resource_id="r")
    with count_queries(1):
        assert (result.total, result.total) == (MESSAGES + 1, MESSAGES + 1)
