"""Bob, who has something to hide, and the kinds of callers that must not see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from memory import Memory
from memory.models import Resource
from tests.api import Caller
from tests.api.conftest import make_user
from tests.api.leaks.observing import SECRET, World, tables
from tests.api.routes import Own

KINDS = ("thread", "message", "resource")
ON = {"workingMemory": {"enabled": True}}


def foreign(kind: str) -> str:
    """An id of Bob's."""
    return f"{kind}-of-bob"


def unknown(kind: str) -> str:
    """An id of nobody's, as long as Bob's."""
    return f"{kind}-of-nix"


def fill(owner: str, name: str, mark: str) -> None:
    """A thread of an owner with three messages, vectors, and working memory in both scopes."""
    memory = Memory()
    thread, resource = f"thread-of-{name}", {"resource_id": owner}
    memory.create_thread(owner, thread_id=thread, title=f"Title {mark}", metadata={"a": 1, "note": mark})
    memory.save_messages(
        [
            {
                "id": uid,
                "thread_id": thread,
                "role": "user",
                "content": {
                    "parts": [{"type": "text", "text": f"text {number} {mark}"}],
                    "metadata": {"n": number, "note": mark},
                },
                "created_at": f"2026-01-01T00:00:0{number}Z",
            }
            for number, uid in enumerate((f"before-{name}", f"message-of-{name}", f"after-{name}"))
        ]
    )
    memory.update_working_memory(f"resource {mark}", **resource, thread_config=ON)
    scope = {"workingMemory": {"enabled": True, "scope": "thread"}}
    memory.update_working_memory(f"thread {mark}", thread_id=thread, **resource, thread_config=scope)


@pytest.fixture
def bob(db: None, on_commit: Any) -> frozenset[str]:
    """Bob's rows."""
    Resource.objects.create(uid="resource-of-bob", user=make_user("bob"), metadata={"note": SECRET})
    with on_commit():
        fill("resource-of-bob", "bob", SECRET)
    return frozenset(tables())


@pytest.fixture
def make_world(bob: frozenset[str], on_commit: Any) -> Callable[[str], World]:
    """A caller of one of these kinds:

    - `linked`: to one resource;
    - `several`: to two;
    - `staff`: a member of the staff without the permission to act for every owner, linked to a resource;
    - `permitted`: with that permission and no member of the staff;
    - `pending`: linked to none; its own is made by its first write.
    """

    def make(kind: str) -> World:
        user = make_user("ada", is_staff=kind == "staff")
        if kind == "permitted":
            user.user_permissions.add(Permission.objects.get(codename="access_all_resources"))
        owner = str(user.pk) if kind == "pending" else "resource-of-ada"
        if kind != "pending":
            Resource.objects.create(uid=owner, user=user)
            with on_commit():
                fill(owner, "ada", "mark")
        if kind == "several":
            Resource.objects.create(uid="resource-of-eve", user=user)
            with on_commit():
                fill("resource-of-eve", "eve", "other")
        own = Own(resource=owner, thread="thread-of-ada", message="message-of-ada")
        return World(Caller(user), own, bob, timezone.now())

    return make
