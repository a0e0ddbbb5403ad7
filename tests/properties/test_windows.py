"""Includes with their windows over random ties equal plain Python (contract section 2, rules 5 and 7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import Memory
from tests.properties.histories import MOMENTS, Row, chronological, directions, fresh, in_order, save, window

OWN_THREADS = 3
# The last thread is another owner's.
entries = st.lists(st.tuples(st.integers(0, OWN_THREADS), st.sampled_from(MOMENTS)), max_size=16)


@dataclass(frozen=True)
class Item:
    """One include: `place` in the rows (beyond them: an unknown id), window, and the thread it names."""

    place: int
    before: int
    after: int
    thread: int | None


items = st.builds(
    Item,
    place=st.integers(0, 17),
    before=st.integers(0, 5),
    after=st.integers(0, 5),
    thread=st.none() | st.integers(0, OWN_THREADS),
)


def expected_sources(rows: list[Row], threads: list[str], named: list[Item]) -> dict[str, set[str]]:
    """What is returned and why: `include` for targets, `context` for those that are only neighbours."""
    targets: set[str] = set()
    shown: set[str] = set()
    for item in named:
        row = rows[item.place] if item.place < len(rows) else None
        if row is None or row.thread == threads[-1]:
            continue
        if item.thread is not None and threads[item.thread] != row.thread:
            continue
        ordered = chronological(other for other in rows if other.thread == row.thread)
        targets.add(row.uid)
        shown |= {near.uid for near in window(ordered, row, item.before, item.after)}
    return {uid: {"include"} if uid in targets else {"context"} for uid in shown}


def targets_of(sources: dict[str, set[str]]) -> set[str]:
    """The messages that includes have named."""
    return {uid for uid, why in sources.items() if why == {"include"}}


def given_item(item: Item, rows: list[Row], threads: list[str]) -> dict[str, Any]:
    """The include as the caller writes it; halves of 0 are left out, which means the same."""
    options: dict[str, Any] = {"id": rows[item.place].uid if item.place < len(rows) else "unknown"}
    if item.before:
        options["with_previous_messages"] = item.before
    if item.after:
        options["withNextMessages"] = item.after
    if item.thread is not None:
        options["thread_id"] = threads[item.thread]
    return options


@pytest.mark.django_db
@settings(max_examples=80)
@given(
    drawn=entries,
    batch=st.integers(1, 16),
    named=st.lists(items, max_size=5),
    direction=directions,
    names_owner=st.booleans(),
)
def test_windows_are_positional_in_the_thread_of_their_target(
    drawn: list[tuple[int, datetime]], batch: int, named: list[Item], direction: str, names_owner: bool
) -> None:
    """Unknown ids, other owners' and those under another thread than named are skipped; windows overlap."""
    owner, stranger = fresh("owner"), fresh("owner")
    threads = [
        Memory().create_thread(who, thread_id=fresh("thread")).uid
        for who in [owner] * OWN_THREADS + [stranger]
    ]
    rows = [Row(fresh("message"), threads[place], moment) for place, moment in drawn]
    save(rows, batch)
    expected = expected_sources(rows, threads, named)
    result = Memory().recall(
        threads[0],
        resource_id=owner if names_owner else None,
        per_page=0,
        order_by={"direction": direction},
        include=[given_item(item, rows, threads) for item in named],
    )
    assert [message.uid for message in result.messages] == [
        row.uid for row in in_order(rows, direction) if row.uid in expected
    ]
    # A message that one include names rightly or not at all; see the next test for the others.
    skipped = {rows[item.place].uid for item in named if item.place < len(rows)} - targets_of(expected)
    sources = {message.uid: set(message.recall.sources) for message in result.messages}
    assert {uid: why for uid, why in sources.items() if uid not in skipped} == {
        uid: why for uid, why in expected.items() if uid not in skipped
    }
    assert {message.uid: message.thread.uid for message in result.messages} == {
        row.uid: row.thread for row in rows if row.uid in expected
    }
    assert (result.total, result.has_more) == (0, False)


@pytest.mark.django_db
def test_include_that_is_skipped_is_no_source() -> None:
    """Rule 5: an include whose `thread_id` is not its thread does nothing, not even to a neighbour."""
    thread = Memory().create_thread("owner", thread_id=fresh("thread")).uid
    other = Memory().create_thread("owner", thread_id=fresh("thread")).uid
    rows = [Row(fresh("message"), thread, MOMENTS[0]), Row(fresh("message"), thread, MOMENTS[1])]
    save(rows, 2)
    items = [{"id": rows[0].uid, "with_next_messages": 1}, {"id": rows[1].uid, "thread_id": other}]
    near = Memory().recall(thread, per_page=0, include=items).chronological()
    assert [message.recall.sources for message in near] == [{"include"}, {"context"}]
    page = Memory().recall(thread, per_page=1, include=items[1:]).messages
    assert [(message.uid, message.recall.sources) for message in page] == [(rows[1].uid, {"history"})]


@pytest.mark.django_db
@settings(max_examples=40)
@given(
    drawn=st.lists(st.sampled_from(MOMENTS), min_size=1, max_size=14),
    before=st.integers(0, 4),
    after=st.integers(0, 4),
)
def test_window_of_every_message_of_a_thread(drawn: list[datetime], before: int, after: int) -> None:
    """Rule 5 at both ends of the thread and in the middle of every run of equal dates."""
    thread = Memory().create_thread("owner", thread_id=fresh("thread")).uid
    rows = [Row(fresh("message"), thread, moment) for moment in drawn]
    save(rows, len(rows))
    ordered = chronological(rows)
    for row in rows:
        item = {"id": row.uid, "with_previous_messages": before, "with_next_messages": after}
        result = Memory().recall(thread, per_page=0, include=[item])
        near = [other.uid for other in window(ordered, row, before, after)]
        assert [message.uid for message in result.chronological()] == near
