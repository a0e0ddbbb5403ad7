"""Similarity search."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from django.db import connections, models
from django.db.models import ExpressionWrapper, F, Min
from django.db.models.functions import Cast

from memory.db.expressions import CosineDistance, Similarity
from memory.db.fields import FLOAT32, Vector, is_zero, unit
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
        """Best distance of each message first; only the few that are left are joined with their dates."""
        best = (
            self.order_by()
            .values("message_id")
            .annotate(similarity=Similarity(Min(CosineDistance("vector", vectors))))
        )
        if threshold is not None:
            best = best.filter(similarity__gte=threshold)
        sql, params = best.query.sql_with_params()
        connection = connections[self.db]
        messages = self.model._meta.get_field("message").related_model
        message = connection.ops.quote_name(messages._meta.db_table)
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT m.uid, near.similarity FROM (SELECT * FROM ({sql}) best "
                "ORDER BY best.similarity DESC FETCH FIRST %s ROWS WITH TIES) near "
                f"JOIN {message} m ON m.id = near.message_id "
                "ORDER BY near.similarity DESC, m.created_at DESC, m.id DESC LIMIT %s",
                [*params, top_k, top_k],
            )
            return [Hit(uid, similarity) for uid, similarity in cursor.fetchall()]

    def _nearest_in_numpy(self, vectors: Sequence[Vector], top_k: int, threshold: float | None) -> list[Hit]:
        queries = np.stack([unit(vector) for vector in vectors])
        # Not sorted by the database, which would carry every vector through its sorter.
        rows = (
            self.order_by()
            .values_list(
                "message_id",
                "message__uid",
                Cast("message__created_at", models.TextField()),
                ExpressionWrapper(F("vector"), output_field=models.BinaryField()),
            )
            .iterator(chunk_size=BATCH)
        )
        best: dict[int, tuple[float, str, int, str]] = {}
        while batch := list(islice(rows, BATCH)):
            matrix = np.frombuffer(b"".join(vector for *_, vector in batch), dtype=FLOAT32)
            matrix = matrix.reshape(len(batch), -1)
            lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
            similarities = ((matrix @ queries.T).max(axis=1) / lengths).astype(np.float64).round(6)
            for (key, uid, date, _), similarity in zip(batch, similarities.tolist(), strict=True):
                if key not in best or similarity > best[key][0]:
                    best[key] = (similarity, date, key, uid)
        near = heapq.nlargest(
            top_k, (row for row in best.values() if threshold is None or row[0] >= threshold)
        )
        return [Hit(uid, similarity) for similarity, _, _, uid in near]
