"""Working off embedding jobs: read, call the embedder outside any transaction, store and delete in one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models import F

from memory import schema
from memory.content.text import text_hash
from memory.db.expressions import IsOneOf
from memory.db.transactions import run_write
from memory.embedders import embedders
from memory.exceptions import EmbedderError, SemanticRecallNotConfigured
from memory.managers.embedding import chunks_for, embed_chunks, fits, mismatch
from memory.managers.touching import lock_threads
from memory.models import Embedding, EmbeddingJob, EmbeddingSpace, Message

if TYPE_CHECKING:
    from memory.db.fields import Vector
    from memory.embedders import BaseEmbedder

logger = logging.getLogger("memory.embedding")

# Messages that are embedded and stored together.
BATCH = 256
# Refusals in one batch: a few bad texts among 256 are found with less.
MAX_FAILURES = 32


@dataclass
class Report:
    """What a pass has done: messages embedded, jobs left open by an error, and the errors' texts."""

    embedded: int = 0
    failed: int = 0
    errors: list[str] = field(default_factory=list)


@dataclass
class Work:
    """One message to embed in one space."""

    job: EmbeddingJob
    message: schema.Message
    text_hash: str
    vectors: Sequence[Vector] = ()


def embed_messages(
    using: str, messages: Collection[int] | None = None, *, advance: Callable[[int], object] | None = None
) -> Report:
    """Make one pass over open jobs.

    A job whose embedder fails stays open, with the error noted; it does not keep others from being done.

    Args:
        using: database alias.
        messages: primary keys of the messages whose jobs are meant; None = all.
        advance: called with the number of jobs that were just dealt with.
    """
    report = Report()
    _adopt(using)
    for space in EmbeddingSpace.objects.using(using).filter(state=EmbeddingSpace.State.ACTIVE):
        try:
            embedder = embedders[space.alias]
        except (ImproperlyConfigured, SemanticRecallNotConfigured) as error:
            _refuse(report, str(error))
            continue
        if problem := mismatch(space, embedder):
            _refuse(report, problem)
            continue
        if not fits(space, embedder):
            # Nothing is embedded in it yet.
            space.model, space.dimensions = embedder.model, embedder.dimensions
            space.save(using=using, update_fields=["model", "dimensions"])
        for batch in _batches(space, using, messages):
            _embed(batch, space, embedder, using, report)
            if advance is not None:
                advance(len(batch))
    return report


def open_jobs(using: str) -> int:
    """Number of jobs one pass would take up."""
    return EmbeddingJob.objects.using(using).filter(state=EmbeddingJob.State.OPEN).count()


def _adopt(using: str) -> None:
    """Give jobs of a retired space, written while it was being replaced, to its successor."""
    jobs = EmbeddingJob.objects.using(using).exclude(space__state=EmbeddingSpace.State.ACTIVE)
    strays = list(jobs.select_related("space")[:BATCH])
    if not strays:
        return
    active = EmbeddingSpace.objects.using(using).filter(state=EmbeddingSpace.State.ACTIVE)
    successors = {space.alias: space.pk for space in active}
    adopted = [
        EmbeddingJob(message_id=job.message_id, space_id=successors[job.space.alias])
        for job in strays
        if job.space.alias in successors
    ]
    with transaction.atomic(using=using):
        EmbeddingJob.objects.using(using).bulk_create(adopted, ignore_conflicts=True)
        EmbeddingJob.objects.using(using).filter(IsOneOf("pk", [job.pk for job in strays])).delete()


def _batches(
    space: schema.EmbeddingSpace, using: str, messages: Collection[int] | None
) -> Iterator[list[EmbeddingJob]]:
    """The open jobs of a space, a batch at a time, each once."""
    jobs = EmbeddingJob.objects.using(using).filter(space_id=space.pk, state=EmbeddingJob.State.OPEN)
    if messages is not None:
        jobs = jobs.filter(IsOneOf("message_id", list(messages)))
    jobs = jobs.select_related("message").order_by("pk")
    last = 0
    while batch := list(jobs.filter(pk__gt=last)[:BATCH]):
        yield batch
        if len(batch) < BATCH:
            return
        last = batch[-1].pk


