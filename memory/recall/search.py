"""What a search is asked and what it answers (contract sections 6 and 7, `search`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memory.recall.config import Layer, MemoryConfig, Scope
from memory.validation import Check

if TYPE_CHECKING:
    from memory.schema import Message

SearchType = Literal["semantic", "text"]

MAX_LIMIT = 1_000
DEFAULT_LIMIT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What :meth:`MessageManager.search` is asked.

    Attributes:
        query: what is searched, not blank.
        resource_uid: whose messages.
        thread_uid: the thread, where one was named.
        limit: most results.
        config: the agent's configuration with the call's `thread_config` merged over it.
    """

    query: str
    resource_uid: str
    thread_uid: str | None
    limit: int
    config: MemoryConfig

    @classmethod
    def read(
        cls, *, query: Any, resource_id: Any, thread_id: Any, limit: Any, layers: Iterable[Layer] = ()
    ) -> SearchRequest:
        """Validate all parameters; `layers` are those of the configuration.

        Raises:
            RecallError: with one issue for each thing that is wrong.
        """
        check = Check()
        config = MemoryConfig.merge(check, layers)
        text = check.text(query, "query")
        if text is not None and not text.strip():
            check.fail("query", "must not be blank")
        resource_uid = check.identifier(resource_id, "resource_id")
        thread_uid = None if thread_id is None else check.identifier(thread_id, "thread_id")
        most = check.integer(limit, "limit", minimum=1, maximum=MAX_LIMIT)
        check.finish()
        return cls(
            query=text or "",
            resource_uid=resource_uid or "",
            thread_uid=thread_uid,
            limit=most or DEFAULT_LIMIT,
            config=config,
        )

    @property
    def type(self) -> SearchType:
        """By meaning where the agent has semantic recall on, else by words."""
        return "semantic" if self.config.semantic_recall else "text"

    @property
    def scope(self) -> Scope:
        """Where it looks: what semantic recall is configured to; for words, the thread if one is named."""
        if self.config.semantic_recall:
            return self.config.semantic_recall.scope
        return "resource" if self.thread_uid is None else "thread"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One message that was found.

    Attributes:
        message: with its thread and resource loaded.
        thread_title: of its thread; the thread's id where that has none.
        snippet: about 160 characters around the first word that matches.
        context_before, context_after: its neighbours, oldest first; only in a search by meaning.
        similarity: 1 - cosine distance, of a search by meaning.
    """

    message: Message
    thread_title: str
    snippet: str
    context_before: tuple[Message, ...] = ()
    context_after: tuple[Message, ...] = ()
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What was found, newest first; `count` is the number of results, not of all that would match."""

    results: list[SearchHit]
    count: int
    query: str
    search_scope: Scope
    search_type: SearchType

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)
