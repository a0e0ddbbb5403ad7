"""What recalling, listing and cloning answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from asgiref.sync import sync_to_async

if TYPE_CHECKING:
    from memory.recall.keyset import Position
    from memory.schema import Message, Thread


@dataclass(kw_only=True)
class RecallResult:
    """The answer of a recall (contract section 2, rule 8).

    Attributes:
        messages: page, includes, hits and their neighbours, each once, in the requested order; each
            carries `recall`, a :class:`MessageRecall`.
        page, per_page: as requested; `per_page` is False where everything was asked for.
        has_more: a matching message beyond this page, in the requested direction, is not in `messages`.
        usage: `{"tokens": n}` of the query's embedding, None where nothing was embedded or counted.
        before, behind: where the page before this one ends and the one behind it begins, in the requested
            order; None where there is none, and where everything was asked for.
        total: messages of the thread that match the filter; counted by one query when first read.
        pending_embeddings: messages in the searched scope that are not embedded yet; likewise.
    """

    messages: list[Message]
    page: int
    per_page: int | Literal[False]
    has_more: bool
    usage: dict[str, int] | None = None
    descending: bool = True
    before: Position | None = None
    behind: Position | None = None
    count_total: Callable[[], int] = field(default=lambda: 0, repr=False)
    count_pending: Callable[[], int] = field(default=lambda: 0, repr=False)

    @cached_property
    def total(self) -> int:
        return self.count_total()

    @cached_property
    def pending_embeddings(self) -> int:
        return self.count_pending()

    async def atotal(self) -> int:
        """`total`, in async code."""
        return await sync_to_async(lambda: self.total)()

    async def apending_embeddings(self) -> int:
        """`pending_embeddings`, in async code."""
        return await sync_to_async(lambda: self.pending_embeddings)()

    def chronological(self) -> list[Message]:
        """The messages oldest first, as a prompt wants them."""
        return self.messages[::-1] if self.descending else list(self.messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadPage:
    """One page of threads; `total` counts all that match."""

    threads: list[Thread]
    total: int
    page: int
    per_page: int | Literal[False]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneResult:
    """A cloned thread, its messages oldest first, and source message id -> copy's id."""

    thread: Thread
    messages: list[Message]
    message_id_map: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemoryState:
    """The present text, None where there is none, and whether the thread that was named exists."""

    value: str | None
    thread_exists: bool
