"""Ids of another owner, in every place of every route: they answer what unknown ones answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.api import Caller
from tests.api.leaks.conftest import KINDS, foreign, unknown
from tests.api.leaks.observing import SECRET, Seen, World, observe, tables
from tests.api.leaks.places import requests
from tests.api.routes import ROUTES, Route, examples

pytestmark = pytest.mark.django_db

# Where a write claims an id: (route, place, what the id names) -> the constant answer to a taken one.
THREAD_TAKEN = "This thread id is taken. Choose another one, or leave it out."
MESSAGE_TAKEN = "A message id is taken. Choose another one, or leave it out."
CLAIMS = {
    ("POST threads", "body.threadId", "thread"): THREAD_TAKEN,
    ("POST threads/{thread_id}/clone", "body.newThreadId", "thread"): THREAD_TAKEN,
    ("POST save-messages", "body.messages[].id", "message"): MESSAGE_TAKEN,
    ("POST save-messages", "body.messages[].id with own", "message"): MESSAGE_TAKEN,
}
# A route of a thread that answers without it, as one may ask it before the first turn.
WITHOUT_THREAD = "GET threads/{thread_id}/working-memory"


def pairs(world: World, route: Route) -> Iterator[tuple[str, str, Seen, Seen]]:
    """What a foreign and an unknown id show, in every place; beside the place and what the id names."""
    for example in examples(route, world.own):
        for kind in KINDS:
            sent = [
                (place, uid, request)
                for uid in (foreign(kind), unknown(kind))
                for place, request in requests(route, example, uid, world.own)
            ]
            half = len(sent) // 2
            for (place, uid, request), (_, no_uid, reference) in zip(sent[:half], sent[half:], strict=True):
                yield (
                    place,
                    kind,
                    observe(world, route, request, uid),
                    observe(world, route, reference, no_uid),
                )


def is_resource_place(place: str) -> bool:
    return place.endswith(".resourceId") and "semanticRecall" not in place


@pytest.mark.parametrize("kind", ["linked", "several", "staff", "permitted", "pending"])
@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_a_foreign_id_answers_what_an_unknown_one_answers(
    make_world: Callable[[str], World], route: Route, kind: str
) -> None:
    """Status, headers, body and rows are the same, but for the claim of a taken id: 409 and no write."""
    world = make_world(kind)
    before = set(tables())
    faults = []
    for place, names, seen, reference in pairs(world, route):
        at = f"{place}, {names}: {seen.status}"
        taken = CLAIMS.get((route.mirrored, place, names))
        if taken is not None and kind != "pending" and reference.status != 200:
            faults.append(f"{at}: a free id is not taken: {reference}")
        if taken is not None and reference.status == 200:
            if (seen.status, seen.body) != (409, {"error": taken}):
                faults.append(f"{at}: {seen.body} instead of a conflict")
        elif difference := seen.differs(reference):
            faults.append(f"{at}: {difference}")
        if SECRET in str(seen.body) or not world.bobs <= seen.exact:
            faults.append(f"{at}: shows or changes what is Bob's")
        if (route.method == "GET" or seen.status >= 400) and seen.exact != before:
            faults.append(f"{at}: wrote something")
        if names == "thread" and place == "path.threadId" and route.mirrored != WITHOUT_THREAD:
            if seen.status != 404:
                faults.append(f"{at}: no 404")
        if names == "resource" and is_resource_place(place):
            if (seen.status, seen.body) != (404, {"error": "There is no resource with this id."}):
                faults.append(f"{at}: {seen.body} instead of 404")
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


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_comparison_sees_what_a_caller_for_every_owner_sees(
    make_world: Callable[[str], World], staff: Caller, route: Route
) -> None:
    limited = make_world("linked")
    world = World(staff, limited.own, limited.bobs, limited.since)
    seen = {place for place, _, one, other in pairs(world, route) if one.differs(other)}
    assert {place for name, place in OPEN if name == str(route)} <= seen