def _embed(
    jobs: Sequence[EmbeddingJob],
    space: schema.EmbeddingSpace,
    embedder: BaseEmbedder,
    using: str,
    report: Report,
) -> None:
    works = [Work(job, job.message, text_hash(space.rule, job.message.text)) for job in jobs]
    known = _known_vectors(space, {work.text_hash for work in works}, using)
    for work in works:
        work.vectors = known.get(work.text_hash, ())
    fresh = [work for work in works if not work.vectors and work.message.text]
    for done, error in _call(fresh, embedder, using):
        if error is not None:
            _note(done, error, using, report)
    report.embedded += _store([work for work in works if work.vectors or not work.message.text], space, using)


def _known_vectors(
    space: schema.EmbeddingSpace, hashes: Collection[str], using: str
) -> dict[str, list[Vector]]:
    """Vectors that this space has for the same texts already: the same text costs no second call."""
    rows = (
        Embedding.objects.using(using)
        .filter(IsOneOf("text_hash", list(hashes)), space_id=space.pk)
        .order_by("text_hash", "message_id", "chunk")
    )
    known: dict[str, list[Vector]] = {}
    sources: dict[str, int] = {}
    for row in rows:
        if sources.setdefault(row.text_hash, row.message_id) == row.message_id:
            vector = row.vector if row.vector is not None else [0.0] * space.dimensions
            known.setdefault(row.text_hash, []).append(vector)
    return known


def _call(
    works: Sequence[Work], embedder: BaseEmbedder, using: str
) -> Iterator[tuple[Sequence[Work], EmbedderError | None]]:
    """Embed the texts together; what is refused is halved, so that one bad text fails alone.

    An embedder that refuses nearly everything is not asked text by text: after some failures the rest fails
    as it is.
    """
    waiting, failures = [works] if works else [], 0
    while waiting:
        part = waiting.pop()
        try:
            cut = [chunks_for(embedder, work.message.text) for work in part]
            result = embed_chunks(embedder, [chunk for chunks in cut for chunk in chunks], using)
        except EmbedderError as error:
            failures += 1
            if not error.refused_input or len(part) == 1 or failures > MAX_FAILURES:
                yield part, error
            else:
                middle = len(part) // 2
                waiting += [part[middle:], part[:middle]]
            continue
        vectors = iter(result.vectors)
        for work, chunks in zip(part, cut, strict=True):
            work.vectors = [next(vectors) for _ in chunks]
        yield part, None


def _store(works: Sequence[Work], space: schema.EmbeddingSpace, using: str) -> int:
    """Store vectors and delete their jobs, for messages whose text is still the embedded one.

    Returns:
        The number of messages that have their vectors now.
    """
    if not works:
        return 0
    by_message = {work.message.pk: work for work in works}

    def store() -> int:
        locked = lock_threads(using, keys={work.message.thread_id for work in works})
        owners = {thread.pk: thread.resource_id for thread in locked}
        rows = Message.objects.using(using).filter(IsOneOf("pk", list(by_message))).locked()
        # A message that was moved or edited meanwhile keeps its job.
        present = [
            row
            for row in rows
            if row.thread_id in owners and by_message[row.pk].text_hash == text_hash(space.rule, row.text)
        ]
        keys = [row.pk for row in present]
        Embedding.objects.using(using).filter(IsOneOf("message_id", keys), space_id=space.pk).delete()
        Embedding.objects.using(using).bulk_create(
            Embedding(
                message_id=row.pk,
                space_id=space.pk,
                thread_id=row.thread_id,
                resource_id=owners[row.thread_id],
                chunk=number,
                text_hash=by_message[row.pk].text_hash,
                vector=vector,
            )
            for row in present
            for number, vector in enumerate(by_message[row.pk].vectors)
        )
        EmbeddingJob.objects.using(using).filter(IsOneOf("message_id", keys), space_id=space.pk).delete()
        return len(present)

    return run_write(using, EmbeddingJob._meta.db_table, store)


def _note(works: Iterable[Work], error: EmbedderError, using: str, report: Report) -> None:
    """Leave the jobs open, with the error on them; the text of an error holds no content."""
    keys = [work.job.pk for work in works]
    EmbeddingJob.objects.using(using).filter(IsOneOf("pk", keys)).update(
        attempts=F("attempts") + 1, error=str(error)
    )
    report.failed += len(keys)
    _refuse(report, str(error))


def _refuse(report: Report, problem: str) -> None:
    if problem not in report.errors:
        report.errors.append(problem)
        logger.warning("Messages wait to be embedded: %s", problem)
