"""People of the staff with various rights, and conversations for them to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.test import Client

from memory.models import Thread
from tests.admin import MARKER, conversation, marked_rows
from tests.admin.world import World, make_world

VIEWS = (
    "resource",
    "thread",
    "message",
    "workingmemory",
    "embedding",
    "embeddingjob",
    "embeddingspace",
    "adminevent",
)
VIEW_ALL = tuple(f"view_{name}" for name in VIEWS)


@pytest.fixture
def staff(db: None) -> Callable[..., Client]:
    """`staff("view_thread", ...)`: the browser of a member of the staff with these permissions."""

    def login(*codenames: str, name: str = "") -> Client:
        name = name or f"staff-{get_user_model().objects.count()}"
        user = get_user_model().objects.create_user(name, password="pw", is_staff=True)
        found = list(Permission.objects.filter(content_type__app_label="memory", codename__in=codenames))
        assert len(found) == len(set(codenames))
        user.user_permissions.set(found)
        client = Client()
        client.force_login(user)
        return client

    return login


@pytest.fixture
def empty_cache() -> Iterator[None]:
    """Nothing is kept from one test to another."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def reader(staff: Callable[..., Client]) -> Client:
    """May see everything of this app, content too."""
    return staff(*VIEW_ALL, "view_message_content")


@pytest.fixture
def masked(staff: Callable[..., Client]) -> Client:
    """May see everything of this app but content."""
    return staff(*VIEW_ALL)


@pytest.fixture
def thread(db: None) -> Thread:
    """A conversation of three messages about a refund, in three languages."""
    return conversation("t1", ["환불 받고 싶어요", "我要退款，请注销我的账号。", "A refund of order A-4711"])


@pytest.fixture
def marked(db: None) -> dict[str, Any]:
    """Rows of every table with the marker word in each of their fields that can hold content."""
    return marked_rows(MARKER)


@pytest.fixture
def embedded_world(on_commit: Callable[..., AbstractContextManager[Any]], db: None) -> World:
    """The owner `r`, whose messages are embedded but for one with a job that failed."""
    with on_commit():
        return make_world()
