"""`GET search`: by meaning, or by words where the agent has semantic recall off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memory.api import answers, parameters
from memory.api.base import MemoryViewSet, memory_of
from memory.api.errors import AgentNotFound, ResourceNotFound
from memory.api.operations import operation
from memory.exceptions import EmbedderError, ThreadNotFound, ThreadNotOwned
from memory.recall import SearchResult

if TYPE_CHECKING:
    from memory.api.operations import Values
    from memory.recall import SearchHit


class SearchViewSet(MemoryViewSet):
    throttle_scope = "search"
    renamed = {"query": "searchQuery", "options": "memoryConfig"}

    @operation(
        query=parameters.SearchQuery,
        answer=answers.SearchShape,
        raises=(AgentNotFound, ResourceNotFound, ThreadNotOwned, EmbedderError),
    )
    def list(self, query: Values) -> SearchResult:
        """Search the messages of a resource, or of one thread of it."""
        memory = memory_of(query.get("agent_id"), query.get("memory_config"))
        try:
            result = memory.search(
                query["search_query"],
                resource_id=self.access.readable(query["resource_id"]),
                thread_id=self.access.readable_thread(query.get("thread_id")),
                limit=query["limit"],
            )
        except ThreadNotFound:
            # On this route an unknown thread is an empty one.
            result = SearchResult(
                results=[],
                count=0,
                query=query["search_query"],
                search_scope="thread",
                search_type="semantic" if memory.config().semantic_recall else "text",
            )
        return on_the_wire(result, query["limit"])


def on_the_wire(result: SearchResult, limit: int) -> SearchResult:
    """In one thread the neighbours of hits are results like these (`http.md`, section 2); elsewhere they
    stand around them."""
    if result.search_scope != "thread":
        return result
    found: dict[int, SearchHit] = {hit.message.pk: hit for hit in result.results}
    for hit in result.results:
        for neighbour in (*hit.context_before, *hit.context_after):
            found.setdefault(neighbour.pk, replace(hit, message=neighbour, similarity=None))
    newest_first = sorted(
        found.values(), key=lambda hit: (hit.message.created_at, hit.message.pk), reverse=True
    )
    results = [
        replace(hit, context_before=hit.context_before[:0], context_after=hit.context_after[:0])
        for hit in newest_first[:limit]
    ]
    return replace(result, results=results, count=len(results))
