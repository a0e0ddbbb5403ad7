"""Replacing an embedding space by an empty one of the configured embedder."""

from __future__ import annotations

from memory import schema
from memory.db.transactions import write_transaction
from memory.embedders import embedders
from memory.models import Embedding, EmbeddingJob, EmbeddingSpace


def replace_space(alias: str, using: str) -> schema.EmbeddingSpace:
    """Drop the vectors of an alias and start a space of the embedder that is configured now.

    Every message has to be embedded again: `enqueue_missing` writes the jobs.

    Raises:
        SemanticRecallNotConfigured: there is no such alias.
        ImproperlyConfigured: its embedder cannot be made.
    """
    embedder = embedders[alias]
    spaces = EmbeddingSpace.objects.using(using)
    with write_transaction(using, EmbeddingSpace._meta.db_table):
        former = spaces.filter(alias=alias, state=EmbeddingSpace.State.ACTIVE)
        EmbeddingJob.objects.using(using).filter(space__in=former).delete()
        Embedding.objects.using(using).filter(space__in=former).delete()
        former.update(state=EmbeddingSpace.State.RETIRED)
        return spaces.create(alias=alias, model=embedder.model, dimensions=embedder.dimensions)
