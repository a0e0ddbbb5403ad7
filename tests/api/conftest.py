"""Callers: two limited ones, one who may act for every owner, and nobody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from memory import Memory
from memory.models import Resource
from tests.api import Caller


def make_user(name: str, **options: Any) -> Any:
    users: Any = get_user_model().objects
    return users.create_user(name, password="secret", **options)


@pytest.fixture
def staff(db: None) -> Caller:
    """A member of the staff with the permission to act for every owner."""
    user = make_user("staff", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="access_all_resources"))
    return Caller(user)


@pytest.fixture
def ada(db: None) -> Caller:
    """A limited caller to whom the resource `ada` is linked."""
    user = make_user("ada")
    Resource.objects.create(uid="ada", user=user)
    return Caller(user)


@pytest.fixture
def newcomer(db: None) -> Caller:
    """A limited caller to whom nothing is linked yet."""
    return Caller(make_user("newcomer"))


@pytest.fixture
def nobody(db: None) -> Caller:
    return Caller(None)


@pytest.fixture
def thread(db: None) -> Callable[..., str]:
    """`thread("t", "ada", 3)` stores a thread with messages t-1 to t-3, one second apart."""

    def make(uid: str, owner: str, messages: int = 0) -> str:
        memory = Memory()
        memory.create_thread(owner, thread_id=uid, title=f"Title of {uid}")
        memory.save_messages(
            [
                {
                    "id": f"{uid}-{number}",
                    "thread_id": uid,
                    "role": "user",
                    "content": {
                        "parts": [{"type": "text", "text": f"text {number}"}],
                        "metadata": {"n": number},
                    },
                    "created_at": f"2026-01-01T00:00:{number:02}Z",
                }
                for number in range(1, messages + 1)
            ]
        )
        return uid

    return make
