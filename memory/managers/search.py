"""A stand-in for the search that is being built elsewhere: same interface, no word index, no context."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memory.exceptions import ThreadNotOwned
from memory.ids import uuid7
from memory.managers.recall import Recall
from memory.querysets import tables
from memory.recall import MemoryConfig, RecallRequest, SearchHit, SearchResult

if TYPE_CHECKING:
    from memory.schema import Message


def search(
    query: str,
    *,
    resource_id: str,
    thread_id: str | None = None,
    limit: int = 20,
    config: MemoryConfig,
    using: str,
) -> SearchResult:
    """Messages of a resource, or of one of its threads, newest first."""
    thread = None if thread_id is None else tables.threads(using).filter(uid=thread_id).first()
    if thread is not None and thread.resource.uid != resource_id:
        raise ThreadNotOwned(thread.uid)
    semantic = config.semantic_recall
    scope = "resource" if semantic is None else semantic.scope
    found: list[Message] = []
    if semantic is None:
        rows = tables.messages(using).filter(thread__resource__uid=resource_id, text__icontains=query)
        found = list(rows.select_related("thread__resource").newest_first()[:limit])
    else:
        if scope == "resource":
            config = replace(config, semantic_recall=replace(semantic, before=0, after=0))
        request = RecallRequest.read(
            thread_id=uuid7() if scope == "resource" else thread_id or uuid7(),
            resource_id=resource_id if scope == "resource" else None,
            vector_search_string=query,
            per_page=0,
        )
        request = replace(request, config=config, search=query)
        found = Recall(request, using).run().messages[:limit]
    hits = [
        SearchHit(
            message=message,
            thread_title=message.thread.title or message.thread.uid,
            snippet=message.text[:200],
            context_before=[],
            context_after=[],
            similarity=None,
        )
        for message in found
    ]
    return SearchResult(
        results=hits,
        count=len(hits),
        query=query,
        search_scope=scope,
        search_type="text" if semantic is None else "semantic",
    )
