"""What all acts have in common (issue point 4; the bar of the admin, 7 and 9)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.test import override_settings

from memory.admin.acts import ACTS, Act
from memory.db.transactions import RowsMoved
from memory.models import AdminEvent
from tests.admin.staff import READ, REASON, act, act_url, answers, said, staff
from tests.admin.world import MARKER, World, make_world

pytestmark = pytest.mark.django_db

EACH = [(model, act_class) for model, acts in ACTS.items() for act_class in acts]
IDS = [f"{model}-{act_class.name}" for model, act_class in EACH]
each_act = pytest.mark.parametrize(("model", "act_class"), EACH, ids=IDS)

# What a form needs beside a reason and what it holds already.
SENT: dict[str, dict[str, Any]] = {
    "message-edit-text": {"text_1": "said otherwise"},
    "message-move": {"thread": "r-1"},
    "thread-transfer": {"resource": "other"},
    "thread-clone": {},
    "resource-link": {"account": "agent"},
    "resource-erase": {"typed": "r"},
    "workingmemory-edit": {"text_1": "other notes"},
    "workingmemory-restore": {"version": "1"},
}


@pytest.fixture
def world(embedded_world: World) -> World:
    make_world("other")
    return embedded_world


def permission(act_class: type[Act]) -> str:
    return act_class.permission.removeprefix("memory.")


def sent_to(model: str, act_class: type[Act]) -> dict[str, Any]:
    return SENT.get(f"{model}-{act_class.name}", {})


def stored() -> list[Any]:
    """Everything that an act could write."""
    rows = [model for model in apps.get_app_config("memory").get_models() if model is not AdminEvent]
    return [list(model._default_manager.order_by("pk").values()) for model in (AdminEvent, LogEntry, *rows)]


@each_act
def test_an_act_is_done_with_its_own_permission(model: str, act_class: type[Act], world: World) -> None:
    """It is written down twice, with who, when, what and why, and without content."""
    client = staff(permission(act_class), READ)
    response = act(client, world.row(model), act_class.name, **sent_to(model, act_class))
    if act_class.name == "export":
        assert b"".join(response.streaming_content).startswith(b'{"format":"django-recall"')
    elif act_class.name == "erase":
        assert response.status_code == 200
        assert "sha256:" in response.text
    else:
        assert response.status_code == 302, response.context["form"].errors
    events = list(AdminEvent.objects.order_by("pk"))
    assert act_class.action in {event.action for event in events}
    assert len({event.group for event in events}) == 1
    assert {(event.actor_name, event.reason, event.ip) for event in events} == {
        ("agent", REASON, "127.0.0.1")
    }
    assert LogEntry.objects.exists()
    assert MARKER not in repr(stored()[:2])


@each_act
def test_without_the_permission_it_is_refused(model: str, act_class: type[Act], world: World) -> None:
    """Every other permission of this app together is not enough."""
    others = [permission(other) for _, other in EACH if other.permission != act_class.permission]
    client, url = staff(*others, READ), act_url(world.row(model), act_class.name)
    before = stored()
    assert client.get(url).status_code == 403
    assert client.post(url, {"reason": REASON, **sent_to(model, act_class)}).status_code == 403
    assert stored() == before


@each_act
def test_without_a_reason_nothing_is_done(model: str, act_class: type[Act], world: World) -> None:
    client, url = staff(permission(act_class), READ), act_url(world.row(model), act_class.name)
    before = stored()
    sent = answers(client.get(url), **sent_to(model, act_class), reason=" ")
    response = client.post(url, sent)
    assert response.status_code == 200
    assert response.context["form"].errors.keys() == {"reason"}
    assert stored() == before


@each_act
def test_opening_the_page_writes_nothing(
    model: str,
    act_class: type[Act],
    world: World,
    count_queries: Callable[..., AbstractContextManager[Any]],
) -> None:
    """And asks a bounded number of questions."""
    client = staff(permission(act_class), READ)
    before = stored()
    with count_queries(at_most=24) as statements:
        assert client.get(act_url(world.row(model), act_class.name)).status_code == 200
    written = [sql for sql in statements if not sql.upper().startswith(("SELECT", "SHOW"))]
    assert written == []
    assert stored() == before


@each_act
@override_settings(MEMORY={"ADMIN_RESOURCES": "tests.admin.staff.only_first"})
def test_the_rows_of_other_owners_are_not_there(model: str, act_class: type[Act]) -> None:
    """As if they did not exist: on the page, and when a form is sent."""
    make_world()
    other = make_world("other")
    client, url = staff(permission(act_class), READ), act_url(other.row(model), act_class.name)
    before = stored()
    for response in (client.get(url), client.post(url, {"reason": REASON, **sent_to(model, act_class)})):
        assert response.status_code == 302
        assert said(response)[-1] == "It is not there any more. Nothing has been changed."
    assert stored() == before


@each_act
def test_who_may_not_read_sees_no_content(model: str, act_class: type[Act], world: World) -> None:
    """The page of an act that is done without reading shows none; others are closed."""
    client = staff(permission(act_class))
    response = client.get(act_url(world.row(model), act_class.name))
    assert response.status_code == (403 if act_class.content else 200)
    assert MARKER not in response.text


@each_act
def test_sending_a_form_twice_does_no_harm(model: str, act_class: type[Act], world: World) -> None:
    client, url = staff(permission(act_class), READ), act_url(world.row(model), act_class.name)
    sent = answers(client.get(url), **sent_to(model, act_class))
    client.post(url, sent)
    after, counts = stored()[2:], [len(rows) for rows in stored()]
    second = client.post(url, sent)
    assert second.status_code in (200, 302)
    if act_class.name not in ("reembed", "retry"):
        assert stored()[2:] == after
    elif act_class.name == "reembed":
        assert [len(rows) for rows in stored()[2:]] == counts[2:]


@each_act
def test_rows_that_others_keep_changing(
    model: str, act_class: type[Act], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An act that never gets its locks says so, and has done nothing."""
    if not act_class.atomic:
        pytest.skip("locks its rows itself")

    def moved(rows: Any) -> Any:
        raise RowsMoved

    client = staff(permission(act_class), READ)
    url = act_url(world.row(model), act_class.name)
    sent = answers(client.get(url))
    monkeypatch.setattr("memory.admin.acts.views.locked", moved)
    response = client.post(url, sent)
    assert response.status_code == 302
    assert "Others are changing the same rows" in said(response)[-1]
    assert not AdminEvent.objects.exists()


@each_act
def test_the_pages_are_plain(model: str, act_class: type[Act], world: World) -> None:
    """No script and no style within the page: `default-src 'self'` holds."""
    page = staff(permission(act_class), READ).get(act_url(world.row(model), act_class.name)).text
    assert "<style" not in page
    assert " style=" not in page
    assert "<script>" not in page
    assert " onclick" not in page
