"""One recall: contract section 2, rules 2 to 8."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Exists, OuterRef

from memory.db.expressions import IsOneOf
from memory.exceptions import RecallError, ThreadNotFound, ThreadNotOwned
from memory.managers.embedding import embed_text, searched_space
from memory.querysets import Hit, Target, tables
from memory.recall import (
    Keyset,
    MessageFilter,
    Position,
    RecallRequest,
    RecallResult,
    SemanticRecallConfig,
)
from memory.schema.message import MessageRecall, Source

if TYPE_CHECKING:
    from memory.querysets import MessageQuerySet
    from memory.schema import EmbeddingSpace, Message, Resource, Thread


# Most rows read beyond a page to learn whether there are more.
LOOK_AHEAD = 100


class Recall:
    """Carries out one validated request on one database.

    Queries: 1 for the thread; with a search 2 more (the space, the hits); 1 for includes, hits and all
    their neighbours; 1 for the page. Their number does not depend on the length of the thread or the
    number of hits. A first turn, whose thread does not exist, looks up the owner instead: 1 more.
    """

    def __init__(self, request: RecallRequest, using: str, *, owners: Collection[str] | None = None) -> None:
        self.request = request
        self.owners = owners
        self.using = using
        self.thread: Thread | None = None
        self.resource: Resource | None = None
        self.space: EmbeddingSpace | None = None
        # Message id -> the threads in which it was named, None for any.
        self.included: dict[str, set[str | None]] = {}
        for item in request.include:
            self.included.setdefault(item.uid, set()).add(item.thread_uid)
        self.hits: dict[str, float] = {}
        self.usage: dict[str, int] | None = None
        self._walked: tuple[Position | None, Position | None] = (None, None)

    def run(self) -> RecallResult:
        """The result.

        Raises:
            ThreadNotFound, ThreadNotOwned: by rule 2.
            SemanticRecallNotConfigured, EmbedderError: by rule 6.
        """
        self._authorize()
        self._search()
        near = self._near()
        page, has_more = self._page(near)
        messages = {message.pk: message for message in (*near, *page)}
        on_page = {message.pk for message in page}
        before, behind = self._ends(page, has_more)
        for message in messages.values():
            message.recall = self._reason(message, message.pk in on_page)
        return RecallResult(
            messages=sorted(
                messages.values(),
                key=lambda message: (message.created_at, message.pk),
                reverse=self.request.descending,
            ),
            page=self.request.page,
            per_page=self.request.per_page,
            has_more=has_more,
            usage=self.usage,
            descending=self.request.descending,
            before=before,
            behind=behind,
            count_total=self._count_total,
            count_pending=self._count_pending,
        )

    def _authorize(self) -> None:
        """Rule 2: find the thread and its owner before any early exit."""
        request = self.request
        # No first(): it would sort what is one row at most.
        threads = tables.threads(self.using).of_owners(self.owners).filter(uid=request.thread_uid)
        self.thread = next(iter(threads.select_related("resource")), None)
        if self.thread is not None:
            self.resource = self.thread.resource
            if request.resource_uid not in (None, self.resource.uid):
                raise ThreadNotOwned(request.thread_uid)
        elif request.resource_uid is not None or request.thread_required:
            if not self._is_first_turn():
                raise ThreadNotFound(request.thread_uid)
            if self.owners is None or request.resource_uid in self.owners:
                self.resource = tables.resources(self.using).filter(uid=request.resource_uid).first()

    def _is_first_turn(self) -> bool:
        """A search of the owner's other threads may name a thread that does not exist yet."""
        semantic = self.request.config.semantic_recall
        if self.request.resource_uid is None:
            return False
        return self.request.search is not None and semantic is not None and semantic.scope == "resource"

    @property
    def _scope(self) -> Resource | Thread | None:
        """Where the search looks."""
        semantic = self.request.config.semantic_recall
        return self.thread if semantic and semantic.scope == "thread" else self.resource

    def _search(self) -> None:
        """Rule 6: fill `hits` with message id -> similarity."""
        semantic, search = self.request.config.semantic_recall, self.request.search
        if search is None or semantic is None:
            return
        if self._scope is None:
            return
        self.space, self.hits, self.usage = similar_messages(
            search, semantic, self._scope, self.request.filter, self.using
        )

    def _near(self) -> list[Message]:
        """Includes and hits with their neighbours (rules 5 and 6)."""
        semantic = self.request.config.semantic_recall
        targets = [
            Target(item.uid, item.before, item.after, item.thread_uid) for item in self.request.include
        ]
        if semantic is not None:
            targets += [Target(uid, semantic.before, semantic.after) for uid in self.hits]
        if not targets or self.resource is None:
            return []
        near = list(tables.messages(self.using).with_context(self.resource, targets).select_related("thread"))
        for message in near:
            message.thread.resource = self.resource
        return near

    def _page(self, near: list[Message]) -> tuple[list[Message], bool]:
        """Rule 3, and `has_more`.

        `has_more` asks for a matching message beyond the page that is not among the near ones. As many
        rows more as there are near ones in this thread, and one, settle that without a second query or a
        count; where that would be many, a query of its own does.
        """
        matching, per_page = self._matching(), self.request.per_page
        if matching is None:
            return [], False
        ordered = _ordered(matching, self.request.descending)
        if per_page is False:
            page, has_more = self._all(ordered), False
        elif self.request.keyset is not None:
            page, has_more = self._walk(matching, self.request.keyset, per_page)
        else:
            known = [message.pk for message in near if message.thread_id == self._thread_pk]
            offset = self.request.page * per_page
            end = offset + per_page
            rows = list(ordered[offset : end + min(len(known), LOOK_AHEAD) + 1])
            page, beyond = rows[:per_page], rows[per_page:]
            has_more = any(row.pk not in known for row in beyond)
            if not has_more and len(beyond) > LOOK_AHEAD:
                rest = matching.exclude(IsOneOf("pk", [*known, *(row.pk for row in page)]))
                has_more = rest.beyond(page[-1], descending=self.request.descending).exists()
        for message in page:
            if self.thread is not None:
                message.thread = self.thread
        return page, has_more

    def _all(self, ordered: MessageQuerySet) -> list[Message]:
        """Every message, within the limit of the request."""
        limit = self.request.max_unpaged
        if limit is None:
            return list(ordered)
        rows = list(ordered[: limit + 1])
        if len(rows) > limit:
            raise RecallError.at(
                "per_page", f"must not be false: the thread has more than {limit:,} messages that match"
            )
        return rows

    def _walk(self, matching: MessageQuerySet, keyset: Keyset, per_page: int) -> tuple[list[Message], bool]:
        """The page at a keyset, and whether there is one behind it.

        2 queries: the page with one row more, which lies beyond it in the direction of the walk, and the
        first row beyond its other end.
        """
        descending = self.request.descending
        onward = descending != keyset.backwards
        rows = list(_ordered(matching.beyond(keyset.position, descending=onward), onward)[: per_page + 1])
        page, further = rows[:per_page], rows[per_page:]
        # An empty page lies between the position and its neighbour, which may have been the last row seen.
        edge = _position(page[0]) if page else _beside(keyset.position, descending=onward)
        back = list(_ordered(matching.beyond(edge, descending=not onward), not onward)[:1])
        if keyset.backwards:
            page.reverse()
        first, last = (_position(page[0]), _position(page[-1])) if page else (edge, edge)
        before, behind = (further, back) if keyset.backwards else (back, further)
        self._walked = first if before else None, last if behind else None
        return page, bool(behind)

    def _ends(self, page: list[Message], has_more: bool) -> tuple[Position | None, Position | None]:
        """Where the page before this one ends, and where the one behind it begins."""
        if self.request.keyset is not None:
            return self._walked
        if not page or self.request.per_page is False:
            return None, None
        before = _position(page[0]) if self.request.page else None
        return before, _position(page[-1]) if has_more else None

    @property
    def _thread_pk(self) -> int | None:
        return self.thread.pk if self.thread else None

    def _matching(self) -> MessageQuerySet | None:
        """The history that is read, before paging; None where none is."""
        if self.thread is None or (self.request.per_page is not False and self.request.per_page == 0):
            return None
        return tables.messages(self.using).in_thread(self.thread).matching(self.request.filter)

    def _reason(self, message: Message, on_page: bool) -> MessageRecall:
        sources: set[Source] = {"history"} if on_page else set()
        if message.uid in self.included and self.included[message.uid] & {None, message.thread.uid}:
            sources.add("include")
        similarity = self.hits.get(message.uid)
        if similarity is not None:
            sources.add("semantic")
        return MessageRecall(frozenset(sources or {"context"}), similarity)

    def _count_total(self) -> int:
        matching = self._matching()
        return 0 if matching is None else matching.count()

    def _count_pending(self) -> int:
        """Messages in the searched scope that have a text and no vector in the searched space."""
        if self.request.search is None or self._scope is None:
            return 0
        messages = tables.messages(self.using).exclude(text="").in_scope(self._scope)
        vectors = tables.embeddings(self.using).filter(
            message=OuterRef("pk"), space=self.space.pk if self.space else None
        )
        return messages.filter(~Exists(vectors)).count()


