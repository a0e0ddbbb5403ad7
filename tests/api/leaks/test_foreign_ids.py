"""Ids of another owner, in every place of every route: they answer what unknown ones answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tests.api import Caller
from tests.api.leaks.conftest import FOREIGN, UNKNOWN
from tests.api.leaks.observing import SECRET, Seen, World, observe, tables
from tests.api.leaks.places import requests
from tests.api.routes import ROUTES, Route, examples

pytestmark = pytest.mark.django_db

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


@pytest.mark.parametrize("kind", ["linked", "several", "staff", "permitted", "pending"])
def test_a_foreign_id_answers_what_an_unknown_one_answers(
    make_world: Callable[[str], World], kind: str
) -> None:
    """Status, headers, body and rows are the same, but for the claim of a taken id: 409 and no write."""
    world = make_world(kind)
    faults = []
    for route in ROUTES:
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
    *((str(route), "path.threadId") for route in ROUTES if route.has_thread),
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
        for route in ROUTES
        for place, foreign, unknown in pairs(world, route)
        if foreign.differs(unknown)
    }
    assert OPEN - seen == set()
