"""The public bug reports as tests, by case number, each with the inputs around it.

"m1...mN" are messages one second apart in thread t of resource r, as the reports name them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import connections

from memory import Memory
from tests.embedders.hashing import HashEmbedder

if TYPE_CHECKING:
    from memory.models import Message

START = datetime(2024, 5, 1, 9, tzinfo=UTC)

# Searches by meaning, hits only: no history, no neighbours.
HITS_ONLY: dict[str, Any] = {"last_messages": 0, "semantic_recall": {"message_range": 0, "threshold": 0.5}}


def at(seconds: float) -> datetime:
    """The date of message number `seconds`."""
    return START + timedelta(seconds=seconds)


def message(uid: str, content: Any = None, *, thread: str = "t", role: str = "user", **more: Any) -> Any:
    """A message as callers write it; its text is its id unless `content` says something else."""
    return {
        "id": uid,
        "thread_id": thread,
        "role": role,
        "content": uid if content is None else content,
    } | more


def save(*messages: Any, resource: str = "r") -> list[Message]:
    """Store messages, with a thread for them where there is none."""
    return Memory().save_messages(messages, create_thread=True, resource_id=resource)


def numbered(count: int, *, thread: str = "t", resource: str = "r", prefix: str = "m") -> list[Message]:
    """Store m1...m`count`, one second apart."""
    return save(
        *(
            message(f"{prefix}{number}", thread=thread, created_at=at(number))
            for number in range(1, count + 1)
        ),
        resource=resource,
    )


def uids(messages: Iterable[Message]) -> list[str]:
    return [stored.uid for stored in messages]


def names(*numbers: int) -> list[str]:
    """`names(1, 2)` is m1, m2."""
    return [f"m{number}" for number in numbers]


def found(search: str, *, thread: str = "t", resource: str | None = "r", **semantic: Any) -> list[str]:
    """Ids of what a search finds, newest first, without history and neighbours."""
    options = HITS_ONLY["semantic_recall"] | semantic
    result = Memory().recall(
        thread,
        resource_id=resource,
        vector_search_string=search,
        thread_config={**HITS_ONLY, "semantic_recall": options},
    )
    return uids(result)


def words_apart(count: int, dimensions: int = 64) -> list[str]:
    """Words with vectors at right angles to each other, so that similarities can be told in advance."""
    candidates = [f"word{number}" for number in range(1_000)]
    vectors = HashEmbedder(dimensions=dimensions).embed(candidates).vectors
    kept: dict[str, Sequence[float]] = {}
    for word, vector in zip(candidates, vectors, strict=True):
        if not any(sum(a * b for a, b in zip(vector, other, strict=True)) for other in kept.values()):
            kept[word] = vector
    return list(kept)[:count]


def in_parallel(*calls: Callable[[], Any]) -> list[Any]:
    """What the calls return, or the exceptions they raise, when they start together in threads."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait(timeout=30)
        try:
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(calls)) as pool:
        futures = [pool.submit(run, call) for call in calls]
    return [future.exception() or future.result() for future in futures]
