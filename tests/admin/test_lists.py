"""Lists find rows, and never count, sort or read a whole table for it (issue 5, point 1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from memory.admin import paging
from memory.admin.message import HitsPaginator
from memory.models import AdminEvent, Embedding, EmbeddingJob, EmbeddingSpace, Message, Resource, Thread
from tests.admin import START, changelist, conversation, text_of
from tests.admin.conftest import VIEWS
from tests.admin.world import World, make_world
from tests.queries import Statements

COUNT = re.compile(r"\bCOUNT\(", re.IGNORECASE)
Counter = Callable[..., AbstractContextManager[Statements]]


def rows(answer: Any) -> list[str]:
    return [row.uid for row in answer.context["cl"].result_list]


@pytest.mark.parametrize("model", [name for name in VIEWS if name != "embeddingspace"])
@pytest.mark.parametrize("query", [{}, {"q": "refund"}, {"_facets": "True"}])
def test_queries_are_few_and_counts_end(
    reader: Client, thread: Thread, count_queries: Counter, model: str, query: dict[str, str]
) -> None:
    """The number of queries does not grow with the rows, and a count reads 10,001 rows at most."""
    conversation("t2", ["refund"] * 60)
    with count_queries(at_most=11) as statements:
        assert reader.get(changelist(model), query).status_code == 200
    for statement in statements:
        assert not COUNT.search(statement) or re.search(r"LIMIT (10001|1001)\b", statement), statement


@pytest.mark.parametrize("model", VIEWS)
def test_queries_do_not_grow_with_the_rows(
    reader: Client, embedded_world: World, on_commit: Any, count_queries: Counter, model: str
) -> None:
    reader.get(changelist(model))
    with count_queries() as few:
        reader.get(changelist(model))
    with on_commit():
        for uid in ("second", "third"):
            make_world(uid)
            AdminEvent.objects.record("export_resource", resource_id=uid)
    with count_queries() as many:
        found = reader.get(changelist(model)).context["cl"].result_list
    assert len(found) >= (1 if model == "embeddingspace" else 2)
    assert len(many) == len(few), many


def test_a_count_says_where_it_ended(reader: Client, thread: Thread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging.CappedPaginator, "cap", 2)
    assert "2+ messages" in text_of(reader.get(changelist("message")))
    monkeypatch.setattr(paging.CappedPaginator, "cap", 3)
    assert "3 messages" in text_of(reader.get(changelist("message")))
    assert paging.capped(10_001) == "10,000+"
    assert paging.capped(10_000) == "10,000"


@pytest.mark.parametrize(
    ("model", "lookup"),
    [
        ("message", "text__contains"),
        ("message", "metadata__plan"),
        ("thread", "title__startswith"),
        ("thread", "resource__metadata__plan"),
        ("embedding", "text_hash"),
        ("workingmemory", "value__contains"),
    ],
)
def test_an_address_asks_for_nothing_but_filters(
    reader: Client, thread: Thread, model: str, lookup: str
) -> None:
    """Django answers any lookup of a column, whatever it costs and tells."""
    assert reader.get(changelist(model), {lookup: "x"}).status_code == 400


@pytest.mark.parametrize(
    ("model", "term", "found"),
    [
        ("message", "t1-1", ["t1-1"]),
        ("message", "t1", ["t1-2", "t1-1", "t1-0"]),
        ("message", "r1", ["t1-2", "t1-1", "t1-0"]),
        ("message", "환불", ["t1-0"]),
        ("message", "退款", ["t1-1"]),
        ("message", "注销", ["t1-1"]),
        ("message", "4711 refund", ["t1-2"]),
        ("message", "nothing", []),
        ("message", "%", []),
        ("message", "\x00", ["t1-2", "t1-1", "t1-0"]),
        ("thread", "t1", ["t1"]),
        ("thread", "r1", ["t1"]),
        ("thread", "영수증 환불", ["t1"]),
        ("thread", "영수증 없음", []),
        ("resource", "r1", ["r1"]),
        ("resource", "maya", ["r1"]),
        ("resource", "may", []),
    ],
)
def test_search(
    reader: Client, thread: Thread, django_user_model: Any, model: str, term: str, found: list[str]
) -> None:
    """An exact id of any kind, else words of titles and texts, else the name of an account."""
    Thread.objects.filter(pk=thread.pk).update(title="환불과 영수증")
    Resource.objects.update(user=django_user_model.objects.create_user("maya"))
    assert rows(reader.get(changelist(model), {"q": term})) == found


def test_a_hit_shows_its_words_and_opens_at_the_message(reader: Client) -> None:
    thread = conversation("t", ["x " * 200 + "환불요청 " + "y " * 200])
    answer = text_of(reader.get(changelist("message"), {"q": "환불"}))
    assert "<mark>환불</mark>요청" in answer
    assert f"/thread/{thread.pk}/transcript/?message=t-0" in answer


def test_filter_by_owner(reader: Client, thread: Thread, django_user_model: Any) -> None:
    conversation("t2", ["x"], owner="r2")
    Resource.objects.filter(uid="r2").update(user=django_user_model.objects.create_user("maya"))
    for model, by_owner in (("thread", {"r1": ["t1"], "r2": ["t2"]}), ("message", {"r2": ["t2-0"]})):
        for owner, found in by_owner.items():
            assert rows(reader.get(changelist(model), {"owner": owner})) == found
        assert rows(reader.get(changelist(model), {"owner": "maya"})) == by_owner["r2"]
        assert rows(reader.get(changelist(model), {"owner": "nobody"})) == []


def test_an_id_with_spaces_at_its_ends_is_found(reader: Client) -> None:
    """They are a part of it (contract, section 1); a pasted id has some that are not."""
    conversation(" t ", ["x"], owner=" r ")
    conversation("t", ["x"], owner="r")
    for model, padded, bare in (
        ("thread", " t ", "t"),
        ("message", " t -0", "t-0"),
        ("resource", " r ", "r"),
    ):
        assert padded in rows(reader.get(changelist(model), {"q": padded}))
        assert rows(reader.get(changelist(model), {"q": bare})) == [bare]
        assert bare in rows(reader.get(changelist(model), {"q": f"{bare} "}))
    for owner, found in ((" r ", [" t ", "t"]), ("r", ["t"]), ("r\t", ["t"])):
        assert sorted(rows(reader.get(changelist("thread"), {"owner": owner}))) == found


@pytest.mark.parametrize("model", VIEWS)
def test_lists_read_nothing_large(
    reader: Client, marked: dict[str, Any], count_queries: Counter, model: str
) -> None:
    """Bodies, metadata, working memories and vectors may have megabytes, and stand in no list."""
    with count_queries() as statements:
        answer = reader.get(changelist(model))
    assert len(answer.context["cl"].result_list) >= 1
    large = re.compile(r'"(body|metadata|value|vector)"')
    assert not [statement for statement in statements if large.search(statement)]


@pytest.mark.parametrize("key", ["x", "\x00", "9" * 30, "-" + "9" * 30, ""])
def test_keys_of_no_row_are_no_error(reader: Client, thread: Thread, key: str) -> None:
    page = changelist("message")
    answer = reader.post(page, {"action": "delete_listed", "_selected_action": key, "index": "0"})
    assert answer.status_code == 302


def test_rows_of_an_id_are_all_there(reader: Client, thread: Thread, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of words end at 1,000, as no more are looked for."""
    monkeypatch.setattr(HitsPaginator, "cap", 2)
    assert "3 messages" in text_of(reader.get(changelist("message"), {"q": "t1"}))
    conversation("t2", ["refund"] * 3)
    assert "2+ messages" in text_of(reader.get(changelist("message"), {"q": "refund"}))


