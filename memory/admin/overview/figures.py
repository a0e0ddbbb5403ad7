"""The numbers of the overview: bounded questions, and their answers kept for a minute."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Generic, TypeVar

from django.core.cache import cache
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from memory.admin.owners import Owners
from memory.admin.zones import midnight
from memory.db.expressions import IsOneOf
from memory.models import EmbeddingJob, Message, Resource, Thread

T = TypeVar("T")

DAYS = 30
LARGEST = 10
# Jobs of a kind are counted up to here.
CAP = 10_000
SECONDS = 60


@dataclass(frozen=True, slots=True)
class Aged(Generic[T]):
    """An answer, and when it was found."""

    value: T
    found_at: datetime

    @property
    def age(self) -> int:
        """Whole seconds since then."""
        return max(0, int((timezone.now() - self.found_at).total_seconds()))


@dataclass(frozen=True, slots=True)
class Backlog:
    """Embedding jobs, each kind counted up to `CAP` + 1.

    Attributes:
        waiting: not tried yet.
        failing: tried, refused, and to be tried again.
        failed: given up.
        oldest: when the oldest of those that are open was written.
    """

    waiting: int
    failing: int
    failed: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Owner:
    """A resource with the number of its messages."""

    pk: int
    uid: str
    messages: int


def kept(name: str, owners: Owners, find: Callable[[Owners], T]) -> Aged[T]:
    """What `find` answers for these owners, at most a minute old. The name says on what else it depends."""
    scope = None if owners is None else sorted(owners)
    key = f"memory:overview:{hashlib.sha256(f'{name} {scope}'.encode()).hexdigest()}"
    found: Aged[T] | None = cache.get(key)
    if found is None:
        found = Aged(find(owners), timezone.now())
        cache.set(key, found, SECONDS)
    return found


def messages_per_day(owners: Owners) -> list[tuple[date, int]]:
    """Messages of the past 30 days by their dates in the present zone, days without one included. 1 query."""
    first = timezone.localdate() - timedelta(DAYS - 1)
    days = [first + timedelta(number) for number in range(DAYS)]
    # A range of the index for each: to make a date of every moment takes five times as long.
    rows = _of(Message.objects.all(), owners, "thread__resource__uid").order_by()
    counts = [
        rows.filter(created_at__gte=midnight(day), created_at__lt=midnight(day, 1))
        .values(number=Value(number))
        .annotate(count=Count("*"))
        .values_list("number", "count")
        for number, day in enumerate(days)
    ]
    counted = dict(counts[0].union(*counts[1:], all=True))
    return [(day, counted.get(number, 0)) for number, day in enumerate(days)]


def embedding_backlog(owners: Owners) -> Backlog:
    """What waits to be embedded. 4 queries."""
    jobs = _of(EmbeddingJob.objects.all(), owners, "message__thread__resource__uid").order_by()
    is_open, has_failed = Q(state=EmbeddingJob.State.OPEN), Q(attempts__gt=0)

    def count(condition: Q) -> int:
        return jobs.filter(condition)[: CAP + 1].count()

    return Backlog(
        waiting=count(is_open & ~has_failed),
        failing=count(is_open & has_failed),
        failed=count(Q(state=EmbeddingJob.State.FAILED)),
        # By the index that workers use: a minimum would go over all that are open.
        oldest=jobs.filter(is_open).order_by("available_at").values_list("created_at", flat=True).first(),
    )


def largest_owners(owners: Owners) -> list[Owner]:
    """The resources with the most messages. 2 queries, of which one goes over an index of all messages."""
    # Thread by thread, so that the index alone is read: in half the time of joining every message.
    messages = Message.objects.filter(thread=OuterRef("pk")).order_by()
    of_thread = Subquery(messages.values("thread").annotate(number=Count("*")).values("number"))
    threads = _of(Thread.objects.all(), owners, "resource__uid").order_by()
    counted = threads.values("resource").annotate(number=Sum(Coalesce(of_thread, 0)))
    largest: list[tuple[int, int]] = list(
        counted.order_by("-number", "resource").values_list("resource", "number")[:LARGEST]
    )
    named = Resource.objects.in_bulk([key for key, _ in largest])
    return [Owner(key, named[key].uid, number) for key, number in largest if number and key in named]


def _of(rows: QuerySet[Any], owners: Owners, path: str) -> QuerySet[Any]:
    return rows if owners is None else rows.filter(IsOneOf(path, sorted(owners)))
