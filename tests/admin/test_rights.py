"""Who may open which page: staff by permission, and by resource where the site says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory.models import Thread
from tests.admin import changelist, conversation, text_of, transcript
from tests.admin.conftest import VIEW_ALL


def test_nobody_else_comes_in(client: Client, thread: Thread, django_user_model: type) -> None:
    """Visitors, and users who are no staff, are asked to log in as somebody else."""
    pages = [transcript(thread), changelist("message"), reverse("admin:memory_search")]
    for page in pages:
        assert client.get(page).status_code == 302
    client.force_login(django_user_model.objects.create_user("customer", password="pw"))  # type: ignore[attr-defined]
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 302
        assert answer.url.startswith(reverse("admin:login"))


@pytest.mark.parametrize("codenames", [(), ("view_thread",), ("view_message",), ("view_resource",)])
def test_a_conversation_needs_both_rights(
    staff: Callable[..., Client], thread: Thread, codenames: tuple[str, ...]
) -> None:
    assert staff(*codenames, "view_message_content").get(transcript(thread)).status_code == 403
    assert staff("view_thread", "view_message").get(transcript(thread)).status_code == 200


def test_the_search_shows_what_may_be_seen(staff: Callable[..., Client], thread: Thread) -> None:
    page = reverse("admin:memory_search")
    assert staff("view_message_content").get(page, {"q": "refund"}).status_code == 403
    answer = staff("view_resource", "view_message_content").get(page, {"q": "refund"})
    assert answer.status_code == 200
    assert "A-4711" not in text_of(answer)
    assert answer.context["results"].hits is None
    assert answer.context["results"].threads is None


def owners_of_r1(request: HttpRequest) -> list[str]:
    """A rule of a site: everybody sees one customer."""
    return ["r1"]


def test_a_site_says_whose_data_are_seen(settings: Settings, staff: Callable[..., Client]) -> None:
    """`ADMIN_RESOURCES` bounds lists, pages, conversations and searches."""
    own, foreign = conversation("own", ["refund"]), conversation("foreign", ["refund"], owner="r2")
    settings.MEMORY = {**settings.MEMORY, "ADMIN_RESOURCES": "tests.admin.test_rights.owners_of_r1"}
    client = staff(*VIEW_ALL, "view_message_content")
    for model, uids in (("resource", ["r1"]), ("thread", ["own"]), ("message", ["own-0"])):
        rows = client.get(changelist(model)).context["cl"].result_list
        assert [row.uid for row in rows] == uids
        assert client.get(changelist(model), {"q": "foreign-0"}).context["cl"].result_count == 0
    assert client.get(transcript(own)).status_code == 200
    assert client.get(transcript(foreign)).url == reverse("admin:index")
    assert client.get(reverse("admin:memory_thread_change", args=[foreign.pk])).status_code == 302
    found = client.get(reverse("admin:memory_search"), {"q": "refund"}).context["results"]
    assert [hit.message.uid for hit in found.hits] == ["own-0"]
    # A message of another's thread is nowhere to be found.
    answer = client.get(transcript(own), {"message": "foreign-0"})
    assert answer.url == transcript(own)
