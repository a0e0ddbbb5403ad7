"""Who may see and do what (contract section 6); what belongs to others is the matter of `tests.api.leaks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from memory.api.access import Access
from memory.models import Resource, Thread
from tests.api import BASE, Caller, ids, message
from tests.cases import in_parallel

pytestmark = pytest.mark.django_db

AGENT = {"agentId": "client"}


@pytest.mark.smoke
def test_a_limited_caller_sees_its_own(ada: Caller, thread: Callable[..., str]) -> None:
    thread("mine", "ada", 2)
    thread("theirs", "bob", 2)
    assert ids(ada.get("threads")) == ["mine"]
    assert ids(ada.get("threads", resourceId="ada")) == ["mine"]
    assert ada.get("threads").body["total"] == 1
    assert ids(ada.get("threads/mine/messages")) == ["mine-1", "mine-2"]


@pytest.mark.smoke
def test_two_owners_that_are_both_ones_own_may_disagree_with_403(
    ada: Caller, thread: Callable[..., str]
) -> None:
    Resource.objects.create(uid="ada-2", user=ada.user)
    thread("one", "ada", 1)
    thread("two", "ada-2", 1)
    assert sorted(ids(ada.get("threads"))) == ["one", "two"]
    assert ada.get("threads/two", resourceId="ada").status == 403
    assert ada.delete("threads/two", resourceId="ada").status == 403
    assert ada.patch("threads/two", {"resourceId": "ada"}).status == 403
    assert ada.post("threads/two/clone", {"resourceId": "ada"}).status == 403
    assert ada.get("threads/two/messages", resourceId="ada").status == 403
    assert ada.post("save-messages", {"messages": [message("new", "two", "ada")]}).status == 403
    assert ada.post("messages/delete", {"messageIds": ["two-1"]}, resourceId="ada").status == 403
    assert ada.post("recall", {"threadId": "two", "resourceId": "ada"}).status == 403
    assert ada.get("search", threadId="two", resourceId="ada", searchQuery="text").status == 403
    memory = ada.get("threads/two/working-memory", resourceId="ada", **AGENT)
    assert memory.status == 403
    moved = ada.post("threads/two/transfer", {"resourceId": "ada"})
    assert (moved.status, moved.body["resourceId"]) == (200, "ada")


def test_staff_act_for_every_owner(staff: Caller, thread: Callable[..., str]) -> None:
    thread("one", "ada", 1)
    thread("two", "bob", 1)
    assert sorted(ids(staff.get("threads"))) == ["one", "two"]
    assert ids(staff.get("threads", resourceId="nosuch")) == []
    assert staff.get("threads/two", resourceId="ada").status == 403
    assert staff.post("messages/delete", {"messageIds": ["two-1"]}, resourceId="ada").status == 403
    assert staff.post("threads/two/transfer", {"resourceId": "new"}).body["resourceId"] == "new"
    assert Resource.objects.get(uid="new").user is None


@pytest.mark.parametrize("missing", ["permission", "staff"])
def test_acting_for_every_owner_takes_both_permission_and_staff(
    staff: Caller, thread: Callable[..., str], missing: str
) -> None:
    thread("one", "ada", 1)
    if missing == "staff":
        staff.user.is_staff = False
    else:
        staff.user.user_permissions.clear()
    assert ids(staff.get("threads")) == []
    assert staff.get("threads/one").status == 404


@pytest.mark.smoke
def test_the_first_write_makes_and_links_a_resource(newcomer: Caller) -> None:
    own = str(newcomer.user.pk)
    assert ids(newcomer.get("threads")) == []
    assert ids(newcomer.get("threads", resourceId=own)) == []
    assert not Resource.objects.exists()
    refused = newcomer.post("threads", {"resourceId": "other"})
    assert refused.status == 404
    assert not Resource.objects.exists()
    made = newcomer.post("threads", {"resourceId": own, "threadId": "first"})
    assert (made.status, made.body["resourceId"]) == (200, own)
    assert Resource.objects.get().user == newcomer.user
    assert newcomer.post("save-messages", {"messages": [message("m", "first", own)]}).status == 200
    assert ids(newcomer.get("threads")) == ["first"]


def test_an_administrator_links_a_row_that_was_there_before(
    newcomer: Caller, thread: Callable[..., str]
) -> None:
    own = str(newcomer.user.pk)
    thread("old", own, 2)
    assert newcomer.post("threads", {"resourceId": own}).status == 409
    assert ids(newcomer.get("threads", resourceId=own)) == []
    Resource.objects.update(user=newcomer.user)
    assert ids(newcomer.get("threads")) == ["old"]


def test_anonymous_is_401_with_sessions_too(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from rest_framework.authentication import SessionAuthentication

    from memory.api.threads import ThreadViewSet

    monkeypatch.setattr(ThreadViewSet, "authentication_classes", [SessionAuthentication])
    assert APIClient().get(f"{BASE}/threads").status_code == 401


def test_sessions_write_with_a_csrf_token_only(ada: Caller) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ada.user)
    assert browser.get(f"{BASE}/threads").status_code == 200
    data = {"resourceId": "ada"}
    refused = browser.post(f"{BASE}/threads", data, "application/json")
    assert (refused.status_code, set(refused.json())) == (403, {"error"})
    browser.cookies["csrftoken"] = token = "x" * 32
    allowed = browser.post(f"{BASE}/threads", data, "application/json", headers={"x-csrftoken": token})
    assert allowed.status_code == 200


def test_tokens_need_no_csrf_token(ada: Caller) -> None:
    client = APIClient(enforce_csrf_checks=True)
    token = Token.objects.create(user=ada.user)
    headers = {"authorization": f"Token {token.key}"}
    answer = client.post(f"{BASE}/threads", {"resourceId": "ada"}, format="json", headers=headers)
    assert answer.status_code == 200
    wrong = client.get(f"{BASE}/threads", headers={"authorization": "Token nonsense"})
    assert wrong.status_code == 401


def only_bob(request: Any) -> Access:
    return Access(owners=frozenset({"bob"}))


def test_a_site_may_resolve_resources_itself(ada: Caller, thread: Callable[..., str], settings: Any) -> None:
    settings.MEMORY = {**settings.MEMORY, "RESOURCE_RESOLVER": f"{__name__}.only_bob"}
    thread("mine", "ada", 1)
    thread("theirs", "bob", 1)
    assert ids(ada.get("threads")) == ["theirs"]
    assert ada.post("threads", {"resourceId": "bob"}).status == 200
    assert ada.post("threads", {"resourceId": "ada"}).status == 404


def test_superusers_are_staff_for_every_owner(thread: Callable[..., str]) -> None:
    users: Any = get_user_model().objects
    thread("one", "ada", 1)
    assert ids(Caller(users.create_superuser("root")).get("threads")) == ["one"]


@pytest.mark.django_db(transaction=True)
def test_first_writes_at_the_same_time_make_one_resource(newcomer: Caller) -> None:
    own = str(newcomer.user.pk)

    def write(uid: str) -> int:
        return Caller(newcomer.user).post("threads", {"resourceId": own, "threadId": uid}).status

    assert in_parallel(*(lambda uid=uid: write(uid) for uid in ("a", "b", "c"))) == [200, 200, 200]
    assert Resource.objects.get().user == newcomer.user
    assert Thread.objects.filter(resource__uid=own).count() == 3
