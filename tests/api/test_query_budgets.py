"""How many statements each route sends. None counts rows unless it answers a total."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from memory.api.urls import mirrored, network, urlpatterns
from memory.models import Resource
from tests.api import Caller, message

pytestmark = pytest.mark.django_db

AGENT = {"agentId": "client"}
SEARCH = {"resourceId": "ada", "searchQuery": "text"}
RECALL = {"threadId": "t", "includeTotal": False}
SEMANTIC = {"vectorSearchString": "text 1", "threadConfig": {"semanticRecall": True}}
INCLUDE = [{"id": "t-1", "withNextMessages": 2}, {"id": "t-5", "withPreviousMessages": 1}]
SAVING, DELETING = 8, 11
MESSAGES = [message("new-1", "t", "ada"), message("new-2", "t", "ada")]

# (method, path, query, body, statements for a limited caller). One of them looks up what the caller may
# touch; a route that touches nothing does without.
ROUTES: list[tuple[str, str, dict[str, Any], Any, int]] = [
    ("GET", "threads", {}, None, 3),
    ("GET", "threads", {"resourceId": "ada", "metadata": '{"a": 1}'}, None, 3),
    ("GET", "threads/t", {}, None, 2),
    ("GET", "threads/t", {"resourceId": "ada"}, None, 2),
    ("POST", "threads", {}, {"resourceId": "ada"}, 3),
    ("POST", "threads", {}, {"resourceId": "ada", "threadId": "t", "title": "x"}, 6),
    ("PATCH", "threads/t", {}, {"title": "x", "metadata": {}}, 4),
    ("DELETE", "threads/t", {}, None, 10),
    ("POST", "threads/t/transfer", {}, {"resourceId": "ada"}, 3),
    ("POST", "threads/t/clone", {}, {}, 10),
    ("GET", "threads/t/messages", {}, None, 4),
    ("GET", "threads/t/messages", AGENT, None, 4),
    ("GET", "threads/t/messages", {"include": INCLUDE}, None, 5),
    ("GET", "threads/t/messages", {"perPage": 0}, None, 2),
    ("POST", "save-messages", {}, {"messages": MESSAGES}, 8),
    ("POST", "messages/delete", {}, {"messageIds": ["t-1", "t-2"]}, 11),
    ("POST", "messages/delete", {}, {"messageIds": []}, 1),
    ("GET", "threads/t/working-memory", {**AGENT, "resourceId": "ada"}, None, 3),
    ("POST", "threads/t/working-memory", AGENT, {"workingMemory": "w", "resourceId": "ada"}, 10),
    ("POST", "recall", {}, RECALL, 3),
    ("POST", "recall", {}, {**RECALL, "resourceId": "ada", "filter": {"metadata": {"n": 1}}}, 3),
    ("POST", "recall", {}, {**RECALL, "perPage": False}, 3),
    ("POST", "recall", {}, {**RECALL, "include": INCLUDE}, 4),
    ("POST", "recall", {}, {**RECALL, **SEMANTIC}, 6),
    ("POST", "recall", {}, {"threadId": "t"}, 4),
    ("POST", "recall", {}, {"threadId": "t", **SEMANTIC}, 8),
    ("GET", "status", AGENT, None, 0),
    ("GET", "config", AGENT, None, 0),
    ("GET", "network/threads", {}, None, 3),
    ("GET", "network/threads/t", {}, None, 2),
    ("GET", "network/threads/t/messages", {}, None, 4),
]
# Routes that answer a total, and may count for it.
COUNTING = ("threads", "threads/t/messages", "network/threads", "network/threads/t/messages")


@pytest.fixture(autouse=True)
def stored(ada: Caller, thread: Callable[..., str], on_commit: Any) -> None:
    """A thread of the limited caller, with vectors."""
    assert Resource.objects.filter(uid="ada", user=ada.user).exists()
    with on_commit():
        thread("t", "ada", 8)


def ask(caller: Caller, method: str, path: str, query: dict[str, Any], body: Any) -> None:
    answer = caller.get(path, **query) if method == "GET" else caller.send(method, path, body, **query)
    assert answer.status == 200, answer


@pytest.mark.parametrize(("method", "path", "query", "body", "budget"), ROUTES)
def test_routes_keep_to_their_budgets(
    ada: Caller,
    count_queries: Any,
    method: str,
    path: str,
    query: dict[str, Any],
    body: Any,
    budget: int,
) -> None:
    ada.get("status", resourceId="ada")
    with count_queries() as statements:
        ask(ada, method, path, query, body)
    assert len(statements) == budget, f"{len(statements)} instead of {budget}:\n{statements}"
    counting = [sql for sql in statements if "COUNT(" in sql]
    totals = body.get("includeTotal", True) if path == "recall" else method == "GET" and path in COUNTING
    assert totals or not counting, counting


def test_staff_and_superusers(ada: Caller, staff: Caller, count_queries: Any) -> None:
    """Permissions of staff are 2 statements, of superusers none, instead of the 1 of a limited caller."""
    staff.user._perm_cache = staff.user._user_perm_cache = None
    users: Any = get_user_model().objects
    for caller, budget in (
        (Caller(users.get(pk=staff.user.pk)), 3),
        (Caller(users.create_superuser("root")), 1),
    ):
        with count_queries(budget):
            ask(caller, "GET", "threads/t", {}, None)


@pytest.mark.parametrize("messages", [1, 50])
def test_budgets_do_not_hang_on_the_number_of_messages(
    ada: Caller, count_queries: Any, messages: int
) -> None:
    many = [message(f"new-{number}", "t", "ada") for number in range(messages)]
    with count_queries(SAVING):
        ask(ada, "POST", "save-messages", {}, {"messages": many})
    with count_queries(DELETING):
        ask(ada, "POST", "messages/delete", {}, {"messageIds": [row["id"] for row in many]})


def test_every_route_has_a_budget() -> None:
    """Each route of the urls is named above, or sends no statement of its own."""
    tested = {path.replace("threads/t", "threads/ID") for _, path, *_ in ROUTES}
    known = {"observational-memory", "observational-memory/buffer-status", "search"}
    routes = set()
    for prefix, patterns in (("", urlpatterns), ("network/", network.urls + mirrored.urls)):
        for pattern in patterns:
            text = str(pattern.pattern)
            if text not in ("^.*$", "network/"):
                routes.add(prefix + re.sub(r"\(\?P<thread_id>\[\^/\]\+\)", "ID", text.strip("^$\\Z")))
    assert routes - tested - known <= {
        f"network/{path}" for path in ("status", "save-messages", "messages/delete")
    }
