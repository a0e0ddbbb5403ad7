"""Whether this site can serve, for load balancers: ``path("healthz", health)``.

It needs no Django REST Framework, no session and no permission, and tells nothing of what is stored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db import connections, router, transaction
from django.db.models import Count, Min, Q
from django.http import HttpResponseBase, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from memory.models import EmbeddingJob

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.http import HttpRequest

    View = Callable[..., HttpResponseBase]

logger = logging.getLogger("memory.health")

# Jobs are counted up to here: the cost of the question stays the same, however many wait.
MOST_JOBS = 10_000
# Milliseconds a statement may wait, for example for a migration that has locked the table.
PATIENCE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Messages that are not embedded yet.

    Attributes:
        open: jobs that wait, at most `MOST_JOBS`; then there may be more.
        failing: those of them that an embedder has failed on, and that are tried again.
        failed: jobs that were given up, at most `MOST_JOBS`.
        oldest_seconds: age of the oldest open job; None where none is open.
        capped: whether a number has reached `MOST_JOBS`.
    """

    open: int
    failing: int
    failed: int
    oldest_seconds: int | None
    capped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What :func:`look` has found.

    Attributes:
        database: whether the database answers.
        vector: version of pgvector; None where it is missing, or where the database is no PostgreSQL.
        embedding: the backlog; None where the tables cannot be read, as before the first migration.
        serving: whether all that the database has to have is there.
    """

    database: bool
    vector: str | None
    embedding: Backlog | None
    serving: bool


def look(using: str | None = None) -> Health:
    """Ask the database of this app, or the one of the alias `using`. 3 queries of bounded cost.

    On PostgreSQL each of them gives up after `PATIENCE` milliseconds; inside a transaction of the caller
    that limit stays for the rest of it. How long a connection may take to be made is up to `DATABASES`.
    What fails is logged, and never raised.
    """
    connection = connections[using or router.db_for_write(EmbeddingJob)]
    is_postgres = connection.vendor == "postgresql"
    database, vector, backlog = False, None, None
    try:
        # No transaction on SQLite, where it may begin as a writer and wait for the others.
        with transaction.atomic(connection.alias) if is_postgres else nullcontext():
            vector = _ask(connection, is_postgres)
            database = True
            backlog = _backlog(connection.alias)
    except Exception as error:  # whatever a driver or a pool may raise: the balancer is to get an answer
        logger.warning("The database %r: %s: %s", connection.alias, type(error).__name__, error)
    serving = backlog is not None and (vector is not None or not is_postgres)
    return Health(database=database, vector=vector, embedding=backlog, serving=serving)


def _ask(connection: BaseDatabaseWrapper, is_postgres: bool) -> str | None:
    """The version of pgvector, where the database can have it."""
    with connection.cursor() as cursor:
        if not is_postgres:
            cursor.execute("SELECT NULL")
        else:
            cursor.execute(f"SET LOCAL statement_timeout = {PATIENCE}")
            cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        row = cursor.fetchone()
        return row[0] if row else None


def _backlog(using: str) -> Backlog:
    jobs = EmbeddingJob.objects.using(using)
    # The index on state and date serves both; one job more tells nothing that the cap does not.
    waiting: dict[str, Any] = (
        jobs.filter(state=EmbeddingJob.State.OPEN)
        .order_by("available_at")[:MOST_JOBS]
        .aggregate(open=Count("pk"), failing=Count("pk", filter=Q(attempts__gt=0)), oldest=Min("created_at"))
    )
    failed = jobs.filter(state=EmbeddingJob.State.FAILED)[:MOST_JOBS].count()
    oldest = waiting["oldest"]
    return Backlog(
        open=waiting["open"],
        failing=waiting["failing"],
        failed=failed,
        oldest_seconds=None if oldest is None else max(0, int((timezone.now() - oldest).total_seconds())),
        capped=MOST_JOBS in (waiting["open"], failed),
    )


def _outside_transactions(view: View) -> View:
    """Keep a view out of ATOMIC_REQUESTS, which asks for a connection where nothing can catch its failure."""
    for alias in connections:
        view = transaction.non_atomic_requests(using=alias)(view)
    return view


@_outside_transactions
@require_safe
@cache_control(no_store=True)
def health(request: HttpRequest) -> JsonResponse:
    """200 when this site can serve, 503 when not; the same JSON, for GET and HEAD. 3 queries."""
    found = look()
    status = "ok" if found.serving else "unavailable"
    return JsonResponse({"status": status, **asdict(found)}, status=200 if found.serving else 503)
