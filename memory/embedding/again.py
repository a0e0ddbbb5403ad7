"""Embedding messages once more, and giving up nothing: what staff ask for when a search looks wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Q
from django.utils import timezone

from memory.db.expressions import IsOneOf
from memory.db.transactions import run_write
from memory.embedders import embedders
from memory.embedding.dispatch import wake
from memory.managers.deleting import delete_embeddings
from memory.managers.embedding import active_spaces
from memory.managers.touching import lock_threads
from memory.models import EmbeddingJob

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from memory.querysets import MessageQuerySet

# Rows that are written together.
BATCH = 2_000
# Messages that are embedded at once, after the commit; more of them wait for `embed_messages`.
AT_ONCE = 256


class Queued(NamedTuple):
    """Jobs that are open now, whether a site that embeds inline does them after the commit, and the primary
    keys of those that were there before."""

    jobs: int
    at_once: bool
    reopened: Sequence[int] = ()


def embed_again(messages: MessageQuerySet, using: str) -> Queued:
    """Drop the vectors of messages and write jobs for them; until those are done, no search finds them.

    A text that another message has vectors of takes those over, as always. 6 queries for each 2,000 messages
    and 2 more, in one transaction; more on SQLite, which takes fewer rows at once.

    Raises:
        ImproperlyConfigured: an embedder is configured wrongly.
    """
    # What the embedder said before is not what it is asked for.
    embedders.forget()
    with_text = messages.using(using).exclude(text="").order_by("pk")

    def queue() -> Queued:
        spaces = active_spaces(using)
        last, jobs, keys = 0, 0, list[int]()
        while batch := list(with_text.filter(pk__gt=last).values_list("pk", "thread_id")[:BATCH]):
            last = batch[-1][0]
            keys = [key for key, _ in batch]
            lock_threads(using, keys={thread for _, thread in batch})
            # Jobs too: those that failed before begin anew.
            delete_embeddings(keys, using)
            rows = [EmbeddingJob(message_id=key, space_id=space.pk) for key in keys for space in spaces]
            EmbeddingJob.objects.using(using).bulk_create(rows, ignore_conflicts=True)
            jobs += len(rows)
        at_once = 0 < jobs <= AT_ONCE
        if at_once:
            wake(using, keys)
        return Queued(jobs, at_once)

    return run_write(using, EmbeddingJob._meta.db_table, queue)


def retry(jobs: QuerySet[EmbeddingJob], using: str) -> Queued:
    """Open jobs again that failed, and let those that wait begin at once. 2 queries.

    A job that a worker holds is left to it: its embedder would be asked twice.
    """

    def reopen() -> Queued:
        is_idle = Q(leased_until=None) | Q(leased_until__lte=timezone.now())
        idle = jobs.using(using).filter(is_idle).select_for_update()
        rows = list(idle.values_list("pk", "message_id"))
        keys = [key for key, _ in rows]
        EmbeddingJob.objects.using(using).filter(IsOneOf("pk", keys)).update(
            state=EmbeddingJob.State.OPEN,
            attempts=0,
            error="",
            leased_until=None,
            available_at=timezone.now(),
        )
        at_once = 0 < len(rows) <= AT_ONCE
        if at_once:
            wake(using, [message for _, message in rows])
        return Queued(len(rows), at_once, keys)

    return run_write(using, EmbeddingJob._meta.db_table, reopen)
