"""Ids of another owner, in every place of every route: they answer what unknown ones answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tests.api import Caller, ids, message
from tests.api.leaks.conftest import FOREIGN, UNKNOWN
from tests.api.leaks.observing import SECRET, Seen, World, observe, tables
from tests.api.leaks.places import requests
from tests.api.routes import ROUTES, Route, distinct, examples

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# Where a write claims an id: (route, place) -> the constant answer to a taken one.
THREAD_TAKEN = "This thread id is taken. Choose another one, or leave it out."
MESSAGE_TAKEN = "A message id is taken. Choose another one, or leave it out."
CLAIMS = {
    ("POST threads", "body.threadId"): THREAD_TAKEN,
    ("POST threads/{thread_id}/clone", "body.newThreadId"): THREAD_TAKEN,
    ("POST save-messages", "body.messages[].id"): MESSAGE_TAKEN,
    ("POST save-messages", "body.messages[].id with own"): MESSAGE_TAKEN,
}
NO_RESOURCE = {"error": "There is no resource with this id."}
# A route of a thread that answers without it, as one may ask it before the first turn.
WITHOUT_THREAD = "GET threads/{thread_id}/working-memory"


def pairs(world: World, route: Route) -> Iterator[tuple[str, Seen, Seen]]:
    """The places of a route, with what a foreign and an unknown id show there."""
    for example in examples(route, world.own):
        foreign, unknown = (requests(route, example, uid, world.own) for uid in (FOREIGN, UNKNOWN))
        for (place, request), (_, reference) in zip(foreign, unknown, strict=True):
            yield (
                place,
                observe(world, route, request, FOREIGN),
                observe(world, route, reference, UNKNOWN),
            )


KINDS = [pytest.param("linked", marks=pytest.mark.smoke), "several", "staff", "pending"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_foreign_id_answers_what_an_unknown_one_answers(
    make_world: Callable[[str], World], kind: str
) -> None:
    """Status, headers, body and rows are the same, but for the claim of a taken id: 409 and no write. One
    kind of caller asks by the mirroring paths too."""
    world = make_world(kind)
    faults = []
    for route in ROUTES if kind == "linked" else distinct(ROUTES):
        for place, seen, reference in pairs(world, route):
            at = f"{route}, {place}: {seen}"
            taken = CLAIMS.get((route.mirrored, place))
            if taken is not None and reference.status == 200:
                if (seen.status, seen.body) != (409, {"error": taken}):
                    faults.append(f"{at} is no conflict")
            elif taken is not None and kind != "pending":
                faults.append(f"{route}, {place}: {reference} for a free id")
            elif difference := seen.differs(reference):
                faults.append(f"{at}: {difference}")
            if SECRET in str(seen.body) or not world.bobs <= seen.exact:
                faults.append(f"{at} shows or changes what is Bob's")
            if seen.status >= 400 and seen.exact != set(world.stored):
                faults.append(f"{at} wrote something")
            if place == "path.threadId" and route.mirrored != WITHOUT_THREAD and seen.status != 404:
                faults.append(f"{at} is no 404")
            if place.endswith(".resourceId") and (seen.status, seen.body) != (404, NO_RESOURCE):
                faults.append(f"{at} tells of a resource")
        if tables() != world.stored:
            faults.append(f"{route} wrote something")
    assert not faults, "\n".join(faults)


# Where a caller who may see everything does see Bob's rows: what the comparison above would not miss.
OPEN = {
    *((str(route), "path.threadId") for route in distinct(ROUTES) if route.has_thread),
    ("GET threads", "query.resourceId"),
    ("GET search", "query.resourceId"),
    ("GET search", "query.threadId"),
    ("POST recall", "body.threadId"),
    ("POST recall", "body.cursor and threadId"),
    ("POST messages/delete", "body.messageIds"),
    ("POST messages/delete", "body.messageIds[] with own"),
    ("POST save-messages", "body.messages[].threadId"),
    ("POST save-messages", "body.messages[].resourceId and threadId"),
}


def test_the_comparison_sees_what_a_caller_for_every_owner_sees(
    make_world: Callable[[str], World], staff: Caller
) -> None:
    world = replace(make_world("linked"), caller=staff)
    seen = {
        (str(route), place)
        for route in distinct(ROUTES)
        for place, foreign, unknown in pairs(world, route)
        if foreign.differs(unknown)
    }
    assert OPEN - seen == set()


@pytest.mark.parametrize("uid", [FOREIGN, UNKNOWN])
def test_what_an_unknown_id_answers(make_world: Callable[[str], World], uid: str) -> None:
    """404, empty, skipped, success of a delete that deletes nothing, or a first turn."""
    world = make_world("linked")
    ada, own = world.caller, world.own
    mine = {"resourceId": own.resource}
    search = {**mine, "vectorSearchString": "text 1", "threadConfig": {"semanticRecall": True}}
    assert ids(ada.post("recall", {"threadId": uid})) == []
    assert ada.post("recall", {"threadId": uid, **mine}).status == 404
    assert own.message in ids(ada.post("recall", {"threadId": uid, **search}))
    for scope in ("resource", "thread"):
        config = {"semanticRecall": {"scope": scope}}
        found = ada.get("search", **mine, threadId=uid, searchQuery="text 1", memoryConfig=config)
        assert bool(found.body["results"]) is (scope == "resource")
    include = [{"id": uid, "withPreviousMessages": 5}]
    assert ids(ada.post("recall", {"threadId": own.thread, "perPage": 0, "include": include})) == []
    assert ids(ada.get(f"threads/{own.thread}/messages", perPage=0, include=include)) == []
    deleted = ada.post("messages/delete", {"messageIds": [uid]}, **mine)
    assert (deleted.status, deleted.body["success"]) == (200, True)
    assert tables() == world.stored
    options = {"messageFilter": {"messageIds": [uid]}}
    assert ada.post(f"threads/{own.thread}/clone", {"options": options}).body["clonedMessages"] == []
    saved = ada.post("save-messages", {"messages": [message("new", uid, own.resource)]})
    assert (saved.status, saved.body) == (404, {"error": f"There is no thread with the id '{uid}'."})
