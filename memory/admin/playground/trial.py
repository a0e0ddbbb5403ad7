"""One try: what a search finds, and the prompt that an agent's turn makes of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import router

from memory import Memory
from memory.admin.playground.statements import Statement, plan_of_search, recorded
from memory.ids import uuid7
from memory.managers.embedding import embed_text, usable_embedder
from memory.models import Message
from memory.recall import SemanticRecallConfig

if TYPE_CHECKING:
    from memory.recall import RecallResult
    from memory.schema import Message as Row


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with its neighbours, in the order in which they were said.

    Attributes:
        place: where the prompt has it: "remembered", "history", or "" for nowhere.
    """

    message: Row
    similarity: float
    window: Sequence[Row]
    place: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a try has shown.

    Attributes:
        search: how it was searched.
        is_searched_by_agent: whether the agent searches at all; if not, the prompt has no hit.
        found: hits, the most similar first.
        history: ids of stored messages that the prompt has as its history.
        prompt: what the model would be sent, in the form of the OpenAI API.
        pending: messages in the scope that are not embedded yet.
        embedding_ms, search_ms, prompt_ms: how long it took.
        statements: of the search.
    """

    search: SemanticRecallConfig
    is_searched_by_agent: bool
    found: Sequence[Found]
    history: Sequence[Row]
    prompt: Sequence[dict[str, Any]]
    pending: int
    tokens: int | None
    embedding_ms: float
    search_ms: float
    prompt_ms: float
    statements: Sequence[Statement]
    plan: str


class Trial:
    """A query in a conversation, or in a new one of its owner.

    Args:
        query: what the user says.
        agent: whose configuration counts.
        resource_id: the owner.
        thread_id: the conversation; None = a new one, in which only other threads can be found.
        options: of semantic recall, over those of the agent.
        filter: on the hits. Agents search without one.

    Raises:
        ImproperlyConfigured: the agent is configured wrongly.
        RecallError: a wrong option.
    """

    def __init__(
        self,
        query: str,
        *,
        agent: str,
        resource_id: str,
        thread_id: str | None,
        options: dict[str, Any],
        filter: dict[str, Any],
    ) -> None:
        self.query = query
        self.memory = Memory(agent)
        self.resource_id = resource_id
        self.thread_id = thread_id or uuid7()
        self.filter = filter
        # What is not given stays as the agent has it, off included.
        self.thread_config = {"semantic_recall": self._completed(options)} if options else {}
        configured = self.memory.config(self.thread_config).semantic_recall
        self.is_searched_by_agent = configured is not None
        self.search = configured or SemanticRecallConfig()
        self.using = router.db_for_read(Message)
        self.embedding_ms = 0.0

    def _completed(self, options: dict[str, Any]) -> dict[str, Any]:
        """Options in which a window is whole: of a half alone, the other would not be the agent's."""
        if "message_range" not in options:
            return options
        own = self.memory.config().semantic_recall or SemanticRecallConfig()
        window = {"before": own.before, "after": own.after, **options["message_range"]}
        return {**options, "message_range": window}

    def embed(self) -> None:
        """Let the embedder read the query, so that the search finds its vectors ready.

        Raises:
            SemanticRecallNotConfigured, EmbedderError: it cannot.
        """
        start = time.perf_counter()
        embed_text(usable_embedder(self.search.index_name), self.query, self.using)
        self.embedding_ms = _since(start)

    def run(self) -> Result:
        """Search, and make the prompt.

        Raises:
            SemanticRecallNotConfigured, EmbedderError, RecallError: of the search.
        """
        start = time.perf_counter()
        with recorded(self.using) as statements:
            recalled = self._recall()
        search_ms = _since(start)
        start = time.perf_counter()
        turn = self.memory.turn(
            thread_id=self.thread_id, resource_id=self.resource_id, thread_config=self.thread_config
        )
        # It is never left, which is what stores a turn. The option `read_only` would change the prompt: the
        # model is told then that it may not write its working memory.
        turn.__enter__()
        turn.user(self.query)
        prompt = turn.messages()
        prompt_ms = _since(start)
        remembered = {row.uid for row in turn.list.recalled}
        history = [message.id for message in turn.list.memory if message.id not in remembered]
        return Result(
            search=self.search,
            is_searched_by_agent=self.is_searched_by_agent,
            found=_found(recalled, self.search, remembered, set(history)),
            history=list(Message.objects.with_ids(history).select_related("thread").chronological()),
            prompt=prompt,
            pending=recalled.pending_embeddings,
            tokens=recalled.usage["tokens"] if recalled.usage else None,
            embedding_ms=self.embedding_ms,
            search_ms=search_ms,
            prompt_ms=prompt_ms,
            statements=statements,
            plan=plan_of_search(statements, self.using),
        )

    def _recall(self) -> RecallResult:
        searched = {
            "top_k": self.search.top_k,
            "message_range": {"before": self.search.before, "after": self.search.after},
            "scope": self.search.scope,
            "threshold": self.search.threshold,
            "index_name": self.search.index_name,
        }
        return Message.objects.recall(
            self.thread_id,
            resource_id=self.resource_id,
            vector_search_string=self.query,
            per_page=0,
            filter=self.filter,
            thread_config={"semantic_recall": searched},
        )


def _found(
    recalled: RecallResult, search: SemanticRecallConfig, remembered: set[str], history: set[str]
) -> list[Found]:
    """Hits with their neighbours: of all messages that came, those nearest to each in its thread."""
    threads: dict[int, list[Row]] = {}
    for message in recalled.chronological():
        threads.setdefault(message.thread_id, []).append(message)
    found = []
    for messages in threads.values():
        for place, message in enumerate(messages):
            if message.recall.similarity is None:
                continue
            window = messages[max(0, place - search.before) : place + search.after + 1]
            where = "remembered" if message.uid in remembered else "history" if message.uid in history else ""
            found.append(Found(message, message.recall.similarity, window, where))
    return sorted(found, key=lambda hit: -hit.similarity)


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1_000