def test_an_account_of_very_many_resources(
    reader: Client, thread: Thread, django_user_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation("t2", ["x"], owner="r2")
    Resource.objects.update(user=django_user_model.objects.create_user("maya"))
    monkeypatch.setattr("memory.admin.filters.MAX_OWNERS", 1)
    answer = reader.get(changelist("thread"), {"owner": "maya"})
    assert rows(answer) == []
    assert "more than 1 resources" in text_of(answer)


def test_a_filter_that_is_too_long_is_told(reader: Client, thread: Thread) -> None:
    Thread.objects.filter(pk=thread.pk).update(metadata={"note": "x" * 600})
    assert rows(reader.get(changelist("thread"), {"metadata": f"note={'x' * 600}"})) == ["t1"]
    for name, most in (("metadata", 2_000), ("owner", 512)):
        answer = reader.get(changelist("thread"), {name: "x" * (most + 1)})
        assert rows(answer) == []
        assert f"At most {most:,} characters." in text_of(answer)


def test_a_list_is_searched_within_a_conversation(reader: Client, thread: Thread) -> None:
    conversation("t2", ["refund"], owner="r1")
    query = {"thread__id__exact": thread.pk, "q": "refund"}
    assert rows(reader.get(changelist("message"), query)) == ["t1-2"]


def test_a_list_answers_a_post_without_an_action_elsewhere(reader: Client, thread: Thread) -> None:
    """Only a GET has a time limit."""
    answer = reader.post(f"{changelist('message')}?q=refund", {})
    assert (answer.status_code, answer.url) == (302, f"{changelist('message')}?q=refund")


def test_filter_by_days_in_the_zone_of_the_viewer(reader: Client, settings: Settings) -> None:
    """Both ends are whole days. 15:30 in UTC is the next day in Seoul."""
    settings.TIME_ZONE = "UTC"
    thread = conversation("t", ["a", "b"])
    zone = ZoneInfo("Asia/Seoul")
    for number, moment in enumerate([datetime(2026, 3, 1, 15, 30), datetime(2026, 3, 2, 14, 59)]):
        Message.objects.filter(uid=f"t-{number}").update(created_at=moment.replace(tzinfo=ZoneInfo("UTC")))
    assert thread.created_at.tzinfo is not None
    page = changelist("message")
    reader.cookies["memory_zone"] = "Asia/Seoul"
    assert rows(reader.get(page, {"from": "2026-03-02", "to": "2026-03-02"})) == ["t-1", "t-0"]
    assert rows(reader.get(page, {"to": "2026-03-01"})) == []
    assert zone.key in text_of(reader.get(page))
    reader.cookies["memory_zone"] = "UTC"
    assert rows(reader.get(page, {"to": "2026-03-01"})) == ["t-0"]
    today = timezone.localdate()
    Message.objects.filter(uid="t-1").update(created_at=timezone.now() - timedelta(days=3))
    assert rows(reader.get(page, {"from": str(today - timedelta(days=6))})) == ["t-1"]


@pytest.mark.parametrize("day", ["yesterday", "2026-02-30", "0001-01-01", "9999-12-31", "2026-3-1"])
def test_a_wrong_day_is_told(reader: Client, thread: Thread, day: str) -> None:
    answer = reader.get(changelist("message"), {"from": day, "to": day})
    assert answer.status_code == 200
    assert rows(answer) == []
    # Whether the first and the last day there are have a midnight depends on the zone.
    assert "A date looks like" in text_of(answer) or day in ("0001-01-01", "9999-12-31")


def test_filter_by_role_and_redaction(reader: Client, thread: Thread) -> None:
    Message.objects.filter(uid="t1-2").update(redacted_at=START)
    page = changelist("message")
    assert rows(reader.get(page, {"role__exact": "assistant"})) == ["t1-1"]
    assert rows(reader.get(page, {"redacted": "yes"})) == ["t1-2"]


def test_filter_by_embedding(reader: Client) -> None:
    thread = conversation("t", ["embedded", "waiting", "failed", [{"type": "file", "filename": "x"}]])
    EmbeddingJob.objects.all().delete()
    space, _ = EmbeddingSpace.objects.get_or_create(
        alias="default", defaults={"model": "hash", "dimensions": 64}
    )
    found = {message.text or "none": message for message in Message.objects.all()}
    Embedding.objects.create(
        message=found["embedded"], space=space, thread=thread, resource=thread.resource, text_hash="x"
    )
    EmbeddingJob.objects.create(message=found["waiting"], space=space)
    EmbeddingJob.objects.create(message=found["failed"], space=space, state="failed")
    for state, message in found.items():
        assert rows(reader.get(changelist("message"), {"embedding": state})) == [message.uid], state


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("plan=pro", ["a"]),
        ("n=3", ["a"]),
        ("n=3.0", ["a"]),
        ('n="3"', ["b"]),
        ("vip=true", ["a"]),
        ("vip=1", []),
        ("vip=null", ["b"]),
        ("code={}", ["a"]),
        ("plan=", []),
        ("gone=null", []),
    ],
)
def test_filter_by_metadata(reader: Client, typed: str, found: list[str]) -> None:
    """Type and value are the same, by the rule of the contract (section 2)."""
    entries = {
        "a": {"plan": "pro", "n": 3, "vip": True, "code": "{}"},
        "b": {"plan": "free", "n": "3", "vip": None},
    }
    for uid, metadata in entries.items():
        thread = conversation(uid, ["x"], owner=uid)
        Resource.objects.filter(uid=uid).update(metadata=metadata)
        Thread.objects.filter(pk=thread.pk).update(metadata=metadata)
        Message.objects.filter(thread=thread).update(metadata=metadata)
    for model, suffix in (("resource", ""), ("thread", ""), ("message", "-0")):
        answer = reader.get(changelist(model), {"metadata": typed})
        assert rows(answer) == [f"{uid}{suffix}" for uid in found]


@pytest.mark.parametrize("typed", ["plan", "=x", "a b=x", "__proto__=1", "n=1e999"])
def test_a_wrong_entry_is_told(reader: Client, thread: Thread, typed: str) -> None:
    answer = reader.get(changelist("message"), {"metadata": typed})
    assert rows(answer) == []
    assert 'role="alert"' in text_of(answer)


def test_filters_keep_each_other(reader: Client, thread: Thread) -> None:
    """The form of one filter sends the others along, and the words that are searched."""
    answer = text_of(reader.get(changelist("message"), {"q": "refund", "owner": "r1", "role__exact": "user"}))
    form = answer[answer.index('name="metadata"') - 600 : answer.index('name="metadata"')]
    for name, value in (("q", "refund"), ("owner", "r1"), ("role__exact", "user")):
        assert f'<input type="hidden" name="{name}" value="{value}">' in form
