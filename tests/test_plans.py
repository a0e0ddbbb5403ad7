"""PostgreSQL's plans over long threads: index range scans, no sort, no count (cases 42 and 8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection

from memory import Memory
from memory.models import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.queries import Statements

    CountQueries = Callable[..., AbstractContextManager[Statements]]

LENGTH = 100_000
RARE = 50_000

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="the plans are those of PostgreSQL"),
]


@pytest.fixture
def long_thread() -> str:
    """A thread of 100,000 messages, written by the server itself, among 100 that have half as many together;
    analysed. In a table that one thread fills, any index by date would do.

    Two messages share each second, and one message in the middle has metadata no other has.
    """
    thread = Memory().create_thread("owner", thread_id="long")
    for number in range(100):
        Memory().create_thread("owner", thread_id=f"short-{number}")
    columns = "uid, thread_id, role, type, body, metadata, text, created_at, cloned_from"
    values = """
        'user', '', '{"format": 2, "parts": []}'::jsonb,
        jsonb_build_object('n', n, 'rare', n = %s), '',
        timestamptz '2026-01-31 09:00Z' + n / 2 * interval '1 second', ''
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO memory_message ({columns}) "
            f"SELECT 'm-' || n, %s, {values} FROM generate_series(0, %s) n",
            [thread.pk, RARE, LENGTH - 1],
        )
        cursor.execute(
            f"INSERT INTO memory_message ({columns}) SELECT 's-' || t.uid || '-' || n, t.id, {values} "
            f"FROM memory_thread t, generate_series(1, {LENGTH // 200}) n WHERE t.uid <> 'long'",
            [-1],
        )
        cursor.execute("ANALYZE memory_message")
        cursor.execute("ANALYZE memory_thread")
    return "long"


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node and everything under it."""
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def plan_of(sql: str) -> list[dict[str, Any]]:
    """The nodes of the plan of a statement that was run, with the rows each has really read."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
        (answer,) = cursor.fetchone()
    document = json.loads(answer) if isinstance(answer, str) else answer
    return list(nodes(document[0]["Plan"]))


def message_statement(statements: Statements) -> str:
    """The one statement that reads messages."""
    (sql,) = [sql for sql in statements if f'FROM "{Message._meta.db_table}"' in sql]
    return sql


def check_range_scan(plan: list[dict[str, Any]], *, most_rows: int) -> None:
    """Messages are read by the order's index, from a place in it, and nothing reads the thread."""
    kinds = [node["Node Type"] for node in plan]
    assert "Seq Scan" not in [
        node["Node Type"] for node in plan if node.get("Relation Name") == Message._meta.db_table
    ], kinds
    ranges = [node for node in plan if node.get("Index Name") == "memory_message_order"]
    assert ranges, kinds
    for node in ranges:
        assert node["Node Type"] in ("Index Scan", "Index Only Scan")
        assert "thread_id" in node["Index Cond"]
        assert node["Actual Rows"] <= most_rows


@pytest.mark.parametrize("direction", ["DESC", "ASC"])
def test_first_page(long_thread: str, count_queries: CountQueries, direction: str) -> None:
    """The newest page, and the oldest: an index range scan without a sort."""
    with count_queries() as statements:
        result = Memory().recall(
            long_thread, per_page=20, order_by={"field": "created_at", "direction": direction}
        )
    assert result.messages[0].uid == (f"m-{LENGTH - 1}" if direction == "DESC" else "m-0")
    plan = plan_of(message_statement(statements))
    check_range_scan(plan, most_rows=21)
    assert not any("Sort" in node["Node Type"] for node in plan)


def test_window(long_thread: str, count_queries: CountQueries) -> None:
    """The neighbours of a message are read by the same index, a few rows on each side."""
    item = {"id": f"m-{RARE}", "with_previous_messages": 3, "with_next_messages": 2}
    with count_queries() as statements:
        result = Memory().recall(long_thread, per_page=0, include=[item])
    expected = [f"m-{n}" for n in range(RARE - 3, RARE + 3)]
    assert [message.uid for message in result.chronological()] == expected
    check_range_scan(plan_of(message_statement(statements)), most_rows=4)


def test_metadata_filter(long_thread: str, count_queries: CountQueries) -> None:
    """A value that few of many rows have is found by the GIN index."""
    with count_queries() as statements:
        result = Memory().recall(long_thread, per_page=False, filter={"metadata": {"rare": True}})
    assert [message.uid for message in result.messages] == [f"m-{RARE}"]
    plan = plan_of(message_statement(statements))
    assert "memory_message_metadata" in [node.get("Index Name") for node in plan]
    assert "Seq Scan" not in [node["Node Type"] for node in plan]
