"""How many statements each route sends. None counts rows unless it answers a total."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from memory.models import Resource
from tests.api import Answer, Caller, message
from tests.api.routes import ROUTES

pytestmark = pytest.mark.django_db

AGENT = {"agentId": "client"}
OWNER = {"resourceId": "ada"}
WORDS = {**OWNER, "searchQuery": "text", "memoryConfig": {"semanticRecall": False}}
RECALL = {"threadId": "t", "includeTotal": False}
INCLUDE = [{"id": "t-1", "withNextMessages": 2}, {"id": "t-5", "withPreviousMessages": 1}]
SAVING, DELETING = 8, 11
MESSAGES = [message("new-1", "t", "ada"), message("new-2", "t", "ada")]


def meaning(scope: str) -> dict[str, Any]:
    """Options of a search in this scope."""
    return {"semanticRecall": {"scope": scope}}


def search(scope: str) -> dict[str, Any]:
    return {**OWNER, "searchQuery": "text 1", "memoryConfig": meaning(scope)}


def recall(scope: str, **more: Any) -> dict[str, Any]:
    return {"threadId": "t", "vectorSearchString": "text 1", "threadConfig": meaning(scope), **more}


Budget = tuple[dict[str, Any], Any, int]
# Of every route: query, body, statements for a limited caller. One of them looks up what the caller may
# touch; a route that touches nothing does without.
BUDGETS: dict[str, list[Budget]] = {
    "GET threads": [({}, None, 3), ({**OWNER, "metadata": {"a": 1}}, None, 3)],
    "POST threads": [({}, OWNER, 3), ({}, {**OWNER, "threadId": "t", "title": "x"}, 6)],
    "GET threads/{thread_id}": [({}, None, 2), (OWNER, None, 2)],
    "PATCH threads/{thread_id}": [({}, {"title": "x", "metadata": {}}, 4)],
    "DELETE threads/{thread_id}": [({}, None, 11)],
    "POST threads/{thread_id}/transfer": [({}, OWNER, 3)],
    "POST threads/{thread_id}/clone": [({}, {}, 10)],
    "GET threads/{thread_id}/messages": [
        ({}, None, 4),
        (AGENT, None, 4),
        ({"include": INCLUDE}, None, 5),
        ({"perPage": 0}, None, 2),
    ],
    "POST save-messages": [({}, {"messages": MESSAGES}, SAVING), ({}, {"messages": []}, 1)],
    "POST messages/delete": [
        ({}, {"messageIds": ["t-1", "t-2"]}, DELETING),
        ({}, {"messageIds": []}, 1),
    ],
    "GET threads/{thread_id}/working-memory": [({**AGENT, **OWNER}, None, 3)],
    "POST threads/{thread_id}/working-memory": [(AGENT, {"workingMemory": "w", **OWNER}, 10)],
    "GET search": [
        # PostgreSQL asks how many messages there are, up to a cap, and names the threads.
        (WORDS, None, 5 if connection.vendor == "postgresql" else 3),
        ({**WORDS, "threadId": "t"}, None, 4),
        (search("resource"), None, 5),
        ({**search("resource"), "threadId": "t"}, None, 6),
        (search("thread"), None, 5),
        ({**search("thread"), "threadId": "t"}, None, 6),
    ],
    "POST recall": [
        ({}, RECALL, 3),
        ({}, {**RECALL, **OWNER, "filter": {"metadata": {"n": 1}}}, 3),
        ({}, {**RECALL, "perPage": False}, 3),
        ({}, {**RECALL, "include": INCLUDE}, 4),
        ({}, recall("resource", includeTotal=False), 6),
        ({}, recall("thread", includeTotal=False), 6),
        ({}, recall("resource", includeTotal=False, **OWNER) | {"threadId": "first-turn"}, 6),
        ({}, {"threadId": "t"}, 4),
        ({}, recall("resource"), 8),
    ],
    "GET status": [(AGENT, None, 0), ({**AGENT, **OWNER}, None, 1)],
    "GET config": [(AGENT, None, 0)],
    "GET observational-memory": [({**AGENT, **OWNER}, None, 1)],
    "POST observational-memory/buffer-status": [({}, AGENT, 0)],
}
# Routes that are not offered answer 400.
OFF = ("GET observational-memory", "POST observational-memory/buffer-status")


@pytest.fixture(autouse=True)
def stored(ada: Caller, thread: Callable[..., str], on_commit: Any) -> None:
    """A thread of the limited caller, with vectors."""
    assert Resource.objects.filter(uid="ada", user=ada.user).exists()
    with on_commit():
        thread("t", "ada", 8)


def ask(caller: Caller, name: str, query: dict[str, Any], body: Any) -> Answer:
    method, path = name.replace("{thread_id}", "t").split(" ")
    answer = caller.send(method, path, body, **query)
    assert answer.status == (400 if name in OFF else 200), answer
    return answer


def test_every_route_has_a_budget() -> None:
    """A route that mirrors another shares its budget."""
    assert {route.mirrored for route in ROUTES} == set(BUDGETS)
    assert all(BUDGETS.values())


@pytest.mark.parametrize(
    ("name", "query", "body", "budget"),
    [
        pytest.param(str(route), *budget, id=f"{route} {number}")
        for route in ROUTES
        for number, budget in enumerate(BUDGETS.get(route.mirrored, ()))
    ],
)
def test_routes_keep_to_their_budgets(
    ada: Caller, count_queries: Any, name: str, query: dict[str, Any], body: Any, budget: int
) -> None:
    ada.get("status", resourceId="ada")
    with count_queries() as statements:
        answer = ask(ada, name, query, body)
    assert len(statements) == budget, f"{len(statements)} instead of {budget}:\n{statements}"
    counting = [sql for sql in statements if "COUNT(" in sql.upper()]
    assert answer.body.get("total") is not None or not counting, counting


def test_staff_and_superusers(ada: Caller, staff: Caller, count_queries: Any) -> None:
    """Permissions of staff are 2 statements, of superusers none, instead of the 1 of a limited caller."""
    staff.user._perm_cache = staff.user._user_perm_cache = None
    users: Any = get_user_model().objects
    for caller, budget in (
        (Caller(users.get(pk=staff.user.pk)), 3),
        (Caller(users.create_superuser("root")), 1),
    ):
        with count_queries(budget):
            ask(caller, "GET threads/{thread_id}", {}, None)


@pytest.mark.parametrize("messages", [1, 50])
def test_budgets_do_not_hang_on_the_number_of_messages(
    ada: Caller, count_queries: Any, messages: int
) -> None:
    many = [message(f"new-{number}", "t", "ada") for number in range(messages)]
    with count_queries(SAVING):
        ask(ada, "POST save-messages", {}, {"messages": many})
    with count_queries(DELETING):
        ask(ada, "POST messages/delete", {}, {"messageIds": [row["id"] for row in many]})
