"""Reading and searching are recorded where the site wants it (issue 5, point 5; the bar of the admin, 8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory.models import AdminEvent, Message, Thread
from tests.admin import MARKER, addresses, changelist, text_of, transcript

SEARCH = "admin:memory_search"


@pytest.fixture
def everything(staff: Callable[..., Client]) -> Client:
    """May do everything."""
    rights = Permission.objects.filter(content_type__app_label="memory")
    return staff(*rights.values_list("codename", flat=True))


@pytest.fixture
def _logged(settings: Settings) -> None:
    settings.MEMORY = {**settings.MEMORY, "ADMIN_LOG_READS": True}


def test_reads_and_searches_are_recorded(settings: Settings, reader: Client, thread: Thread) -> None:
    """Who, when, what and from where; never the words."""
    message = Message.objects.get(uid="t1-0")
    pages = [transcript(thread), reverse("admin:memory_message_change", args=[message.pk])]
    for page in pages:
        reader.get(page)
    assert not AdminEvent.objects.exists()
    settings.MEMORY = {**settings.MEMORY, "ADMIN_LOG_READS": True}
    for page in pages:
        reader.get(page)
    for page in (reverse(SEARCH), changelist("message"), changelist("resource")):
        reader.get(page, {"q": "refund"})
    # A list of messages shows what they say, whatever it is asked.
    reader.get(changelist("message"))
    events = AdminEvent.objects.order_by("pk")
    assert [(event.action, event.target) for event in events] == [
        ("read", "thread"),
        ("read", "message"),
        *[("search", "")] * 4,
    ]
    read = events[1]
    assert (read.resource_uid, read.thread_uid, read.message_uid) == ("r1", "t1", "t1-0")
    assert (read.actor_name, read.ip) == (read.actor.get_username(), "127.0.0.1")
    assert events[2].counts == {"results": 1}
    assert not any("refund" in f"{event.counts}{event.reason}" for event in events)


@pytest.mark.usefixtures("_logged")
def test_a_filter_by_content_or_owner_is_a_search(settings: Settings, reader: Client, thread: Thread) -> None:
    settings.MEMORY = {**settings.MEMORY, "ADMIN_LOG_READS": True}
    for query, count in (({"metadata": "plan=pro"}, 1), ({"from": "2026-01-01"}, 0)):
        AdminEvent.objects.all().delete()
        reader.get(changelist("resource"), query)
        assert AdminEvent.objects.filter(action="search").count() == count


def test_seeing_that_there_is_something_is_no_reading(masked: Client, thread: Thread) -> None:
    masked.get(transcript(thread))
    assert not AdminEvent.objects.exists()


@pytest.mark.usefixtures("_logged")
def test_whatever_page_shows_content_it_is_recorded(everything: Client, marked: dict[str, Any]) -> None:
    """Pages of rows, of acts, lists and searches alike; and no other page is."""
    shown = 0
    for url in [*addresses(marked), f"{transcript(marked['thread'])[:-11]}recall/?message=m-marked"]:
        events = AdminEvent.objects.count()
        answer = everything.get(url, follow=True)
        is_shown = MARKER in text_of(answer)
        assert (AdminEvent.objects.count() > events) == is_shown, url
        shown += is_shown
    assert shown >= 25


@pytest.mark.usefixtures("_logged")
def test_a_form_that_is_refused_shows_content_too(everything: Client, marked: dict[str, Any]) -> None:
    url = reverse("admin:memory_message_edit-text", args=[marked["message"].pk])
    answer = everything.post(url, {"reason": "", "text_1": "x"})
    assert MARKER in text_of(answer)
    assert AdminEvent.objects.filter(action="read", message_uid="m-marked").exists()


@pytest.mark.usefixtures("_logged")
def test_what_a_choice_finds_is_a_search(everything: Client, marked: dict[str, Any]) -> None:
    """The JSON from which select fields choose finds by words as the lists do."""
    asked = {"app_label": "memory", "model_name": "embedding", "field_name": "message", "term": MARKER}
    AdminEvent.objects.all().delete()
    assert len(everything.get(reverse("admin:autocomplete"), asked).json()["results"]) == 1
    event = AdminEvent.objects.get()
    assert (event.action, event.counts) == ("search", {"results": 1})
