"""The newest messages that have some words, found quickly whether the words are rare or common.

Left alone, PostgreSQL walks from the newest message on and makes the terms of each until enough match, which
takes seconds for a rare word; or it scans the word index again for each thread of an owner. So here it can
do neither: the order is one that no index has, and threads are named, or hidden. Figures of a million
messages come from `benchmarks/word_search.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from django.db import connections, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, OuterRef, Subquery, Value

from memory.db.expressions import IsOneOf
from memory.querysets import tables

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from memory.querysets.message import MessageQuerySet
    from memory.querysets.thread import ThreadQuerySet
    from memory.schema import Message, Resource, Thread

Found = TypeVar("Found")

# The newest messages of the site, which are asked first where many may match; and the most messages of an
# owner of whom all are asked at once.
WINDOW = 20_000
# A word that fewer of the window have is so rare that all messages can be asked for it.
COMMON = 100
# In the default of 4 MB, the bitmap of a common word keeps pages and forgets rows: the terms of all
# messages on these pages would be made again.
WORK_MEM = "64MB"


def newest_containing(
    query: str, limit: int, *, scope: Resource | Thread | None, using: str
) -> list[Message]:
    """The newest `limit` messages that have all words of `query`, newest first, with threads and owners.

    1 query for a thread, 3 at most for an owner or, with `scope` None, for all messages; 4 where `limit` is
    above 100.
    """
    messages = tables.messages(using).containing(query)
    if connections[using].vendor != "postgresql":
        rows = messages if scope is None else messages.in_scope(scope)
        return list(rows.newest_first().select_related("thread__resource")[:limit])
    with _quick_bitmaps(using):
        rows, start = _bounded(messages, scope)
        return _stepwise(
            rows, start, limit, lambda step: _newest(step, limit), lambda message: message.created_at
        )


def newest_matches(rows: MessageQuerySet, query: str, limit: int) -> list[tuple[int, datetime]]:
    """Keys and dates of the newest `limit` of `rows` that have all words of `query`, newest first.

    On PostgreSQL 4 queries at most, 2 where the newest messages have enough of them; on SQLite 1.
    """
    found = rows.containing(query)
    if connections[rows.db].vendor != "postgresql":
        return list(found.newest_first().values_list("pk", "created_at")[:limit])

    def read(step: MessageQuerySet) -> list[tuple[int, datetime]]:
        return list(_unwalked(step).values_list("pk", "created_at")[:limit])

    with _quick_bitmaps(rows.db):
        found, start = _bounded(found, None)
        return _stepwise(found, start, limit, read, lambda match: match[1])


def _bounded(
    messages: MessageQuerySet, scope: Resource | Thread | None
) -> tuple[MessageQuerySet, datetime | None]:
    """The messages of a scope, and the date from which on to ask first, None where all are asked at once."""
    using = messages.db
    if scope is None:
        return messages, _window(using).first()
    if scope._meta.model_name == "thread":
        return messages.in_scope(scope), None
    threads = tables.threads(using).filter(resource=scope.pk)
    own = tables.messages(using).filter(thread__resource=OuterRef("pk")).values("pk")
    owner = tables.resources(using).annotate(
        beyond=Subquery(own[WINDOW : WINDOW + 1]), start=Subquery(_window(using))
    )
    sizes = owner.filter(pk=scope.pk).values_list("beyond", "start")
    # An owner that was deleted a moment ago has none.
    beyond, start = next(iter(sizes), (None, None))
    return (_in_listed(messages, threads), None) if beyond is None else (in_hidden(messages, threads), start)


def _stepwise(
    rows: MessageQuerySet,
    start: datetime | None,
    limit: int,
    read: Callable[[MessageQuerySet], list[Found]],
    date_of: Callable[[Found], datetime],
) -> list[Found]:
    """What `read` finds, newest first, in the messages since `start`; where these have too few, in twice the
    time that would have enough if words were spread evenly; else in all. A word that some of 100 messages
    have is in too few of the newest, and in too many of all.

    Args:
        rows: all messages that match.
        start: where the newest begin; None = ask all at once.
        limit: how many are enough.
        read: answers the newest `limit` of some rows.
        date_of: the date of what it answers.
    """
    if start is not None:
        found = read(rows.filter(created_at__gte=start))
        if COMMON <= len(found) < limit:
            newest = date_of(found[0])
            # Dates that callers gave may lie at the ends of the calendar.
            with suppress(OverflowError):
                wider = newest - (newest - start) * (2 * limit / len(found))
                found = read(rows.filter(created_at__gte=wider))
        if len(found) == limit:
            return found
    return read(rows)


def within_owners(messages: MessageQuerySet, owners: Sequence[int]) -> MessageQuerySet:
    """The messages of these resources, by primary key, to be asked for words or for the newest ones. 1 query
    here, 2 where all of them have up to 20,000 messages together."""
    threads = tables.threads(messages.db).filter(IsOneOf("resource_id", owners))
    own = tables.messages(messages.db).filter(IsOneOf("thread__resource_id", owners)).order_by()
    is_large = bool(own.values_list("pk", flat=True)[WINDOW : WINDOW + 1])
    return in_hidden(messages, threads) if is_large else _in_listed(messages, threads)


def _in_listed(messages: MessageQuerySet, threads: ThreadQuerySet) -> MessageQuerySet:
    return messages.filter(IsOneOf("thread_id", list(threads.values_list("pk", flat=True))))


def in_hidden(messages: MessageQuerySet, threads: ThreadQuerySet) -> MessageQuerySet:
    """The messages of these threads, by a sum that the index over threads does not have: it would be read
    for all of them."""
    return messages.alias(hidden=F("thread_id") + 0).filter(hidden__in=threads.values("pk"))


def _window(using: str) -> QuerySet[Message, datetime]:
    """The date at which the newest 20,000 messages begin; nothing where there are fewer."""
    dates = tables.messages(using).newest_first().values_list("created_at", flat=True)
    return dates[WINDOW : WINDOW + 1]


def _unwalked(rows: MessageQuerySet) -> MessageQuerySet:
    """Newest first, by an expression that no index has."""
    moment = ExpressionWrapper(F("created_at") + Value(timedelta(0)), output_field=DateTimeField())
    return rows.order_by(moment.desc(), "-pk")


def _newest(rows: MessageQuerySet, limit: int) -> list[Message]:
    keys = _unwalked(rows).values("pk")[:limit]
    every = tables.messages(rows.db).filter(pk__in=keys)
    return list(every.newest_first().select_related("thread__resource"))


@contextmanager
def _quick_bitmaps(using: str) -> Iterator[None]:
    """A block that only reads, with enough memory for exact bitmaps; nothing is compiled in it, which would
    take longer than the search. Rolling back takes the settings away again, inside a transaction of the
    caller too."""
    with transaction.atomic(using=using):
        with connections[using].cursor() as cursor:
            cursor.execute(f"SET LOCAL work_mem = '{WORK_MEM}'; SET LOCAL jit = off")
        yield
        transaction.set_rollback(True, using=using)
