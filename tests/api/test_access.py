"""Who may see and do what (contract section 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from memory.api.access import Access
from memory.models import Message, Resource, Thread, WorkingMemory
from tests.api import BASE, Caller, ids, message
from tests.cases import in_parallel

pytestmark = pytest.mark.django_db

AGENT = {"agentId": "client"}

# Every route that names a thread of the path: (method, suffix, query, body), all valid otherwise.
OF_THREAD: list[tuple[str, str, dict[str, Any], Any]] = [
    ("GET", "", {}, None),
    ("PATCH", "", {}, {"title": "new"}),
    ("DELETE", "", {}, None),
    ("GET", "/messages", {}, None),
    ("GET", "/messages", AGENT, None),
    ("POST", "/clone", {}, {}),
    ("POST", "/transfer", {}, {"resourceId": "ada"}),
    ("GET", "/working-memory", {**AGENT, "resourceId": "ada"}, None),
    ("POST", "/working-memory", AGENT, {"workingMemory": "w", "resourceId": "ada"}),
]


def rows() -> list[Any]:
    """Everything that is stored."""
    return [
        list(model._default_manager.order_by("pk").values())
        for model in (Resource, Thread, Message, WorkingMemory)
    ]


@pytest.mark.smoke
def test_a_limited_caller_sees_its_own(ada: Caller, thread: Callable[..., str]) -> None:
    thread("mine", "ada", 2)
    thread("theirs", "bob", 2)
    assert ids(ada.get("threads")) == ["mine"]
    assert ids(ada.get("threads", resourceId="ada")) == ["mine"]
    assert ada.get("threads").body["total"] == 1
    assert ids(ada.get("threads/mine/messages")) == ["mine-1", "mine-2"]


@pytest.mark.smoke
@pytest.mark.parametrize(("method", "suffix", "query", "body"), OF_THREAD)
def test_a_foreign_thread_answers_what_an_unknown_one_answers(
    ada: Caller,
    thread: Callable[..., str],
    method: str,
    suffix: str,
    query: dict[str, Any],
    body: Any,
) -> None:
    thread("theirs", "bob", 2)
    before = rows()
    foreign = ada.send(method, f"threads/theirs{suffix}", body, **query)
    unknown = ada.send(method, f"threads/nosuch{suffix}", body, **query)
    assert rows() == before
    assert foreign.status == unknown.status
    assert str(foreign.body).replace("theirs", "") == str(unknown.body).replace("nosuch", "")
    if suffix != "/working-memory" or method == "POST":
        assert foreign.status == 404


@pytest.mark.parametrize("owner", ["bob", "nosuch"])
@pytest.mark.parametrize(
    ("method", "path", "query", "body"),
    [
        ("GET", "threads", {"resourceId": "?"}, None),
        ("POST", "threads", {}, {"resourceId": "?"}),
        ("GET", "threads/mine", {"resourceId": "?"}, None),
        ("PATCH", "threads/mine", {}, {"resourceId": "?", "title": "new"}),
        ("DELETE", "threads/mine", {"resourceId": "?"}, None),
        ("POST", "threads/mine/clone", {}, {"resourceId": "?"}),
        ("POST", "threads/mine/transfer", {}, {"resourceId": "?"}),
        ("GET", "threads/mine/messages", {"resourceId": "?"}, None),
        ("POST", "save-messages", {}, {"messages": [message("new", "mine", "?")]}),
        ("POST", "messages/delete", {"resourceId": "?"}, {"messageIds": ["mine-1"]}),
        ("GET", "threads/mine/working-memory", {**AGENT, "resourceId": "?"}, None),
        ("POST", "threads/mine/working-memory", AGENT, {"workingMemory": "w", "resourceId": "?"}),
        ("GET", "search", {"resourceId": "?", "searchQuery": "text"}, None),
        ("POST", "recall", {}, {"threadId": "mine", "resourceId": "?"}),
        ("GET", "status", {"resourceId": "?"}, None),
    ],
)
def test_naming_a_foreign_resource_is_404_whether_it_exists_or_not(
    ada: Caller,
    thread: Callable[..., str],
    method: str,
    path: str,
    query: dict[str, Any],
    body: Any,
    owner: str,
) -> None:
    thread("mine", "ada", 1)
    thread("theirs", "bob", 1)
    before = rows()
    filled = {name: owner if value == "?" else value for name, value in query.items()}
    if body is not None:
        body = {name: owner if value == "?" else value for name, value in body.items()}
        if "messages" in body:
            body = {"messages": [{**body["messages"][0], "resourceId": owner}]}
    answer = ada.send(method, path, body, **filled)
    assert (answer.status, answer.body) == (404, {"error": "There is no resource with this id."})
    assert rows() == before


def test_foreign_messages_are_unknown_ones(ada: Caller, thread: Callable[..., str]) -> None:
    thread("mine", "ada", 1)
    thread("theirs", "bob", 2)
    before = rows()
    answers = [ada.post("messages/delete", {"messageIds": [uid]}).body for uid in ("theirs-1", "nosuch")]
    assert answers[0] == answers[1]
    for uid in ("theirs-1", "nosuch"):
        include = [{"id": uid, "withPreviousMessages": 5}]
        assert ids(ada.get("threads/mine/messages", include=include, perPage=0)) == []
        assert ids(ada.post("recall", {"threadId": "mine", "perPage": 0, "include": include})) == []
        options = {"messageFilter": {"messageIds": [uid]}}
        clone = ada.post("threads/mine/clone", {"options": options}).body
        assert clone["clonedMessages"] == []
        Thread.objects.delete_thread(clone["thread"]["id"])
    assert rows() == before


def test_taken_ids_are_409_with_a_constant_body(ada: Caller, thread: Callable[..., str]) -> None:
    thread("mine", "ada", 1)
    thread("theirs", "bob", 1)
    before = rows()
    taken = {"error": "This thread id is taken. Choose another one, or leave it out."}
    made = ada.post("threads", {"resourceId": "ada", "threadId": "theirs", "title": "x"})
    assert (made.status, made.body) == (409, taken)
    cloned = ada.post("threads/mine/clone", {"newThreadId": "theirs"})
    assert (cloned.status, cloned.body) == (409, taken)
    own = message("new", "mine", "ada")
    saved = ada.post("save-messages", {"messages": [own, message("theirs-1", "mine", "ada")]})
    assert saved.status == 409
    assert saved.body == {"error": "A message id is taken. Choose another one, or leave it out."}
    assert rows() == before


def test_a_message_for_a_foreign_thread_is_404(ada: Caller, thread: Callable[..., str]) -> None:
    thread("theirs", "bob", 1)
    before = rows()
    for uid in ("theirs", "nosuch"):
        answer = ada.post("save-messages", {"messages": [message("new", uid, "ada")]})
        assert answer.status == 404
        assert answer.body == {"error": f"There is no thread with the id '{uid}'."}
    assert rows() == before


@pytest.mark.parametrize("scope", ["resource", "thread"])
@pytest.mark.parametrize("semantic", [True, False])
def test_a_search_in_a_foreign_thread_answers_like_one_in_an_unknown_thread(
    ada: Caller, thread: Callable[..., str], scope: str, semantic: bool
) -> None:
    thread("mine", "ada", 2)
    thread("theirs", "bob", 2)
    config = {"semanticRecall": {"scope": scope} if semantic else False}
    query = {"resourceId": "ada", "searchQuery": "text", "memoryConfig": config}
    assert (
        ada.get("search", threadId="theirs", **query).body == ada.get("search", threadId="no", **query).body
    )


def test_a_recall_in_a_foreign_thread_answers_like_one_in_an_unknown_thread(
    ada: Caller, thread: Callable[..., str]
) -> None:
    thread("mine", "ada", 2)
    thread("theirs", "bob", 2)
    search = {"resourceId": "ada", "vectorSearchString": "text", "threadConfig": {"semanticRecall": True}}
    for more, status in (({}, 200), ({"resourceId": "ada"}, 404), (search, 200)):
        foreign = ada.post("recall", {"threadId": "theirs", **more})
        unknown = ada.post("recall", {"threadId": "nosuch", **more})
        assert foreign.status == unknown.status == status
        assert str(foreign.body).replace("theirs", "nosuch") == str(unknown.body)


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


def test_an_unlinked_row_is_never_adopted(newcomer: Caller, thread: Callable[..., str]) -> None:
    own = str(newcomer.user.pk)
    thread("old", own, 2)
    resource = Resource.objects.get()
    WorkingMemory.objects.create(resource=resource, value="private")
    before = rows()
    made = newcomer.post("threads", {"resourceId": own})
    assert made.status == 409
    assert made.body == {
        "error": "The resource of this account exists already without being linked to it. An administrator "
        "has to link the two."
    }
    assert ids(newcomer.get("threads", resourceId=own)) == []
    assert newcomer.get("threads/old").status == 404
    assert newcomer.get("search", resourceId=own, searchQuery="text").body["results"] == []
    memory = newcomer.get("threads/old/working-memory", resourceId=own, **AGENT)
    assert (memory.body["workingMemory"], memory.body["threadExists"]) == (None, False)
    search = {"vectorSearchString": "text 1", "threadConfig": {"semanticRecall": True}}
    assert ids(newcomer.post("recall", {"threadId": "x", "resourceId": own, **search})) == []
    assert rows() == before
    Resource.objects.update(user=newcomer.user)
    assert ids(newcomer.get("threads")) == ["old"]


def test_somebody_elses_row_of_ones_own_id_is_never_adopted(newcomer: Caller, ada: Caller) -> None:
    Resource.objects.filter(user=ada.user).update(uid=str(newcomer.user.pk))
    assert newcomer.post("threads", {"resourceId": str(newcomer.user.pk)}).status == 409
    assert Resource.objects.get().user == ada.user


@pytest.mark.smoke
@pytest.mark.parametrize("path", ["threads", "threads/t", "status", "config", "search", "network/threads"])
def test_anonymous_is_401(nobody: Caller, path: str) -> None:
    answer = nobody.get(path)
    assert answer.status == 401
    assert set(answer.body) == {"error"}
    assert answer.headers["WWW-Authenticate"] == "Token"


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
