"""`POST recall`: the whole of a recall (contract section 2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memory.api import answers, bodies
from memory.api.base import MemoryViewSet, memory_of
from memory.api.cursors import read_cursor, write_cursor
from memory.api.errors import AgentNotFound, ResourceNotFound
from memory.api.operations import operation
from memory.conf import memory_settings
from memory.exceptions import (
    EmbedderError,
    SemanticRecallNotConfigured,
    ThreadNotFound,
    ThreadNotOwned,
)
from memory.models import Message
from memory.recall import RecallRequest
from memory.validation import Check

if TYPE_CHECKING:
    from memory.api.operations import Values


class RecallViewSet(MemoryViewSet):
    throttle_scope = "recall"

    @operation(
        body=bodies.RecallBody,
        answer=answers.RecallShape,
        raises=(
            AgentNotFound,
            ResourceNotFound,
            ThreadNotFound,
            ThreadNotOwned,
            SemanticRecallNotConfigured,
            EmbedderError,
        ),
    )
    def create(self, body: Values) -> Values:
        """Recall: a page of history, named messages with their context, and a search by meaning."""
        with_total, cursor = body.pop("include_total"), body.pop("cursor", None)
        layers = memory_of(body.pop("agent_id", None)).layers()
        wanted = RecallRequest.read(
            layers=[*layers, ("thread_config", body.pop("thread_config", None))],
            **body,
            check=Check(wire=True),
            max_unpaged=memory_settings.HTTP_MAX_UNPAGED,
        )
        if cursor is not None:
            # What is recalled beside the history came with the first page.
            wanted = replace(wanted, keyset=read_cursor(cursor, wanted), search=None, include=())
        result = Message.objects.answer(wanted, owners=self.access.owners)
        return {
            "messages": result.messages,
            "total": result.total if with_total else None,
            "page": result.page if cursor is None else None,
            "per_page": result.per_page,
            "has_more": result.has_more,
            "usage": result.usage,
            "pending_embeddings": result.pending_embeddings if with_total else None,
            "next_cursor": write_cursor(result.behind, wanted),
            "prev_cursor": write_cursor(result.before, wanted, backwards=True),
        }
