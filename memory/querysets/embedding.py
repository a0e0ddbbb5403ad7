"""Similarity search."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from django.db import connections, models
from django.db.models import ExpressionWrapper, F, Max

from memory.db.expressions import CosineSimilarity
from memory.db.fields import FLOAT32, Vector, is_zero
from memory.querysets.conditions import matching

if TYPE_CHECKING:
    from memory.recall.filters import MessageFilter
    from memory.schema import Embedding, EmbeddingSpace, Resource, Thread  # noqa: F401 - named by the base class

# Vectors compared at a time outside the database: bounds memory, whatever the number of candidates.
BATCH = 8_192


class Hit(NamedTuple):
    """A message the search found: its id and its similarity, 1 - cosine distance, to 6 decimals."""

    uid: str
    similarity: float


class EmbeddingQuerySet(models.QuerySet["Embedding"]):
    """A queryset of embeddings."""

    def in_space(self, space: EmbeddingSpace) -> EmbeddingQuerySet:
        return self.filter(space=space.pk)

    def in_scope(self, scope: Resource | Thread) -> EmbeddingQuerySet:
        """Those of one thread, or of all threads of one resource."""
        return self.filter(**{scope._meta.model_name or "": scope})

    def of_messages_matching(self, message_filter: MessageFilter) -> EmbeddingQuerySet:
        return self.filter(matching(message_filter, "message__"))

    def nearest(self, vectors: Sequence[Vector], *, top_k: int, threshold: float | None) -> list[Hit]:
        """The messages most similar to any of `vectors`, best first, the newest first among equals.

        Exact: every candidate is compared. One query.

        Args:
            vectors: what is searched, one vector a chunk of the search string.
            top_k: most distinct messages; one in many chunks counts once, by its best chunk.
            threshold: least similarity, or None.
        """
        vectors = [vector for vector in vectors if not is_zero(vector)]
        if not vectors:
            return []
        candidates = self.filter(vector__isnull=False)
        if connections[self.db].vendor == "postgresql":
            return candidates._nearest_in_database(vectors, top_k, threshold)
        return candidates._nearest_in_numpy(vectors, top_k, threshold)

    def _nearest_in_database(
        self, vectors: Sequence[Vector], top_k: int, threshold: float | None
    ) -> list[Hit]:
        rows = (
            self.order_by()
            .values("message_id", uid=F("message__uid"), created_at=F("message__created_at"))
            .annotate(similarity=Max(CosineSimilarity("vector", vectors)))
            .order_by("-similarity", "-created_at", "-message_id")
        )
        if threshold is not None:
            rows = rows.filter(similarity__gte=threshold)
        return [Hit(row["uid"], row["similarity"]) for row in rows[:top_k]]

    def _nearest_in_numpy(self, vectors: Sequence[Vector], top_k: int, threshold: float | None) -> list[Hit]:
        queries = np.asarray(vectors, dtype=np.float64)
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        blob = ExpressionWrapper(F("vector"), output_field=models.BinaryField())
        # Newest first: Python's stable sort then settles ties.
        rows = (
            self.order_by("-message__created_at", "-message_id")
            .values_list("message__uid", blob)
            .iterator(chunk_size=BATCH)
        )
        best: dict[str, float] = {}
        while batch := list(islice(rows, BATCH)):
            matrix = np.frombuffer(b"".join(vector for _, vector in batch), dtype=FLOAT32)
            matrix = matrix.reshape(len(batch), -1).astype(np.float64)
            similarities = (matrix @ queries.T).max(axis=1) / np.linalg.norm(matrix, axis=1)
            for (uid, _), similarity in zip(batch, similarities.round(6).tolist(), strict=True):
                best[uid] = max(similarity, best.get(uid, similarity))
        hits = [Hit(uid, value) for uid, value in best.items() if threshold is None or value >= threshold]
        return sorted(hits, key=lambda hit: hit.similarity, reverse=True)[:top_k]
