"""Bob, who has something to hide, and the kinds of callers that must not see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from memory import Memory
from memory.models import Resource
from tests.api import Caller
from tests.api.conftest import make_user
from tests.api.leaks.observing import SECRET, World, tables
from tests.api.routes import Own

# Names a thread of Bob's, a message in it, and Bob's resource: ids are unique among their own kind only.
FOREIGN = "id-of-bob"
# As long as Bob's, and nobody's.
UNKNOWN = "id-of-nix"


def fill(own: Own, mark: str) -> None:
    """A thread of an owner with three messages, vectors, and working memory in both scopes."""
    memory = Memory()
    memory.create_thread(
        own.resource, thread_id=own.thread, title=f"Title {mark}", metadata={"a": 1, "note": mark}
    )
    memory.save_messages(
        [
            {
                "id": uid,
                "thread_id": own.thread,
                "role": "user",
                "content": {
                    "parts": [{"type": "text", "text": f"text {number} {mark}"}],
                    "metadata": {"n": number, "note": mark},
                },
                "created_at": f"2026-01-01T00:00:0{number}Z",
            }
            for number, uid in enumerate((f"1-{own.message}", own.message, f"3-{own.message}"))
        ]
    )
    for scope in ("resource", "thread"):
        memory.update_working_memory(
            f"{scope} {mark}",
            thread_id=own.thread,
            resource_id=own.resource,
            thread_config={"workingMemory": {"enabled": True, "scope": scope}},
        )


@pytest.fixture
def bob(db: None, on_commit: Any) -> frozenset[str]:
    """Bob's rows."""
    Resource.objects.create(uid=FOREIGN, user=make_user("bob"), metadata={"note": SECRET})
    with on_commit():
        fill(Own(resource=FOREIGN, thread=FOREIGN, message=FOREIGN), SECRET)
    return frozenset(tables())


@pytest.fixture
def make_world(bob: frozenset[str], on_commit: Any) -> Callable[[str], World]:
    """A caller of one of these kinds:

    - `linked`: to one resource;
    - `several`: to two;
    - `staff`: a member of the staff without the permission to act for every owner, linked to a resource;
    - `pending`: linked to none; its own is made by its first write.
    """

    def make(kind: str) -> World:
        user = make_user("ada", is_staff=kind == "staff")
        own = Own(resource="resource-of-ada", thread="thread-of-ada", message="message-of-ada")
        more = Own(resource="resource-of-eve", thread="thread-of-eve", message="message-of-eve")
        if kind == "pending":
            own = replace(own, resource=str(user.pk))
        for mine in {"pending": (), "several": (own, more)}.get(kind, (own,)):
            Resource.objects.create(uid=mine.resource, user=user)
            with on_commit():
                fill(mine, "mark")
        return World(Caller(user), own, bob, tables(), timezone.now())

    return make
