"""`AdminEvent`: what support staff did, without content, for good (issue 5, point 4)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.db import models

from memory.exceptions import RecallError
from memory.models import AdminEvent, Resource
from memory.schema import permissions
from tests.support import make_owner

pytestmark = pytest.mark.django_db


def test_an_event_names_its_object_and_holds_numbers(count_queries: Callable[..., Any]) -> None:
    staff = User.objects.create_user("ada")
    group = uuid.uuid4()
    with count_queries(1):
        event = AdminEvent.objects.record(
            AdminEvent.Action.REDACT_MESSAGE,
            actor=staff,
            resource_id="r",
            thread_id="t",
            message_id="m",
            counts={"embeddings": 2, "seconds": 0.5},
            reason="asked for by phone",
            group=group,
            ip="2001:db8::1",
        )
    event.refresh_from_db()
    assert (event.actor, event.actor_name, event.ip) == (staff, "ada", "2001:db8::1")
    assert (event.target, event.resource_uid, event.thread_uid, event.message_uid) == (
        "message",
        "r",
        "t",
        "m",
    )
    assert (event.counts, event.group) == ({"embeddings": 2, "seconds": 0.5}, group)
    assert str(event) == str(event.pk)


@pytest.mark.parametrize(
    ("ids", "target"),
    [({}, ""), ({"resource_id": "r"}, "resource"), ({"resource_id": "r", "thread_id": "t"}, "thread")],
)
def test_the_target_is_the_innermost_object(ids: dict[str, str], target: str) -> None:
    event = AdminEvent.objects.record("search", actor=AnonymousUser(), actor_name="cron", **ids)
    assert (event.target, event.actor, event.actor_name) == (target, None, "cron")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"counts": {"text": "hello"}}, "counts.text"),
        ({"counts": {"flag": True}}, "counts.flag"),
        ({"action": "dance"}, "action"),
        ({"resource_id": ""}, "resource_id"),
        ({"thread_id": "t"}, "resource_id"),
        ({"message_id": "m"}, "resource_id"),
    ],
)
def test_bad_input_writes_nothing(given: dict[str, Any], field: str) -> None:
    """An event on a thread or message names its owner too, or an erasure could not find it."""
    with pytest.raises(RecallError) as caught:
        AdminEvent.objects.record(given.pop("action", "read"), **given)
    assert [issue.field for issue in caught.value.issues] == [field]
    assert not AdminEvent.objects.exists()


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("2001:DB8::1", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("1.2.3.4:5678", None),
        ("1.2.3.4, 5.6.7.8", None),
        ("unix:", None),
        ("", None),
        (None, None),
    ],
)
def test_an_address_that_is_none_is_left_out(given: str | None, stored: str | None) -> None:
    """Servers and proxies put all kinds of things in its place; no act fails over that."""
    AdminEvent.objects.record("read", resource_id="r", ip=given)
    assert AdminEvent.objects.get().ip == stored


@pytest.mark.parametrize("number", [3, 60])
def test_the_events_of_one_act(number: int, count_queries: Callable[..., Any]) -> None:
    """One group, and one statement however many objects there are."""
    objects = [{"resource_id": "r", "thread_id": "t", "message_id": f"m{one}"} for one in range(number)]
    with count_queries(1):
        events = AdminEvent.objects.record_all("delete_message", objects, actor_name="ada", reason="why")
    stored = list(AdminEvent.objects.order_by("pk"))
    assert [event.pk for event in events] == [event.pk for event in stored]
    assert [event.message_uid for event in stored] == [one["message_id"] for one in objects]
    assert {(event.target, event.thread_uid, event.reason) for event in stored} == {("message", "t", "why")}
    assert len({event.group for event in stored}) == 1
    with count_queries(0):
        assert AdminEvent.objects.record_all("delete_message", []) == []


def test_one_wrong_object_and_no_event_is_written() -> None:
    with pytest.raises(RecallError) as caught:
        AdminEvent.objects.record_all("read", [{"resource_id": "r"}, {"resource_id": "r", "thread_id": ""}])
    assert [issue.field for issue in caught.value.issues] == ["objects[1].thread_id"]
    assert not AdminEvent.objects.exists()


def test_it_outlives_the_object_and_the_account() -> None:
    staff = User.objects.create_user("ada")
    owner = make_owner("o", threads=1, messages=1)
    AdminEvent.objects.record("read", actor=staff, resource_id="o", thread_id="o-0")
    staff.delete()
    owner.delete()
    event = AdminEvent.objects.get()
    assert (event.actor, event.actor_name, event.thread_uid) == (None, "ada", "o-0")


def test_nothing_of_the_app_points_at_objects() -> None:
    related = [field.name for field in AdminEvent._meta.get_fields() if isinstance(field, models.ForeignKey)]
    assert related == ["actor"]


def test_every_act_has_a_right_of_its_own() -> None:
    """The rights stand in one place, and exist in the database; events can be seen and nothing else."""
    named = [
        codename
        for listed in vars(permissions).values()
        if isinstance(listed, tuple)
        for codename, _ in listed
    ]
    assert len(set(named)) == len(named) == 13
    stored = Permission.objects.filter(content_type__app_label="memory")
    assert stored.filter(codename__in=named).count() == len(named)
    assert [right.codename for right in stored.filter(content_type__model="adminevent")] == [
        "view_adminevent"
    ]
    staff = User.objects.create_user("ada")
    staff.user_permissions.add(stored.get(codename="redact_message"))
    assert staff.has_perm("memory.redact_message")
    assert not staff.has_perm("memory.view_message_content")


def test_an_owner_without_events_is_none(count_queries: Callable[..., Any]) -> None:
    with count_queries(1):
        assert Resource.objects.count_owned("nobody") == {"threads": 0, "messages": 0, "versions": 0}
