"""A conversation is read page by page, at the same cost wherever it is opened (issue 5, point 2)."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from memory.admin.addresses import message_url
from memory.admin.links import LINKS, Link
from memory.models import AdminEvent, EmbeddingJob, EmbeddingSpace, Message, Thread
from tests.admin import START, conversation, shown_messages, text_of, transcript
from tests.queries import Statements

Counter = Callable[..., AbstractContextManager[Statements]]


def numbers(first: int, last: int) -> list[str]:
    return [f"long-{number}" for number in range(first, last + 1)]


PAGES: list[tuple[dict[str, str], list[str], tuple[bool, bool]]] = [
    ({}, numbers(2950, 2999), (True, False)),
    ({"position": "first"}, numbers(0, 49), (False, True)),
    ({"before": "long-2950"}, numbers(2900, 2949), (True, True)),
    ({"before": "long-50"}, numbers(0, 49), (False, True)),
    ({"after": "long-49"}, numbers(50, 99), (True, True)),
    ({"after": "long-2949"}, numbers(2950, 2999), (True, False)),
    ({"message": "long-1500"}, numbers(1475, 1525), (True, True)),
    ({"message": "long-0"}, numbers(0, 25), (False, True)),
    ({"message": "long-2999"}, numbers(2974, 2999), (True, False)),
    ({"date": "2026-03-02"}, numbers(720, 769), (True, True)),
    ({"date": "2020-01-01"}, numbers(0, 49), (False, True)),
    ({"date": "2030-01-01"}, numbers(2950, 2999), (True, False)),
    ({"date": "nonsense"}, numbers(2950, 2999), (True, False)),
    ({"before": "nosuch"}, numbers(2950, 2999), (True, False)),
]


def test_pages_of_a_long_thread(reader: Client, count_queries: Counter) -> None:
    """At any depth: which messages, whether there are more, few queries, and none of them counts.

    The session, the user and the two queries for permissions are among them.
    """
    thread = conversation("long", [f"number {number}" for number in range(3_000)])
    reader.cookies["memory_zone"] = "UTC"
    # What a date means here: number 720 is the first of 2 March.
    assert Message.objects.get(uid="long-720").created_at == datetime(2026, 3, 2, tzinfo=UTC)
    for query, shown, sides in PAGES:
        with count_queries(at_most=9) as statements:
            answer = reader.get(transcript(thread), query)
        assert shown_messages(answer) == shown, query
        page = answer.context["page"]
        assert (page.older, page.newer) == sides, query
        assert not any("COUNT(" in statement.upper() for statement in statements)


def test_walking_through_all_pages_meets_every_message_once(reader: Client) -> None:
    """The same date for many messages is no trap."""
    thread = conversation("t", [str(number) for number in range(230)])
    Message.objects.filter(pk__gt=Message.objects.get(uid="t-20").pk).update(created_at=START)
    expected = list(Message.objects.chronological().values_list("uid", flat=True))
    for rel, found in (("prev", expected[-50:]), ("next", expected[:50])):
        query = {} if rel == "prev" else {"position": "first"}
        answer = reader.get(transcript(thread), query)
        assert shown_messages(answer) == found
        walked = list(found)
        while f'rel="{rel}"' in (html := text_of(answer)):
            link = html.split(f'rel="{rel}" href="', 1)[1].split('"', 1)[0]
            answer = reader.get(transcript(thread) + link)
            page = shown_messages(answer)
            walked = page + walked if rel == "prev" else walked + page
        assert walked == expected


def test_a_permalink_is_marked_and_has_its_place(reader: Client) -> None:
    thread = conversation("long", [f"number {number}" for number in range(120)])
    html = text_of(reader.get(transcript(thread), {"message": "long-60"}))
    assert html.count(" data-mem-focus>") == 1
    article = html[html.index(" data-mem-focus>") :]
    assert article.index("number 60") < article.index("</article>")
    links = [part.split('"', 1)[0] for part in html.split('class="mem-time" href="')[1:]]
    assert [parse_qs(urlsplit(link).query)["message"] for link in links] == [[uid] for uid in numbers(35, 85)]


def test_a_permalink_follows_a_move(reader: Client, thread: Thread) -> None:
    other = conversation("t2", ["x"])
    Message.objects.filter(uid="t1-1").update(thread=other)
    answer = reader.get(transcript(thread), {"message": "t1-1"})
    assert answer.url == f"{transcript(other)}?message=t1-1"
    answer = reader.get(transcript(thread), {"message": "nosuch"}, follow=True)
    assert "There is no message nosuch." in text_of(answer)


def test_a_permalink_tells_when_its_message_was_deleted(reader: Client, thread: Thread) -> None:
    """As the events of the staff say it; also from where the message was before it moved."""
    ids = {"resource_id": "r1", "thread_id": "elsewhere", "message_id": "t1-1"}
    event = AdminEvent.objects.record("delete_message", **ids)
    AdminEvent.objects.filter(pk=event.pk).update(created_at=datetime(2026, 3, 1, 14, 30, tzinfo=UTC))
    AdminEvent.objects.record("delete_message", **{**ids, "resource_id": "r2", "message_id": "of-another"})
    Message.objects.filter(uid="t1-1").delete()
    reader.cookies["memory_zone"] = "Asia/Seoul"
    answer = reader.get(transcript(thread), {"message": "t1-1"}, follow=True)
    assert "The message t1-1 was deleted: March 1, 2026, 11:30 p.m." in text_of(answer)
    answer = reader.get(transcript(thread), {"message": "of-another"}, follow=True)
    assert "There is no message of-another." in text_of(answer)


@pytest.mark.parametrize("uid", ["이" * 512, " %" * 256, "/" * 512])
def test_an_address_is_never_longer_than_servers_take(reader: Client, uid: str) -> None:
    """A long id is named by the key of its row; servers refuse addresses of some 4,000 characters."""
    thread = conversation("t", [str(number) for number in range(120)])
    for number in (35, 60, 85):
        Message.objects.filter(uid=f"t-{number}").update(uid=f"{number}{uid}"[:512])
    message = Message.objects.get(uid__startswith="60")
    answer = reader.get(message_url(message, "admin"))
    assert answer.context["page"].focus == message
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="([^"]+)"', text_of(answer))]
    assert max(map(len, links)) < 1_000
    for side, nearest in (("before", -1), ("after", 0)):
        link = next(link for link in links if link.startswith(f"?{side}="))
        shown = shown_messages(reader.get(f"{transcript(thread)}{link}"))
        assert shown[nearest] == {"before": "t-34", "after": "t-86"}[side]


@pytest.mark.parametrize("key", ["0", "x", "-1", "²", "9" * 19, "9" * 400])
def test_a_key_of_no_message(reader: Client, thread: Thread, key: str) -> None:
    answer = reader.get(transcript(thread), {"message": key, "by": "key"}, follow=True)
    assert "It is not there any more." in text_of(answer)


def test_ids_of_any_form(reader: Client) -> None:
    """Ids are chosen by callers (contract, section 1)."""
    uids = ["a b&c=d?#/", "<b>\"'", "한국어%20", "+"]
    thread = conversation("t", ["x"] * len(uids))
    for number, uid in enumerate(uids):
        Message.objects.filter(uid=f"t-{number}").update(uid=uid)
    html = text_of(reader.get(transcript(thread)))
    assert "<b>" not in html
    for part, uid in zip(html.split('class="mem-time" href="')[1:], uids, strict=True):
        link = part.split('"', 1)[0].replace("&amp;", "&")
        answer = reader.get(link)
        assert answer.context["page"].focus.uid == uid


def test_days_and_times_are_those_of_the_viewer(reader: Client) -> None:
    thread = conversation("t", ["a", "b"])
    Message.objects.filter(uid="t-0").update(created_at=datetime(2026, 3, 1, 14, 30, tzinfo=UTC))
    Message.objects.filter(uid="t-1").update(created_at=datetime(2026, 3, 1, 15, 30, tzinfo=UTC))
    reader.cookies["memory_zone"] = "Asia/Seoul"
    answer = reader.get(transcript(thread))
    assert [str(day.date) for day in answer.context["days"]] == ["2026-03-01", "2026-03-02"]
    assert "23:30:00" in text_of(answer)
    assert 'data-mem-zone="Asia/Seoul"' in text_of(answer)
    reader.cookies["memory_zone"] = "America/New_York"
    assert [str(day.date) for day in reader.get(transcript(thread)).context["days"]] == ["2026-03-01"]


@pytest.mark.parametrize("zone", ["../../etc/passwd", "Mars/Base", "", "/etc/localtime", "x" * 500, "posix/"])
def test_a_wrong_zone_is_that_of_the_site(reader: Client, thread: Thread, zone: str) -> None:
    reader.cookies["memory_zone"] = zone
    assert reader.get(transcript(thread)).status_code == 200


def test_dates_at_the_ends_of_the_calendar(reader: Client) -> None:
    thread = conversation("t", ["a", "b"])
    Message.objects.filter(uid="t-0").update(created_at=datetime(1, 1, 3, tzinfo=UTC))
    Message.objects.filter(uid="t-1").update(created_at=datetime(9999, 12, 29, tzinfo=UTC))
    for zone in ("Pacific/Kiritimati", "Pacific/Midway"):
        reader.cookies["memory_zone"] = zone
        for query in ({}, {"date": "0001-01-01"}, {"date": "9999-12-31"}):
            assert len(shown_messages(reader.get(transcript(thread), query))) >= 1


def test_states_are_visible(reader: Client) -> None:
    """Redacted, failed, waiting and unembedded messages are shown as what they are, never as gaps."""
    file = {"type": "file", "filename": "receipt.pdf", "mediaType": "application/pdf", "data": "QUJD" * 300}
    thread = conversation("t", ["gone", "failed", "waiting", [file], "untouched"])
    EmbeddingJob.objects.all().delete()
    Message.objects.filter(uid="t-0").update(body={"format": 2, "parts": []}, redacted_at=START)
    space, _ = EmbeddingSpace.objects.get_or_create(
        alias="default", defaults={"model": "hash", "dimensions": 64}
    )
    EmbeddingJob.objects.all().delete()
    failed, waiting = Message.objects.filter(uid__in=["t-1", "t-2"]).order_by("pk")
    EmbeddingJob.objects.create(message=failed, space=space, state="failed", error="too long")
    EmbeddingJob.objects.create(message=waiting, space=space)
    answer = reader.get(transcript(thread))
    entries = {entry.message.uid: entry for day in answer.context["days"] for entry in day.entries}
    states = [entry.embedding.name for entry in entries.values()]
    assert states == ["none", "failed", "waiting", "none", "missing"]
    html = text_of(answer)
    for said in ("Redacted: nothing of what it said is left here", "too long", "receipt.pdf"):
        assert said in html
    assert "QUJD" not in html


def test_links_to_acts_stand_where_their_pages_are(reader: Client, thread: Thread) -> None:
    known = Link("memory_message_history", "What happened", "memory.view_message")
    forbidden = known._replace(label="Forbidden", permission="memory.redact_message")
    absent = known._replace(name="memory_message_nosuch", label="Absent")
    LINKS["message"] += [known, forbidden, absent]
    try:
        html = text_of(reader.get(transcript(thread)))
    finally:
        for link in (known, forbidden, absent):
            LINKS["message"].remove(link)
    key = Message.objects.get(uid="t1-0").pk
    assert f'<a href="{reverse("admin:memory_message_history", args=[key])}">What happened</a>' in html
    assert "Forbidden" not in html
    assert "Absent" not in html


def test_unknown_threads(reader: Client, thread: Thread) -> None:
    for key in ("0", "x", str(2**70), "_5F"):
        answer = reader.get(f"/admin/memory/thread/{key}/transcript/", follow=True)
        assert answer.redirect_chain == [(reverse("admin:index"), 302)]
        assert "It is not there any more." in text_of(answer)
    empty = Thread.objects.create(uid="empty", resource=thread.resource)
    assert "There is no message in this conversation." in text_of(reader.get(transcript(empty)))
