"""What must follow a change of messages, in the transaction that changes them.

Vectors of a former text go, the scope of the others is brought up to date, and a job is written for each
message whose present text has no vector yet.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Exists, F, OuterRef, Subquery
from django.dispatch import receiver

from memory import schema
from memory.content.text import text_hash
from memory.db.expressions import IsOneOf
from memory.embedding.dispatch import wake
from memory.managers.embedding import active_spaces
from memory.models import Embedding, EmbeddingJob, EmbeddingSpace, Message, Thread
from memory.signals import messages_stored, threads_transferred

logger = logging.getLogger("memory.embedding")


@receiver(messages_stored, dispatch_uid="memory.outbox.stored")
def messages_were_stored(
    sender: type[Message], messages: Sequence[schema.Message], using: str, created: bool, **kwargs: Any
) -> None:
    """Bulk writes of this app."""
    follow(messages, using, created=created)


def message_was_saved(
    sender: type[Message], instance: Message, created: bool, using: str, raw: bool = False, **kwargs: Any
) -> None:
    """`post_save` of a single message; fixtures (`raw`) bring their own vectors or `--missing` adds them."""
    if not raw:
        follow([instance], using, created=created)


def thread_was_saved(
    sender: type[Thread],
    instance: Thread,
    created: bool,
    using: str,
    raw: bool = False,
    update_fields: Collection[str] | None = None,
    **kwargs: Any,
) -> None:
    """`post_save` of a single thread: its resource may be another one now."""
    may_have_moved = update_fields is None or not {"resource", "resource_id"}.isdisjoint(update_fields)
    if may_have_moved and not created and not raw:
        Embedding.objects.using(using).filter(thread=instance).exclude(
            resource_id=instance.resource_id
        ).update(resource_id=instance.resource_id)


@receiver(threads_transferred, dispatch_uid="memory.outbox.transferred")
def threads_were_transferred(
    sender: type[Thread], threads: Collection[int], using: str, **kwargs: Any
) -> None:
    """Bulk updates of the resource of threads."""
    owner = Thread.objects.using(using).filter(pk=OuterRef("thread_id")).values("resource_id")
    Embedding.objects.using(using).filter(IsOneOf("thread_id", list(threads))).update(
        resource_id=Subquery(owner)
    )


def follow(messages: Sequence[schema.Message], using: str, *, created: bool = False) -> None:
    """Bring vectors and jobs in line with messages as they stand now, and wake the embedding after commit.

    Args:
        messages: the rows, with their threads.
        using: database alias; a transaction is open on it.
        created: the rows are new and have neither vectors nor jobs.

    Queries: 1 for the spaces, 1 for the jobs; for rows that are not new 1 for their vectors, and 1 each for
    stale ones, moved ones and jobs without a text.
    """
    try:
        spaces = active_spaces(using)
    except ImproperlyConfigured as error:
        # A save is never lost over the embedder; `embed_messages --missing` makes up for it.
        logger.error("Messages were saved without embedding jobs: %s", error)
        spaces = list(EmbeddingSpace.objects.using(using).filter(state=EmbeddingSpace.State.ACTIVE))
    current = set() if created else _drop_stale(messages, using)
    jobs = [
        EmbeddingJob(message_id=message.pk, space_id=space.pk)
        for message in messages
        if message.text
        for space in spaces
        if (message.pk, space.pk) not in current
    ]
    if jobs:
        EmbeddingJob.objects.using(using).bulk_create(jobs, ignore_conflicts=True)
        wake(using, [job.message_id for job in jobs])


def enqueue_missing(using: str) -> int:
    """Jobs for all messages that have a text and neither vector nor job; their number.

    Raises:
        ImproperlyConfigured: an embedder is configured wrongly.
    """
    enqueued = 0
    for space in active_spaces(using):
        in_space = {"message": OuterRef("pk"), "space": space}
        keys = (
            Message.objects.using(using)
            .exclude(text="")
            .filter(
                ~Exists(Embedding.objects.using(using).filter(**in_space)),
                ~Exists(EmbeddingJob.objects.using(using).filter(**in_space)),
            )
            .order_by("pk")
            .values_list("pk", flat=True)
        )
        while batch := list(keys[:2_000]):
            EmbeddingJob.objects.using(using).bulk_create(
                [EmbeddingJob(message_id=key, space_id=space.pk) for key in batch], ignore_conflicts=True
            )
            enqueued += len(batch)
    return enqueued


def _drop_stale(messages: Sequence[schema.Message], using: str) -> set[tuple[int, int]]:
    """Delete what is left of former texts, move what went along with its message.

    Returns:
        (message, space) pairs whose vectors are those of the present text.
    """
    by_key = {message.pk: message for message in messages}
    embeddings = Embedding.objects.using(using)
    rows = (
        embeddings.filter(IsOneOf("message_id", list(by_key)), chunk=0)
        .annotate(rule=F("space__rule"))
        .values_list("pk", "message_id", "space_id", "thread_id", "resource_id", "text_hash", "rule")
    )
    current: set[tuple[int, int]] = set()
    stale: list[int] = []
    moved: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for _, message_id, space_id, thread_id, resource_id, stored_hash, rule in rows:
        message = by_key[message_id]
        if stored_hash != text_hash(rule, message.text):
            stale.append(message_id)
            continue
        current.add((message_id, space_id))
        scope = (message.thread_id, message.thread.resource_id)
        if scope != (thread_id, resource_id):
            moved[scope].append(message_id)
    if stale:
        embeddings.filter(IsOneOf("message_id", stale)).delete()
    for (thread_id, resource_id), keys in moved.items():
        embeddings.filter(IsOneOf("message_id", keys)).update(thread_id=thread_id, resource_id=resource_id)
    blank = [message.pk for message in messages if not message.text]
    if blank:
        EmbeddingJob.objects.using(using).filter(IsOneOf("message_id", blank)).delete()
    return {pair for pair in current if pair[0] not in stale}
