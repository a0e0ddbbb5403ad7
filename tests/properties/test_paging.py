"""Paging over random ties equals plain Python (contract section 2, rules 3, 4, 7 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import Memory
from tests.properties.histories import MOMENTS, Row, chronological, directions, fresh, in_order, save, window

if TYPE_CHECKING:
    from memory.recall import RecallResult

KINDS: list[dict[str, Any]] = [{}, {"kind": "a"}, {"kind": None}, {"kind": 1}, {"kind": "a", "n": 1.5}]


@dataclass(frozen=True)
class Filter:
    """A filter, as `recall` takes it and as Python reads it."""

    metadata: dict[str, Any]
    start: datetime | None
    end: datetime | None
    start_exclusive: bool
    end_exclusive: bool

    def given(self) -> dict[str, Any]:
        bounds = {
            "start": self.start,
            "end": self.end,
            "start_exclusive": self.start_exclusive,
            "end_exclusive": self.end_exclusive,
        }
        return {"metadata": self.metadata, "date_range": bounds}

    def matches(self, row: Row) -> bool:
        if self.start and (
            row.created_at < self.start or (self.start_exclusive and row.created_at == self.start)
        ):
            return False
        if self.end and (row.created_at > self.end or (self.end_exclusive and row.created_at == self.end)):
            return False
        return self.metadata.items() <= row.metadata.items()


moments = st.sampled_from(MOMENTS)
entries = st.lists(st.tuples(moments, st.sampled_from(KINDS)), max_size=14)
filters = st.builds(
    Filter,
    metadata=st.sampled_from([{}, {}, *KINDS[1:]]),
    start=st.none() | moments,
    end=st.none() | moments,
    start_exclusive=st.booleans(),
    end_exclusive=st.booleans(),
)
# Which message, how many before, how many after.
includes = st.lists(st.tuples(st.integers(0, 13), st.integers(0, 3), st.integers(0, 3)), max_size=3)


def thread_of(drawn: list[tuple[datetime, dict[str, Any]]], batch: int) -> tuple[str, list[Row]]:
    """A stored thread and its rows in the order of saving."""
    thread = Memory().create_thread("owner", thread_id=fresh("thread")).uid
    rows = [Row(fresh("message"), thread, moment, metadata) for moment, metadata in drawn]
    save(rows, batch)
    return thread, rows


def ids(result: RecallResult) -> list[str]:
    return [message.uid for message in result.messages]


@pytest.mark.django_db
@settings(max_examples=60)
@given(
    drawn=entries,
    batch=st.integers(1, 14),
    per_page=st.integers(0, 15) | st.just(False),
    direction=directions,
    wanted=filters,
)
def test_every_page_is_the_slice_of_the_ordered_matches(
    drawn: list[tuple[datetime, dict[str, Any]]],
    batch: int,
    per_page: int | Literal[False],
    direction: str,
    wanted: Filter,
) -> None:
    """Rules 3, 4 and 8: pages, `total` and `has_more`, beyond the last page too."""
    thread, rows = thread_of(drawn, batch)
    expected = [row.uid for row in in_order(rows, direction) if wanted.matches(row)]
    if per_page is False:
        slices = [expected]
    elif per_page == 0:
        slices, expected = [[]], []
    else:
        slices = [expected[n : n + per_page] for n in range(0, len(expected) + per_page, per_page)]
    seen = 0
    for page, messages in enumerate(slices):
        result = Memory().recall(
            thread,
            per_page=per_page,
            page=page,
            order_by={"field": "created_at", "direction": direction},
            filter=wanted.given(),
        )
        seen += len(messages)
        assert ids(result) == messages
        assert result.total == len(expected)
        assert result.has_more is (seen < len(expected))
        assert (result.page, result.per_page) == (page, per_page)
        assert all(message.recall.sources == {"history"} for message in result.messages)


@pytest.mark.django_db
@settings(max_examples=60)
@given(drawn=entries, batch=st.integers(1, 14))
def test_default_order_is_the_exact_reverse_of_ascending(
    drawn: list[tuple[datetime, dict[str, Any]]], batch: int
) -> None:
    """Rule 4: newest first by default, `chronological()` oldest first in either order."""
    thread, rows = thread_of(drawn, batch)
    expected = [row.uid for row in chronological(rows)]
    newest_first = Memory().recall(thread, per_page=False)
    oldest_first = Memory().recall(thread, per_page=False, order_by={"direction": "ASC"})
    assert ids(newest_first) == expected[::-1]
    assert ids(oldest_first) == expected
    for result in (newest_first, oldest_first):
        assert [message.uid for message in result.chronological()] == expected


@pytest.mark.django_db
@settings(max_examples=80)
@given(
    drawn=entries,
    batch=st.integers(1, 14),
    per_page=st.integers(1, 6),
    page=st.integers(0, 4),
    direction=directions,
    wanted=filters,
    named=includes,
)
def test_has_more_looks_past_the_page_and_the_includes(
    drawn: list[tuple[datetime, dict[str, Any]]],
    batch: int,
    per_page: int,
    page: int,
    direction: str,
    wanted: Filter,
    named: list[tuple[int, int, int]],
) -> None:
    """Rules 7 and 8: one sorted list without duplicates; more = a match beyond the page that is not in it."""
    thread, rows = thread_of(drawn, batch)
    ordered = chronological(rows)
    matches = [row for row in in_order(rows, direction) if wanted.matches(row)]
    offset = page * per_page
    shown = {row.uid for row in matches[offset : offset + per_page]}
    items = [(rows[place], before, after) for place, before, after in named if place < len(rows)]
    for row, before, after in items:
        shown |= {near.uid for near in window(ordered, row, before, after)}
    result = Memory().recall(
        thread,
        per_page=per_page,
        page=page,
        order_by={"direction": direction},
        filter=wanted.given(),
        include=[
            {"id": row.uid, "with_previous_messages": before, "with_next_messages": after}
            for row, before, after in items
        ],
    )
    assert ids(result) == [row.uid for row in in_order(rows, direction) if row.uid in shown]
    assert result.total == len(matches)
    assert result.has_more is any(row.uid not in shown for row in matches[offset + per_page :])
