"""`AdminEvent` in the admin: read, filtered and never changed (issue point 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory.models import AdminEvent, Resource
from memory.recall.receipts import hashed_id
from tests.admin import changelist, text_of

LIST = "admin:memory_adminevent_changelist"


@pytest.fixture
def events(db: None, django_user_model: Any) -> list[Any]:
    """Two acts of different people, one of them on two objects, and one of somebody who is gone."""
    kim = django_user_model.objects.create_user("kim")
    record = AdminEvent.objects.record
    first = record("redact_message", actor=kim, resource_id="r1", thread_id="t1", message_id="m1", reason="x")
    second = record(
        "redact_message", actor=kim, resource_id="r1", thread_id="t2", message_id="m2", group=first.group
    )
    third = record("export_resource", actor_name="gone", resource_id="r2", counts={"messages": 3})
    return [first, second, third]


def listed(client: Client, **query: Any) -> list[int]:
    response = client.get(reverse(LIST), query)
    assert response.status_code == 200, response
    return [event.pk for event in response.context["cl"].result_list]


def test_events_are_found(reader: Client, events: list[Any]) -> None:
    """By action, actor, date, id and act; the newest first."""
    first, second, third = (event.pk for event in events)
    assert listed(reader) == [third, second, first]
    assert listed(reader, action__exact="export_resource") == [third]
    assert listed(reader, actor="kim") == [second, first]
    assert listed(reader, actor="gone") == [third]
    assert listed(reader, **{"from": "2999-01-01"}) == []
    assert listed(reader, q="t2") == [second]
    assert listed(reader, q="r1") == [second, first]
    assert listed(reader, group=str(events[0].group)) == [second, first]
    wrong = reader.get(reverse(LIST), {"group": "no uuid"}, follow=True)
    assert wrong.status_code == 200


def test_events_of_an_erased_owner_are_found(reader: Client, events: list[Any]) -> None:
    """By an id that whoever asks still knows; the events have hashes in its place."""
    Resource.objects.erase_resource("r1")
    first, second, third = (event.pk for event in events)
    assert listed(reader, q="r1") == listed(reader, q=hashed_id("r1")) == [second, first]
    assert listed(reader, q=" t2 ") == [second]
    assert listed(reader, q="r2") == [third]
    assert listed(reader, q="nobody") == []


def test_events_are_read_only(admin_client: Client, staff: Callable[..., Client], events: list[Any]) -> None:
    """Not even a superuser changes or deletes one."""
    page = reverse("admin:memory_adminevent_change", args=[events[2].pk])
    html = text_of(admin_client.get(page))
    assert "messages: 3" in html
    assert admin_client.post(page, {"reason": "other"}).status_code == 403
    for name in ("add", "delete"):
        arguments = [] if name == "add" else [events[2].pk]
        url = reverse(f"admin:memory_adminevent_{name}", args=arguments)
        assert admin_client.get(url).status_code == 403
    assert "delete_selected" not in text_of(admin_client.get(reverse(LIST)))
    assert staff("view_message").get(page).status_code == 403


def test_a_chosen_list_is_bounded(reader: Client, events: list[Any], count_queries: Any) -> None:
    with count_queries(at_most=8):
        listed(reader, actor="kim", action__exact="redact_message")


def only_r2(request: Any) -> list[str]:
    return ["r2"]


def test_events_of_other_owners_are_not_there(reader: Client, events: list[Any], settings: Settings) -> None:
    settings.MEMORY = {**settings.MEMORY, "ADMIN_RESOURCES": "tests.admin.test_event_list.only_r2"}
    assert listed(reader) == [events[2].pk]
    assert reader.get(reverse("admin:memory_adminevent_change", args=[events[0].pk])).status_code == 302
    assert reader.get(changelist("adminevent"), {"q": "m1"}).context["cl"].result_count == 0
