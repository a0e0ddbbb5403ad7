"""Who may ask at all, and the caller whose own resource is another's already (contract section 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.api.access import Access
from memory.models import Resource
from tests.api import Caller
from tests.api.leaks.conftest import FOREIGN
from tests.api.leaks.observing import SECRET, World, observe, tables
from tests.api.routes import ROUTES, examples

pytestmark = pytest.mark.django_db

RESOURCE_TAKEN = {
    "error": "The resource of this account exists already without being linked to it. An administrator has "
    "to link the two."
}


# What makes a resource, and so claims its id.
MAKERS = ("POST threads", "POST threads/{thread_id}/transfer")


def linked_and_pending(request: Any) -> Access:
    """A rule of a site by which one resource is the caller's, and another would be made."""
    owners = frozenset({"resource-of-ada"})
    return Access(owners=owners, pending=str(request.user.pk), user=request.user)


@pytest.mark.parametrize("linked_to", ["bob", "nobody"])
@pytest.mark.parametrize("kind", ["pending", "linked and pending"])
def test_a_pending_resource_that_is_taken_answers_what_a_free_one_answers(
    make_world: Callable[[str], World], settings: Any, kind: str, linked_to: str
) -> None:
    """Bob's resource has the very id that the first write of this caller would make: 409 for that write,
    and else nothing that a free id would not answer."""
    if kind == "pending":
        world = make_world("pending")
    else:
        settings.MEMORY = {**settings.MEMORY, "RESOURCE_RESOLVER": f"{__name__}.linked_and_pending"}
        world = make_world("linked")
    own = replace(world.own, resource=str(world.caller.user.pk))
    if linked_to == "nobody":
        Resource.objects.filter(uid=FOREIGN).update(user=None)
    bob = Resource.objects.filter(pk=Resource.objects.get(uid=FOREIGN).pk)
    hers = set(world.stored) - world.bobs
    free = replace(world, stored=tables(), bobs=frozenset(tables()) - hers)
    bob.update(uid=own.resource)
    taken = replace(world, stored=tables(), bobs=frozenset(tables()) - hers)
    faults, conflicts = [], set()
    for route in ROUTES:
        for ids in (own, replace(own, thread=FOREIGN, message=FOREIGN)):
            for request in examples(route, ids):
                bob.update(uid=FOREIGN)
                reference = observe(free, route, request, own.resource)
                bob.update(uid=own.resource)
                seen = observe(taken, route, request, own.resource)
                at = f"{route}, {ids.thread}: {seen}"
                if route.mirrored in MAKERS and reference.status == 200:
                    conflicts.add(route.mirrored)
                    if (seen.status, seen.body) != (409, RESOURCE_TAKEN):
                        faults.append(f"{at} is no conflict")
                    if seen.exact != set(taken.stored):
                        faults.append(f"{at} wrote something")
                elif difference := seen.differs(reference):
                    faults.append(f"{at}: {difference}")
                if not taken.bobs <= seen.exact or SECRET in str(seen.body):
                    faults.append(f"{at} shows or changes what is Bob's")
        if tables() != taken.stored:
            faults.append(f"{route} wrote something")
    assert not faults, "\n".join(faults)
    assert conflicts == set(MAKERS if kind == "linked and pending" else MAKERS[:1])


@pytest.mark.smoke
@pytest.mark.parametrize("form", ["none", "token", "session"])
def test_anonymous_is_401_on_every_route(make_world: Callable[[str], World], form: str) -> None:
    """Before anything else is looked at; with a wrong token and an ended session too."""
    world = make_world("linked")
    nobody = Caller(None)
    if form == "token":
        nobody.client.credentials(HTTP_AUTHORIZATION="Token nonsense")
    elif form == "session":
        nobody.client.cookies["sessionid"] = "nonsense"
    for route in ROUTES:
        for example in examples(route, world.own):
            wrong = nobody.raw(route.method, route.at(example.thread), b"{bad", agentId="")
            for answer in (example.send(nobody, route), wrong):
                assert (answer.status, set(answer.body)) == (401, {"error"}), (route, answer)
                assert answer.headers["WWW-Authenticate"] == "Token"
    assert tables() == world.stored


def test_a_session_without_a_csrf_token_writes_nothing(make_world: Callable[[str], World]) -> None:
    world = make_world("linked")
    browser = Caller(None)
    browser.client = APIClient(enforce_csrf_checks=True)
    browser.client.force_login(world.caller.user)
    for route in ROUTES:
        for example in examples(route, world.own):
            answer = example.send(browser, route)
            if route.method == "GET":
                assert answer.status == example.send(world.caller, route).status, (route, answer)
            else:
                assert (answer.status, set(answer.body)) == (403, {"error"}), (route, answer)
    assert tables() == world.stored
