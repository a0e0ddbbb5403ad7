"""The classes on another site than the default one, and with other accounts than Django's."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory.models import Message, Resource, Thread
from tests.admin import addresses, changelist, conversation, text_of
from tests.admin.other_site import support


def test_an_admin_site_of_its_own(settings: Settings, admin_client: Client, marked: dict[str, Any]) -> None:
    """Every page opens, and leads nowhere else."""
    settings.ROOT_URLCONF = "tests.admin.other_site"
    opened = 0
    for url in addresses(marked, support):
        answer = admin_client.get(url, follow=True)
        assert answer.status_code in (200, 403), url
        assert '"/admin/' not in text_of(answer), url
        opened += answer.status_code == 200
    assert opened >= 35
    listed = text_of(admin_client.get("/support/memory/thread/"))
    assert f"/support/memory/thread/{marked['thread'].pk}/transcript/" in listed
    found = text_of(admin_client.get("/support/memory/message/search/", {"q": "t-marked"}))
    assert f"/support/memory/thread/{marked['thread'].pk}/transcript/" in found


def test_accounts_that_are_named_by_numbers(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that can be no name of an account finds none."""
    conversation("t1", ["refund"])
    Resource.objects.update(user=User.objects.get())
    key = User.objects.get().pk
    monkeypatch.setattr(User, "USERNAME_FIELD", "id")
    monkeypatch.setattr(User, "__str__", lambda self: "somebody")
    for typed, number in (("refund", 0), (str(key), 1), (str(2**70), 0)):
        assert reader.get(changelist("resource"), {"q": typed}).context["cl"].result_count == number
        assert reader.get(changelist("thread"), {"owner": typed}).context["cl"].result_count == number
        found = reader.get(reverse("admin:memory_search"), {"q": typed}).context["results"]
        assert len(found.resources) == number


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("message", "thread__uid__exact"),
        ("message", "cloned_from"),
        ("message", "role__exact"),
        ("thread", "resource__uid__exact"),
        ("embedding", "message__uid__exact"),
        ("adminevent", "group"),
        ("message", "owner"),
    ],
)
def test_no_address_asks_for_a_null_character(reader: Client, thread: Thread, model: str, name: str) -> None:
    """PostgreSQL has none in texts: refused as any lookup that cannot be."""
    answer = reader.get(f"{changelist(model)}?{name}=%00")
    assert answer.status_code == 302
    assert answer.url.endswith("?e=1")
    assert reader.get(answer.url).status_code == 200
    assert Message.objects.exists()
