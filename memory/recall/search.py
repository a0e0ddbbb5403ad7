"""What a search answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from memory.schema import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One message that was found, with what stands around it."""

    message: Message
    thread_title: str
    snippet: str
    context_before: list[Message]
    context_after: list[Message]
    similarity: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The answer of a search."""

    results: list[SearchHit]
    count: int
    query: str
    search_scope: Literal["resource", "thread"]
    search_type: Literal["semantic", "text"]
