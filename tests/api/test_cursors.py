"""Keyset cursors of `POST recall`: walks that inserts and deletions do not disturb."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.core import signing

from memory import Memory
from memory.models import Message
from tests.api import Answer, Caller, ids

pytestmark = pytest.mark.django_db

SAME = "2026-01-01T00:00:00Z"


def fill(uid: str, dates: list[str], owner: str = "ada") -> list[str]:
    """A thread with one message a date; their ids in the order of saving."""
    Memory().create_thread(owner, thread_id=uid)
    shapes = [
        {
            "id": f"{uid}-{number}",
            "thread_id": uid,
            "role": "user",
            "content": {
                "parts": [{"type": "text", "text": f"text {number}"}],
                "metadata": {"odd": number % 2},
            },
            "created_at": date,
        }
        for number, date in enumerate(dates)
    ]
    return [message.uid for message in Memory().save_messages(shapes)]


def walk(caller: Caller, body: dict[str, Any], step: str = "nextCursor") -> list[list[str]]:
    """The ids of all pages from the one `body` asks for."""
    pages: list[list[str]] = []
    while True:
        answer = caller.post("recall", body)
        pages.append(ids(answer))
        if step == "nextCursor":
            assert answer.body["hasMore"] == (answer.body[step] is not None)
        if answer.body[step] is None:
            return pages
        body = {name: value for name, value in body.items() if name != "page"} | {"cursor": answer.body[step]}


def joined(pages: list[list[str]]) -> list[str]:
    return [uid for page in pages for uid in page]


@pytest.mark.smoke
@pytest.mark.parametrize("direction", ["ASC", "DESC"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_a_walk_reads_every_message_once_with_ties_too(ada: Caller, direction: str, size: int) -> None:
    dates = [SAME, SAME, SAME, "2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z", SAME]
    fill("t", dates)
    body = {"threadId": "t", "perPage": size, "orderBy": {"direction": direction}}
    everything = ids(ada.post("recall", {**body, "perPage": False}))
    pages = walk(ada, body)
    assert joined(pages) == everything
    assert [len(page) for page in pages[:-1]] == [size] * (len(pages) - 1)
    # And back again from the last page.
    last = body
    while cursor := ada.post("recall", last).body["nextCursor"]:
        last = {**body, "cursor": cursor}
    assert walk(ada, last, "prevCursor")[::-1] == pages or size > len(dates)


@pytest.mark.parametrize("seed", range(5))
def test_a_walk_survives_inserts_and_the_deletion_of_its_anchor(ada: Caller, seed: int) -> None:
    """Whatever happens between two pages: what stays is read, once, and in order."""
    chance = random.Random(seed)
    dates = [f"2026-01-{chance.randint(1, 5):02}T00:00:00Z" for _ in range(20)]
    stored = set(fill("t", dates))
    body: dict[str, Any] = {
        "threadId": "t",
        "perPage": 3,
        "orderBy": {"direction": chance.choice(["ASC", "DESC"])},
    }
    seen: list[str] = []
    gone: set[str] = set()
    while True:
        answer = ada.post("recall", body)
        page = ids(answer)
        seen += page
        if answer.body["nextCursor"] is None:
            break
        gone |= {page[-1], *chance.sample(sorted(stored), 1)}
        Memory().delete_messages(sorted(gone))
        when = f"2026-01-{chance.randint(1, 5):02}T00:00:00Z"
        Memory().save_messages([{"thread_id": "t", "role": "user", "content": "new", "created_at": when}])
        body = {**body, "cursor": answer.body["nextCursor"]}
    assert len(seen) == len(set(seen))
    assert stored - gone <= set(seen)


def test_an_empty_page_leads_back(ada: Caller) -> None:
    stored = fill("t", [SAME] * 6)
    body = {"threadId": "t", "perPage": 2, "orderBy": {"direction": "ASC"}}
    second = {**body, "cursor": ada.post("recall", body).body["nextCursor"]}
    Memory().delete_messages(stored[2:])
    empty = ada.post("recall", second)
    assert (ids(empty), empty.body["hasMore"], empty.body["nextCursor"]) == ([], False, None)
    back = ada.post("recall", {**body, "cursor": empty.body["prevCursor"]})
    assert (ids(back), back.body["prevCursor"]) == (stored[:2], None)


def test_numbered_pages_lead_into_walks(ada: Caller) -> None:
    stored = fill("t", [SAME] * 6)
    body = {"threadId": "t", "perPage": 2, "orderBy": {"direction": "ASC"}}
    middle = ada.post("recall", {**body, "page": 1})
    assert (ids(middle), middle.body["page"]) == (stored[2:4], 1)
    before = ada.post("recall", {**body, "cursor": middle.body["prevCursor"]})
    assert (ids(before), before.body["page"], before.body["prevCursor"]) == (stored[:2], None, None)
    assert before.body["hasMore"] is True
    behind = ada.post("recall", {**body, "cursor": middle.body["nextCursor"]})
    assert (ids(behind), behind.body["nextCursor"], behind.body["total"]) == (stored[4:], None, 6)
    assert ada.post("recall", body).body["prevCursor"] is None
    for size in (0, False):
        answer = ada.post("recall", {**body, "perPage": size})
        assert (answer.body["nextCursor"], answer.body["prevCursor"]) == (None, None)


def test_includes_and_hits_come_with_the_first_page_only(ada: Caller, embedder: Any) -> None:
    stored = fill("t", [f"2026-01-{day:02}T00:00:00Z" for day in range(1, 9)])
    body = {
        "threadId": "t",
        "perPage": 2,
        "include": [{"id": stored[0]}],
        "vectorSearchString": "text 3",
        "threadConfig": {"semanticRecall": {"topK": 1, "messageRange": 0}},
    }
    first = ada.post("recall", body)
    assert {stored[0], stored[7], stored[6]} <= set(ids(first))
    embedder.calls.clear()
    second = ada.post("recall", {**body, "cursor": first.body["nextCursor"]})
    assert ids(second) == [stored[5], stored[4]]
    assert all(
        row["recall"] == {"sources": ["history"], "similarity": None} for row in second.body["messages"]
    )
    assert embedder.calls == []
    assert second.body["usage"] is None


def test_a_walk_keeps_to_its_filter(ada: Caller) -> None:
    stored = fill("t", [SAME] * 9)
    body = {
        "threadId": "t",
        "perPage": 2,
        "filter": {"metadata": {"odd": 1}},
        "orderBy": {"direction": "ASC"},
    }
    assert joined(walk(ada, body)) == stored[1::2]


@pytest.mark.smoke
def test_a_cursor_is_good_for_its_own_recall_only(ada: Caller, thread: Callable[..., str]) -> None:
    fill("t", [SAME] * 6)
    fill("u", [SAME] * 6)
    body = {"threadId": "t", "perPage": 2}
    cursor = ada.post("recall", body).body["nextCursor"]
    assert ada.post("recall", {**body, "cursor": cursor}).status == 200
    assert (
        ada.post("recall", {**body, "cursor": cursor, "resourceId": "ada", "agentId": "client"}).status == 200
    )

    def refused(answer: Answer) -> None:
        assert (answer.status, answer.fields) == (400, ["cursor"]), answer

    for change in (
        {"threadId": "u"},
        {"perPage": 3},
        {"perPage": False},
        {"orderBy": {"direction": "ASC"}},
        {"filter": {"metadata": {"odd": 1}}},
        {"filter": {"dateRange": {"start": SAME}}},
    ):
        refused(ada.post("recall", {**body, **change, "cursor": cursor}))
    for wrong in ("", "x", cursor[:-1], f"{cursor}x", "\ud800", "é:é:é", signing.dumps([1, 2])):
        refused(ada.post("recall", {**body, "cursor": wrong}))
    answer = ada.post("recall", {**body, "cursor": cursor, "page": 0})
    assert (answer.status, answer.fields) == (400, ["page"])
    thread("theirs", "bob", 4)
    assert ids(ada.post("recall", {"threadId": "theirs", "perPage": 1})) == []


def test_a_cursor_says_nothing_of_a_foreign_thread(
    ada: Caller, staff: Caller, thread: Callable[..., str]
) -> None:
    """Even one that was made for the thread: without the thread it leads nowhere."""
    thread("theirs", "bob", 4)
    body = {"threadId": "theirs", "perPage": 1}
    cursor = staff.post("recall", body).body["nextCursor"]
    answer = ada.post("recall", {**body, "cursor": cursor})
    assert ids(answer) == []
    assert (answer.body["nextCursor"], answer.body["prevCursor"], answer.body["total"]) == (None, None, 0)
    assert ada.post("recall", {**body, "cursor": cursor, "resourceId": "ada"}).status == 404


def test_messages_are_read_by_the_keyset_and_not_by_an_offset(ada: Caller, count_queries: Any) -> None:
    fill("t", [SAME] * 6)
    body = {"threadId": "t", "perPage": 2, "includeTotal": False}
    cursor = ada.post("recall", body).body["nextCursor"]
    with count_queries() as statements:
        ada.post("recall", {**body, "cursor": cursor})
    assert not any("OFFSET" in sql or "COUNT(" in sql for sql in statements), statements
    assert Message.objects.count() == 6
