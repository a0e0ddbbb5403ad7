"""`/healthz`: what a load balancer is told, and that it is always told something."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from django.db import connection, connections
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from memory import Memory, health
from memory.models import EmbeddingJob

CountQueries = Callable[..., AbstractContextManager[Any]]

IDLE = {"open": 0, "failing": 0, "failed": 0, "oldest_seconds": None, "capped": False}


@pytest.fixture
def jobs(db: None) -> Callable[..., None]:
    """`jobs(3, attempts=1)` writes three embedding jobs, each ten seconds older than the one before."""

    def write(count: int, **options: Any) -> None:
        stored = Memory().save_messages(
            [{"thread_id": "t", "role": "user", "content": "a secret"} for _ in range(count)],
            create_thread=True,
            resource_id="r",
        )
        for number, message in enumerate(stored, 1):
            written = timezone.now() - timedelta(seconds=10 * number)
            rows = EmbeddingJob.objects.filter(message_id=message.pk)
            assert rows.update(created_at=written, available_at=written, **options) == 1

    return write


@pytest.mark.smoke
def test_nothing_waits(client: Client, db: None, count_queries: CountQueries) -> None:
    with count_queries(exactly=3):
        answer = client.get("/healthz")
    body = answer.json()
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    version = body.pop("vector")
    assert body == {"status": "ok", "database": True, "embedding": IDLE, "serving": True}
    assert (version is not None) == (connection.vendor == "postgresql")
    assert "sessionid" not in answer.cookies


def test_the_backlog(client: Client, jobs: Callable[..., None], count_queries: CountQueries) -> None:
    jobs(2)
    jobs(3, attempts=4, error="a secret")
    jobs(1, state=EmbeddingJob.State.FAILED)
    with count_queries(exactly=3):
        answer = client.get("/healthz")
    found = answer.json()["embedding"]
    assert 30 <= found.pop("oldest_seconds") < 60
    assert found == {"open": 5, "failing": 3, "failed": 1, "capped": False}
    # A long backlog is no reason to take the site out of service.
    assert answer.status_code == 200
    assert b"secret" not in answer.content


def test_counting_ends_at_the_cap(jobs: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    jobs(5)
    monkeypatch.setattr(health, "MOST_JOBS", 3)
    found = health.look().embedding
    assert found is not None
    assert (found.open, found.capped) == (3, True)
    assert found.oldest_seconds is not None
    assert found.oldest_seconds >= 50


def test_methods(client: Client, db: None) -> None:
    head = client.head("/healthz")
    assert (head.status_code, head.content) == (200, b"")
    refused = client.post("/healthz")
    assert (refused.status_code, refused["Allow"]) == (405, "GET, HEAD")


def test_a_database_that_does_not_answer(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_db_blocker: DjangoDbBlocker,
) -> None:
    nowhere = {"HOST": "/nowhere", "NAME": "/nowhere/db", "OPTIONS": {}}
    monkeypatch.setitem(connections.settings, "nowhere", {**connections.settings["default"], **nowhere})
    monkeypatch.setattr("memory.health.router.db_for_write", lambda model: "nowhere")
    with django_db_blocker.unblock():
        answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json() == {
        "status": "unavailable",
        "database": False,
        "vector": None,
        "embedding": None,
        "serving": False,
    }
    assert "OperationalError" in caplog.text
    del connections["nowhere"]


def test_no_extension(client: Client, db: None, is_postgres: bool) -> None:
    if not is_postgres:
        pytest.skip("pgvector")
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION vector CASCADE")
    answer = client.get("/healthz")
    assert answer.status_code == 503
    body = answer.json()
    assert (body["database"], body["vector"], body["embedding"]) == (True, None, IDLE)


def test_no_tables(client: Client, db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {EmbeddingJob._meta.db_table}")
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert (answer.json()["database"], answer.json()["embedding"]) == (True, None)


@pytest.mark.django_db(transaction=True)
def test_a_locked_table_is_not_waited_for(is_postgres: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_postgres:
        pytest.skip("readers of SQLite never wait")
    monkeypatch.setattr(health, "PATIENCE", 100)
    other: Any = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {EmbeddingJob._meta.db_table} IN ACCESS EXCLUSIVE MODE")
        start = time.monotonic()
        found = health.look()
        assert time.monotonic() - start < 5
    finally:
        other.close()
    assert (found.database, found.embedding, found.serving) == (True, None, False)
    assert health.look().serving


def test_a_site_with_atomic_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The transaction of a request would ask for a connection where nothing catches its failure."""
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    assert BaseHandler().make_view_atomic(health.health) is health.health
