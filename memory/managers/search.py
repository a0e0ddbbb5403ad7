"""One search, by words or by meaning (contract sections 6 and 7)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db.models import Subquery

from memory.content.snippet import snippet
from memory.exceptions import ThreadNotFound, ThreadNotOwned
from memory.managers.recall import similar_messages
from memory.querysets import Target, tables
from memory.querysets.newest import newest_containing
from memory.recall import MessageFilter, SearchHit, SearchRequest, SearchResult, SemanticRecallConfig
from memory.schema import Resource
from memory.schema.message import MessageRecall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memory.schema import Message, Thread


class Search:
    """Carries out one validated search on one database.

    Queries: 1 for the owner and the thread; then by words 3 at most, by meaning 3 (the space, the hits, all
    of them with their neighbours).
    """

    def __init__(self, request: SearchRequest, using: str) -> None:
        self.request = request
        self.using = using

    def run(self) -> SearchResult:
        """The result; empty for an owner that does not exist.

        Raises:
            ThreadNotFound, ThreadNotOwned: by rule 2, of a thread that was named.
            SemanticRecallNotConfigured, EmbedderError: by rule 6.
        """
        request, semantic = self.request, self.request.config.semantic_recall
        place = self._place()
        found: list[SearchHit] = []
        if place is not None:
            found = self._by_words(place) if semantic is None else self._by_meaning(place, semantic)
        return SearchResult(
            results=found,
            count=len(found),
            query=request.query,
            search_scope=request.scope,
            search_type=request.type,
        )

    def _place(self) -> Resource | Thread | None:
        """Rule 2: where to look, which belongs to the owner; None where there is nothing yet."""
        request = self.request
        if request.scope == "resource":
            return self._resource()
        threads = tables.threads(self.using).select_related("resource")
        if request.thread_uid is None:
            # A search by meaning that keeps to one thread: the one that was in use last.
            newest = threads.filter(resource__uid=request.resource_uid).order_by("-updated_at", "-pk")
            return newest.first()
        thread = threads.filter(uid=request.thread_uid).first()
        if thread is None:
            raise ThreadNotFound(request.thread_uid)
        if thread.resource.uid != request.resource_uid:
            raise ThreadNotOwned(request.thread_uid)
        return thread

    def _resource(self) -> Resource | None:
        """The owner. A thread that is named beside it may be a new one, but none of another owner."""
        request = self.request
        owners = tables.resources(self.using).filter(uid=request.resource_uid)
        if request.thread_uid is None:
            return owners.first()
        named = tables.threads(self.using).filter(uid=request.thread_uid)
        owner = owners.annotate(owner_of_named=Subquery(named.values("resource"))).first()
        foreign = named.exists() if owner is None else owner.owner_of_named not in (None, owner.pk)
        if foreign:
            raise ThreadNotOwned(request.thread_uid)
        return owner

    def _by_words(self, place: Resource | Thread) -> list[SearchHit]:
        found = newest_containing(self.request.query, self.request.limit, scope=place, using=self.using)
        return [self._hit(message) for message in found]

    def _by_meaning(self, place: Resource | Thread, semantic: SemanticRecallConfig) -> list[SearchHit]:
        """The most similar messages, newest first."""
        request = self.request
        most = replace(semantic, top_k=min(semantic.top_k, request.limit))
        similar = similar_messages(request.query, most, place, MessageFilter(), self.using).hits
        if not similar:
            return []
        targets = [Target(uid, semantic.before, semantic.after) for uid in similar]
        owner = place if isinstance(place, Resource) else place.resource
        near = tables.messages(self.using).with_context(owner, targets).chronological()
        near = near.select_related("thread__resource")
        found = [
            self._hit(message, before, after, similar[message.uid])
            for message, before, after in neighbours(near, similar, semantic)
        ]
        return sorted(found, key=lambda hit: (hit.message.created_at, hit.message.pk), reverse=True)

    def _hit(
        self,
        message: Message,
        before: Iterable[Message] = (),
        after: Iterable[Message] = (),
        similarity: float | None = None,
    ) -> SearchHit:
        message.recall = MessageRecall(frozenset({"semantic"} if similarity is not None else ()), similarity)
        return SearchHit(
            message=message,
            thread_title=message.thread.title or message.thread.uid,
            snippet=snippet(message.text, self.request.query),
            context_before=tuple(before),
            context_after=tuple(after),
            similarity=similarity,
        )


def neighbours(
    near: Iterable[Message], similar: Mapping[str, float], semantic: SemanticRecallConfig
) -> Iterable[tuple[Message, list[Message], list[Message]]]:
    """Each hit with its neighbours on both sides, from hits and neighbours of all in one list."""
    threads: dict[int, list[Message]] = defaultdict(list)
    for message in near:
        message.recall = MessageRecall(frozenset({"context"}))
        threads[message.thread_id].append(message)
    for messages in threads.values():
        for at, message in enumerate(messages):
            # All neighbours of a hit are in the list, so that nothing stands between them.
            if message.uid in similar:
                before = messages[max(0, at - semantic.before) : at]
                yield message, before, messages[at + 1 : at + 1 + semantic.after]
