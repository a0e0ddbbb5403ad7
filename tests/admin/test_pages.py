"""How pages answer: searched, logged, bounded, kept by nobody (issue 5, points 1, 5 and 7)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory.models import Message, Resource, Thread
from tests.admin import MARKER, changelist, conversation, marked_rows, text_of, transcript
from tests.admin.conftest import VIEW_ALL

SEARCH = "admin:memory_search"


@pytest.mark.parametrize(
    ("term", "resources", "threads", "messages"),
    [
        ("환불", [], ["t1"], ["t1-0"]),
        ("退款", [], [], ["t1-1"]),
        ("注销", [], [], ["t1-1"]),
        ("t1", [], ["t1"], []),
        ("t1-1", [], [], ["t1-1"]),
        ("r1", ["r1"], [], []),
        ("maya", ["r1"], [], []),
        ("refund", [], [], ["t1-2", "t2-0"]),
        ("nothing", [], [], []),
        ("\x00", [], [], []),
        ("'\"%_\\", [], [], []),
    ],
)
def test_search_over_everything(
    reader: Client,
    thread: Thread,
    django_user_model: Any,
    count_queries: Any,
    term: str,
    resources: list[str],
    threads: list[str],
    messages: list[str],
) -> None:
    """Owners, conversations and messages on one page, in a bounded number of queries."""
    Thread.objects.filter(pk=thread.pk).update(title="환불과 영수증")
    Resource.objects.update(user=django_user_model.objects.create_user("maya"))
    conversation("t2", ["the refund"])
    Message.objects.filter(uid="t2-0").update(created_at=Message.objects.get(uid="t1-0").created_at)
    with count_queries(at_most=13) as statements:
        answer = reader.get(reverse(SEARCH), {"q": term})
    assert not any("COUNT(" in statement.upper() for statement in statements)
    found = answer.context["results"]
    assert [row.uid for row in found.resources] == resources
    assert [row.thread.uid for row in found.threads] == threads
    assert [hit.message.uid for hit in found.hits] == messages


def test_an_id_with_spaces_at_its_ends(reader: Client) -> None:
    conversation(" t ", ["x"], owner=" r ")
    for term in (" r ", " t ", " t -0"):
        found = reader.get(reverse(SEARCH), {"q": term}).context["results"]
        uids = [row.uid for row in (*found.resources, *(row.thread for row in found.threads))]
        assert [*uids, *(hit.message.uid for hit in found.hits)] == [term]


def test_results_are_read_without_what_they_do_not_show(
    reader: Client, thread: Thread, count_queries: Any
) -> None:
    with count_queries() as statements:
        reader.get(reverse(SEARCH), {"q": "refund"})
    assert not [statement for statement in statements if '"body"' in statement or '"metadata"' in statement]


@pytest.mark.parametrize("name", ["search", "overview"])
def test_pages_that_only_show_take_no_post(reader: Client, name: str) -> None:
    assert reader.post(reverse(f"admin:memory_{name}"), {"q": "x"}).status_code == 405


def test_a_hit_opens_at_its_message(reader: Client) -> None:
    """Two characters of Korean and of Chinese, deep in a conversation."""
    texts = [f"number {number}" for number in range(200)]
    texts[60], texts[90] = "어제 결제한 주문을 환불해 주세요", "昨天的订单我要退款"
    conversation("t", texts)
    for word, uid in (("환불", "t-60"), ("退款", "t-90")):
        page = reader.get(reverse(SEARCH), {"q": word})
        assert f"<mark>{word}</mark>" in text_of(page)
        (hit,) = page.context["results"].hits
        opened = reader.get(hit.url)
        assert opened.context["page"].focus.uid == uid
        assert word in text_of(opened)


def test_the_memory_index_has_a_search_box(reader: Client) -> None:
    html = text_of(reader.get(reverse("admin:app_list", args=["memory"])))
    assert f'action="{reverse(SEARCH)}" method="get" role="search"' in html


@pytest.mark.django_db
def test_names_of_rows_are_ids() -> None:
    """Django keeps `str(row)` for good, in its log and its pages of history."""
    for row in marked_rows(MARKER).values():
        assert MARKER not in str(row)


def test_history_tells_no_content(staff: Callable[..., Client], django_user_model: Any) -> None:
    rows = marked_rows(MARKER)
    user = django_user_model.objects.create_user("x")
    LogEntry.objects.log_actions(user.pk, list(Thread.objects.all()), 2, "seen")
    html = text_of(staff(*VIEW_ALL).get(reverse("admin:memory_thread_history", args=[rows["thread"].pk])))
    assert "seen" in html
    assert MARKER not in html


def test_pages_are_kept_by_nobody(reader: Client, thread: Thread) -> None:
    key = Message.objects.get(uid="t1-0").pk
    for page in (
        transcript(thread),
        reverse(SEARCH),
        changelist("message"),
        reverse("admin:memory_message_change", args=[key]),
    ):
        headers = reader.get(page).headers
        assert "no-store" in headers["Cache-Control"]
        # Nothing for other sites; `no-referrer` would make the browser's POST from the page fail.
        assert headers["Referrer-Policy"] == "same-origin"


def test_the_policy_of_the_bundled_site(reader: Client, client: Client, thread: Thread) -> None:
    """`default-src 'self'` on every page of the admin, and no page that needs more."""
    inline = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", re.IGNORECASE)
    for page in (
        reverse("admin:index"),
        reverse("admin:app_list", args=["memory"]),
        reverse(SEARCH) + "?q=refund",
        changelist("message") + "?q=refund",
        transcript(thread),
        reverse("admin:memory_resource_change", args=[thread.resource_id]),
    ):
        answer = reader.get(page)
        assert answer.status_code == 200
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert not inline.search(text_of(answer)), page
    assert "Content-Security-Policy" in client.get(reverse("admin:login")).headers
    assert "Content-Security-Policy" not in client.get(reverse("health")).headers


def slow(request: HttpRequest) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(5)")


def test_a_slow_statement_ends_with_a_page(
    settings: Settings, reader: Client, thread: Thread, is_postgres: bool
) -> None:
    """`ADMIN_TIMEOUT` bounds every statement of a page that reads, and nothing else."""
    if not is_postgres:
        pytest.skip("SQLite has no time limit for statements")
    settings.MEMORY = {
        **settings.MEMORY,
        "ADMIN_TIMEOUT": 50,
        "ADMIN_RESOURCES": "tests.admin.test_pages.slow",
    }
    start = time.monotonic()
    for page in (transcript(thread), reverse(SEARCH) + "?q=x", changelist("message")):
        answer = reader.get(page)
        assert answer.status_code == 503
        assert "This took too long" in text_of(answer)
    assert time.monotonic() - start < 4
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)
