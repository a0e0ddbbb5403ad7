"""The classes on another site than the default one, and with other accounts than Django's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory.admin import AdminEventAdmin, ThreadAdmin
from memory.models import AdminEvent, Message, Resource, Thread
from tests.admin import addresses, changelist, conversation, text_of
from tests.admin.conftest import VIEW_ALL
from tests.admin.other_site import support
from tests.admin.staff import act
from tests.servers import ROOT


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


def test_acts_of_accounts_that_are_named_by_numbers(
    staff: Callable[..., Client], thread: Thread, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = staff(*VIEW_ALL, "view_message_content", "export_resource", "delete_message")
    user = User.objects.get()
    monkeypatch.setattr(User, "USERNAME_FIELD", "id")
    exported = act(client, thread.resource, "export", format="html")
    assert str(user.pk) in b"".join(exported.streaming_content).decode()
    act(client, thread.messages.get(uid="t1-0"), "delete")
    assert set(AdminEvent.objects.values_list("actor_name", flat=True)) == {str(user.pk)}


def test_a_site_with_a_part_of_the_classes() -> None:
    site = admin.AdminSite(name="part")
    site.register(Thread, ThreadAdmin)
    site.register(AdminEvent, AdminEventAdmin)
    site.register(User, UserAdmin)
    found = [*ThreadAdmin(Thread, site).check(), *AdminEventAdmin(AdminEvent, site).check()]
    assert [problem.id for problem in found] == ["memory.E007"]
    assert "Resource, Message" in str(found[0].hint)


@pytest.mark.once
def test_the_classes_stand_on_the_configured_base() -> None:
    """`ADMIN_BASE`, which is read once in a process."""
    code = (
        "import django; django.setup()\n"
        "from django.contrib import admin\n"
        "from memory.admin import AdminBase, ThreadAdmin\n"
        "from tests.themed import Themed\n"
        "assert AdminBase is Themed and issubclass(ThreadAdmin, Themed)\n"
        "from memory.models import Thread\n"
        "assert admin.site._registry[Thread].list_per_page == 50\n"
    )
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.themed"}
    run = subprocess.run([sys.executable, "-c", code], env=environ, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


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
