"""Erasing an owner in the admin (issue point 4; the bar of the admin, 7)."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from memory.managers.admin_event import AdminEventManager
from memory.managers.resource import ResourceManager
from memory.models import AdminEvent, Message, Resource
from memory.recall.receipts import hashed_id
from tests.admin.staff import READ, REASON, act, act_url, answers, said, staff
from tests.admin.world import World, make_world
from tests.support import places_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(embedded_world: World) -> World:
    return embedded_world


@pytest.fixture
def client() -> Client:
    return staff(READ, "erase_resource")


def test_an_owner_is_erased_with_its_id_typed(client: Client, world: World) -> None:
    """The receipt has counts and a hash; nothing that names the owner stays (bar 7)."""
    make_world("other")
    wrong = act(client, world.resource, "erase", typed="R")
    assert wrong.context["form"].errors.keys() == {"typed"}
    assert Resource.objects.filter(uid="r").exists()
    receipt = act(client, world.resource, "erase", typed="r")
    assert hashed_id("r") in receipt.text
    assert dict(receipt.context["counts"])["messages"] == 6
    assert not Resource.objects.filter(uid="r").exists()
    assert Message.objects.filter(thread__resource__uid="other").count() == 6
    events = AdminEvent.objects.order_by("pk")
    assert [(event.action, event.resource_uid) for event in events] == [
        ("begin_erase", hashed_id("r")),
        ("erase_resource", hashed_id("r")),
    ]
    assert set(LogEntry.objects.values_list("object_repr", "change_message")) == {("", "")}
    again = client.post(act_url(world.resource, "erase"), {"reason": REASON, "typed": "r"})
    assert said(again)[-1] == "It is not there any more. Nothing has been changed."


def test_an_erasure_without_its_event_is_none(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event and the row share one transaction: no erasure is ever without the one that tells of it."""
    record = AdminEventManager.record

    def fail(self: AdminEventManager, action: str, **details: Any) -> AdminEvent:
        if action == "erase_resource":
            raise RuntimeError("staged")
        return record(self, action, **details)

    with monkeypatch.context() as patch:
        patch.setattr(AdminEventManager, "record", fail)
        with pytest.raises(RuntimeError, match="staged"):
            act(client, world.resource, "erase", typed="r")
    assert Resource.objects.filter(uid="r").exists()
    act(client, world.resource, "erase", typed="r")
    assert not Resource.objects.filter(uid="r").exists()
    assert AdminEvent.objects.filter(action="erase_resource").count() == 1


def test_a_form_that_is_sent_twice_at_once_names_nobody(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one has found the owner, and writes its entry when the first is done."""
    count_owned = ResourceManager.count_owned

    def late(self: ResourceManager, uid: str, **options: Any) -> dict[str, int]:
        monkeypatch.undo()
        self.erase_resource(uid)
        return count_owned(self, uid, **options)

    page = client.get(act_url(world.resource, "erase"))
    sent = answers(page, typed="r")
    monkeypatch.setattr(ResourceManager, "count_owned", late)
    assert client.post(act_url(world.resource, "erase"), sent).status_code == 200
    assert set(AdminEvent.objects.values_list("resource_uid", flat=True)) == {hashed_id("r")}
    assert set(LogEntry.objects.values_list("object_repr", "change_message")) == {("", "")}


def test_an_owner_that_is_too_large_for_a_page(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.admin.acts.erase.MAX_MESSAGES", 5)
    response = client.get(act_url(world.resource, "erase"))
    assert response.status_code == 302
    assert "manage.py erase_resource" in said(response)[-1]
    assert client.post(act_url(world.resource, "erase"), {"reason": "x", "typed": "r"}).status_code == 302
    assert Resource.objects.filter(uid="r").exists()


def test_an_owner_of_too_many_threads_for_a_page(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.admin.acts.erase.MAX_THREADS", 1)
    response = client.get(act_url(world.resource, "erase"))
    assert "more than 1 threads" in said(response)[-1]


@pytest.mark.parametrize(
    ("uid", "typed"),
    [
        ("a\nb", "ab"),
        ("a\r\n\tb", "a\tb"),
        ("a\u202eb\n", "a⟦RLO⟧b"),
        (" a ", " a "),
        ("\u0007" * 512, "⟦U+0007⟧" * 512),
    ],
)
def test_an_odd_id_can_be_typed(client: Client, uid: str, typed: str) -> None:
    """As a browser sends what was copied from the page: without line breaks."""
    resource = Resource.objects.create(uid=uid)
    assert act(client, resource, "erase", typed=typed).status_code == 200
    assert not Resource.objects.exists()


@pytest.mark.parametrize("reason", ["", " ", "\u200b", "\u3000\u2060\n", "\u202e\u00ad"])
def test_a_reason_has_something_to_read(client: Client, world: World, reason: str) -> None:
    response = act(client, world.resource, "erase", typed="r", reason=reason)
    assert response.context["form"].errors == {"reason": ["This field is required."]}
    assert Resource.objects.filter(uid="r").exists()


def test_the_receipt_shows_every_character_of_the_reason(client: Client, world: World) -> None:
    receipt = act(client, world.resource, "erase", typed="r", reason="asked\u202efor")
    assert "asked⟦RLO⟧for" in receipt.text


def test_nothing_is_left_where_content_was_after_an_erasure(client: Client, world: World) -> None:
    act(client, world.resource, "erase", typed="r")
    assert {place for place in places_of() if place.startswith("memory_")} == set()
