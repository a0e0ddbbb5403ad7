"""The routes of threads: shapes, paging, orders, changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import ProtectedError
from django.db.models.signals import pre_delete

from memory import Memory
from memory.models import Message, Thread
from tests.api import Caller, ids

pytestmark = pytest.mark.django_db

DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
AGENT = {"agentId": "client"}


@pytest.mark.smoke
def test_a_thread_is_made_read_and_deleted(staff: Caller) -> None:
    metadata = {"topic": "trävel ✈", "n": 3.5, "nested": {"a": [1, None]}}
    body = {"resourceId": "r", "threadId": "t", "title": "Title", "metadata": metadata}
    made = staff.post("threads", body)
    assert made.status == 200
    assert set(made.body) == {"id", "resourceId", "title", "createdAt", "updatedAt", "metadata"}
    assert made.body["id"] == "t"
    assert made.body["metadata"] == metadata
    assert DATE.fullmatch(made.body["createdAt"])
    assert staff.get("threads/t").body == made.body
    assert staff.get("network/threads/t").body == made.body
    assert set(staff.delete("threads/t").body) == {"result"}
    assert staff.delete("threads/t").status == 404


def test_ids_are_the_callers_own(staff: Caller) -> None:
    for uid in ("a:b.c_d-e@f", "한국어", "a b", "a%2", "..", "x" * 512):
        assert staff.post("threads", {"resourceId": "r", "threadId": uid}).body["id"] == uid
        from urllib.parse import quote

        assert staff.get(f"threads/{quote(uid, safe='')}").body["id"] == uid
    assert staff.post("threads", {"resourceId": "r", "threadId": "x" * 513}).status == 400


def test_making_an_existing_thread_changes_what_is_given(staff: Caller) -> None:
    made = staff.post(
        "threads", {"resourceId": "r", "threadId": "t", "title": "a", "metadata": {"k": 1}}
    ).body
    again = staff.post("threads", {"resourceId": "r", "threadId": "t", "title": "b"}).body
    assert (again["title"], again["metadata"], again["createdAt"]) == ("b", {"k": 1}, made["createdAt"])
    assert Thread.objects.count() == 1


def test_patch_replaces_metadata(staff: Caller) -> None:
    staff.post("threads", {"resourceId": "r", "threadId": "t", "title": "a", "metadata": {"k": 1, "l": 2}})
    assert staff.patch("threads/t", {"metadata": {"m": 3}}).body["metadata"] == {"m": 3}
    assert staff.patch("threads/t", {"metadata": {}}).body["metadata"] == {}
    changed = staff.patch("threads/t", {"title": ""}).body
    assert (changed["title"], changed["metadata"]) == ("", {})
    before = staff.get("threads/t").body
    after = staff.patch("threads/t", {}).body
    assert after["updatedAt"] >= before["updatedAt"]
    assert {**after, "updatedAt": ""} == {**before, "updatedAt": ""}
    assert staff.patch("threads/nosuch", {}).status == 404


@pytest.mark.smoke
def test_threads_are_listed_in_pages(staff: Caller) -> None:
    for number in range(5):
        staff.post(
            "threads",
            {"resourceId": "r", "threadId": f"t{number}", "metadata": {"n": number, "odd": number % 2}},
        )
    page = staff.get("threads", resourceId="r")
    assert ids(page) == ["t4", "t3", "t2", "t1", "t0"]
    assert {name: page.body[name] for name in ("total", "page", "perPage", "hasMore")} == {
        "total": 5,
        "page": 0,
        "perPage": 100,
        "hasMore": False,
    }
    assert ids(staff.get("threads", perPage=2, page=1)) == ["t2", "t1"]
    assert staff.get("threads", perPage=2, page=1).body["hasMore"] is True
    assert staff.get("threads", perPage=2, page=9).body["total"] == 5
    empty = staff.get("threads", perPage="")
    assert (ids(empty), empty.body["total"], empty.body["hasMore"]) == ([], 5, True)
    assert ids(staff.get("threads", metadata={"odd": 1})) == ["t3", "t1"]
    assert ids(staff.get("threads", metadata={"odd": True})) == []
    assert ids(staff.get("threads", metadata={})) == ids(page)


@pytest.mark.parametrize(
    ("query", "newest_first"),
    [
        ({}, True),
        ({"orderBy": {"direction": "ASC"}}, False),
        ({"orderBy": {"field": "updatedAt"}}, True),
        ({"orderBy[field]": "createdAt", "orderBy[direction]": "ASC"}, False),
        ({"orderBy[direction]": "ASC", "orderBy": {"direction": "DESC"}}, True),
        ({"orderBy": "createdAt", "sortDirection": "ASC"}, False),
        ({"orderBy": "createdAt"}, True),
    ],
)
def test_orders_may_be_json_in_brackets_or_of_the_old_form(
    staff: Caller, query: dict[str, Any], newest_first: bool
) -> None:
    for uid in ("a", "b"):
        staff.post("threads", {"resourceId": "r", "threadId": uid})
    assert ids(staff.get("threads", **query)) == (["b", "a"] if newest_first else ["a", "b"])


def test_metadata_in_brackets_is_text(staff: Caller) -> None:
    staff.post("threads", {"resourceId": "r", "threadId": "a", "metadata": {"k": "1", "l": "x"}})
    staff.post("threads", {"resourceId": "r", "threadId": "b", "metadata": {"k": 1, "l": "x"}})
    assert ids(staff.get("threads", **{"metadata[k]": "1", "metadata[l]": "x"})) == ["a"]
    assert ids(staff.get("threads", **{"metadata[k]": "9", "metadata": {"k": 1}})) == ["b"]


@pytest.mark.parametrize("name", ["page", "perPage", "resourceId", "orderBy", "metadata", "agentId"])
def test_repeated_parameters_are_refused(staff: Caller, name: str) -> None:
    answer = staff.get(f"threads?{name}=1&{name}=1")
    assert (answer.status, answer.fields) == (400, [name])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        (" 2 ", 2),
        ("2.0", 2),
        ("2e0", 2),
        ("+2", 2),
        ("02", 2),
        ("-0", 0),
        ("-1", None),
        ("1.5", None),
    ]
    + [(text, None) for text in ("false", "NaN", "two", "0x2", "٢", "1_0", "Infinity", "9" * 40)],
)
def test_numbers_are_coerced(staff: Caller, text: str, number: int | None) -> None:
    answer = staff.get("threads", perPage=text)
    if number is None:
        assert (answer.status, answer.fields) == (400, ["perPage"])
    else:
        assert answer.body["perPage"] == number


def test_a_working_memory_in_metadata_becomes_one(staff: Caller) -> None:
    body = {"resourceId": "r", "threadId": "t", "metadata": {"workingMemory": "seed", "k": 1}}
    assert staff.post("threads", body, **AGENT).body["metadata"] == {"k": 1}
    assert staff.get("threads/t/working-memory", resourceId="r", **AGENT).body["workingMemory"] == "seed"
    staff.patch("threads/t", {"metadata": {"workingMemory": "new"}}, **AGENT)
    assert staff.get("threads/t/working-memory", resourceId="r", **AGENT).body["workingMemory"] == "new"
    assert staff.post("threads", {**body, "threadId": "u"}).body["metadata"] == body["metadata"]


@pytest.mark.smoke
def test_clones(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r", 5)
    clone = staff.post("threads/t/clone", {"newThreadId": "c", "title": "Copy", "metadata": {"a": 1}}).body
    assert set(clone) == {"thread", "clonedMessages", "messageIdMap"}
    assert (clone["thread"]["id"], clone["thread"]["title"]) == ("c", "Copy")
    assert clone["thread"]["metadata"]["a"] == 1
    assert clone["thread"]["metadata"]["clone"]["sourceThreadId"] == "t"
    assert [message["threadId"] for message in clone["clonedMessages"]] == ["c"] * 5
    assert list(clone["messageIdMap"]) == [f"t-{number}" for number in range(1, 6)]
    assert clone["messageIdMap"]["t-1"] == clone["clonedMessages"][0]["id"]
    assert staff.post("threads/t/clone").body["thread"]["title"] == "Clone of Title of t"

    def copied(**options: Any) -> list[str]:
        answer = staff.post("threads/t/clone", {"options": options})
        assert answer.status == 200, answer
        return list(answer.body["messageIdMap"])

    assert copied(messageLimit=2) == ["t-4", "t-5"]
    assert len(copied(messageLimit=0)) == 5
    dates = {"startDate": "2026-01-01T00:00:02Z", "endDate": 1767225603000}
    assert copied(messageFilter=dates) == ["t-2", "t-3"]
    assert copied(messageFilter={**dates, "messageIds": ["t-3", "t-4"]}, messageLimit=1) == ["t-3"]
    wrong = staff.post("threads/t/clone", {"options": {"messageFilter": {"messageIds": ["", 5]}}})
    assert wrong.fields == ["options.messageFilter.messageIds.0", "options.messageFilter.messageIds.1"]
    assert staff.post("threads/t/clone", {"newThreadId": "c"}).status == 409
    assert staff.post("threads/nosuch/clone", {}).status == 404


def test_the_dates_of_a_clone_mean_whole_milliseconds(staff: Caller) -> None:
    Memory().create_thread("r", thread_id="t")
    shape = {"thread_id": "t", "role": "user", "content": "x", "created_at": "2026-01-01T00:00:00.123456Z"}
    Memory().save_messages([shape])
    shown = "2026-01-01T00:00:00.123Z"
    dates = {"startDate": shown, "endDate": shown}
    assert (
        len(staff.post("threads/t/clone", {"options": {"messageFilter": dates}}).body["clonedMessages"]) == 1
    )


def test_transfers_keep_all_but_the_owner(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r", 2)
    before = staff.get("threads/t").body
    after = staff.post("threads/t/transfer", {"resourceId": "new"}).body
    assert {**after, "updatedAt": ""} == {**before, "updatedAt": "", "resourceId": "new"}
    assert {message.thread.resource.uid for message in Message.objects.all()} == {"new"}


def test_a_thread_is_deleted_by_either_path(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r")
    thread("u", "r")
    assert staff.delete("network/threads/t", networkId="n").status == 200
    assert staff.delete("threads/u", agentId="client").status == 200
    assert not Thread.objects.exists()


def test_a_thread_that_another_app_holds(staff: Caller, thread: Callable[..., str]) -> None:
    def hold(sender: Any, instance: Any, **kwargs: Any) -> None:
        raise ProtectedError("held", {instance.resource})

    thread("t", "r")
    pre_delete.connect(hold, sender=Thread)
    try:
        answer = staff.delete("threads/t")
    finally:
        pre_delete.disconnect(hold, sender=Thread)
    assert (answer.status, answer.body) == (409, {"error": "Other records of this site hold it."})
    assert Thread.objects.count() == 1


def test_head_answers_as_get_does(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r")
    response = staff.client.head("/api/memory/threads/t")
    assert (response.status_code, response.content) == (200, b"")