def _ordered(messages: MessageQuerySet, descending: bool) -> MessageQuerySet:
    return messages.newest_first() if descending else messages.chronological()


def _position(message: Message) -> Position:
    return Position(message.created_at, message.pk)


def _beside(position: Position, *, descending: bool) -> Position:
    """The next place in the order: a walk back from there meets what stands at `position`."""
    return position._replace(pk=position.pk + (-1 if descending else 1))


class Similar(NamedTuple):
    """What a search by meaning found: the space, message id -> similarity, tokens of the query."""

    space: EmbeddingSpace | None
    hits: dict[str, float]
    usage: dict[str, int] | None


def similar_messages(
    search: str,
    semantic: SemanticRecallConfig,
    scope: Resource | Thread,
    message_filter: MessageFilter,
    using: str,
) -> Similar:
    """Rule 6: the messages of `scope` that are most similar to a search string. 2 queries.

    Raises:
        SemanticRecallNotConfigured, EmbedderError.
    """
    space, embedder = searched_space(semantic.index_name, using)
    if space is None:
        return Similar(space, {}, None)
    embedded = embed_text(embedder, search, using)
    hits: Iterable[Hit] = (
        tables.embeddings(using)
        .in_space(space)
        .in_scope(scope)
        .of_messages_matching(message_filter)
        .nearest(embedded.vectors, top_k=semantic.top_k, threshold=semantic.threshold)
    )
    return Similar(space, dict(hits), None if embedded.tokens is None else {"tokens": embedded.tokens})
