"""What every write does to the threads it touches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from memory.db.expressions import IsOneOf
from memory.db.transactions import RowsMoved
from memory.exceptions import ThreadNotFound, ThreadNotOwned
from memory.querysets import tables
from memory.validation import after

if TYPE_CHECKING:
    from memory.querysets import MessageQuerySet
    from memory.schema import Message, Thread


def lock_threads(
    using: str,
    *,
    uids: Iterable[str] = (),
    keys: Iterable[int] = (),
    owners: Collection[str] | None = None,
) -> list[Thread]:
    """Threads by their ids or primary keys, with their resources, locked for this transaction. 2 queries.

    Args:
        owners: only threads of these resources; None = of all.
    """
    condition = Q(IsOneOf("uid", list(uids)))
    if keys := list(keys):
        condition |= Q(IsOneOf("pk", keys))
    threads = list(tables.threads(using).filter(condition).locked())
    resources = tables.resources(using).in_bulk({thread.resource_id for thread in threads})
    for thread in threads:
        thread.resource = resources[thread.resource_id]
    return [thread for thread in threads if owners is None or thread.resource.uid in owners]


def lock_thread(
    using: str, uid: str, *, resource_uid: str | None = None, owners: Collection[str] | None = None
) -> Thread:
    """One thread, locked.

    Args:
        resource_uid: the owner it must have, where one was named.
        owners: threads of other resources than these count as missing; None = of none.

    Raises:
        ThreadNotFound, ThreadNotOwned: by these rules.
    """
    threads = lock_threads(using, uids=[uid], owners=owners)
    if not threads:
        raise ThreadNotFound(uid)
    if resource_uid not in (None, threads[0].resource.uid):
        raise ThreadNotOwned(uid)
    return threads[0]


def attach_threads(rows: Iterable[Message], locked: Iterable[Thread]) -> None:
    """Give messages, locked now, their threads, which were locked before.

    Raises:
        RowsMoved: another transaction moved one meanwhile.
    """
    by_key = {thread.pk: thread for thread in locked}
    for row in rows:
        if row.thread_id not in by_key:
            raise RowsMoved
        row.thread = by_key[row.thread_id]


def lock_messages(messages: MessageQuerySet, mine: MessageQuerySet, using: str) -> list[Message]:
    """Messages with their threads, all locked for this transaction. 5 queries.

    Args:
        messages: those that are asked for.
        mine: those of them that may be touched; read once more under the locks: a thread may have gone to
            another owner, a message to another thread.
        using: database alias.

    Raises:
        RowsMoved: another transaction moved one meanwhile.
    """
    sources = list(mine.values_list("thread_id", flat=True).distinct().order_by())
    if not sources:
        return []
    locked = lock_threads(using, keys=sources)
    rows = list(messages.filter(IsOneOf("thread_id", sources)).locked())
    attach_threads(rows, locked)
    keys = set(mine.values_list("pk", flat=True))
    if keys - {row.pk for row in rows}:
        raise RowsMoved
    return [row for row in rows if row.pk in keys]


def touch(
    using: str, threads: Collection[Thread], *, gained: Sequence[Message] = (), lost: Collection[int] = ()
) -> None:
    """Let `updated_at` rise and `last_message_at` follow.

    Args:
        using: database alias.
        threads: locked threads that changed.
        gained: messages that are new in their threads, or may have become the newest.
        lost: primary keys of those that messages have left; their newest message is looked up.

    Queries: 1, and 1 more where messages have left.
    """
    if not threads:
        return
    now = timezone.now()
    by_key = {thread.pk: thread for thread in threads}
    for message in gained:
        thread = by_key[message.thread_id]
        if thread.last_message_at is None or thread.last_message_at < message.created_at:
            thread.last_message_at = message.created_at
    for thread in threads:
        thread.updated_at = after(now, thread.updated_at)
    rows: QuerySet[Thread] = QuerySet(tables.threads(using).model, using=using)
    rows.bulk_update(threads, ["updated_at", "last_message_at"], batch_size=500)
    if lost:
        newest = tables.messages(using).filter(thread=OuterRef("pk")).newest_first()
        rows.filter(IsOneOf("pk", list(lost))).update(
            last_message_at=Subquery(newest.values("created_at")[:1])
        )
