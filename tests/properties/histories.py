"""Conversations full of equal timestamps, saved for real and ordered in plain Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

START = datetime(2026, 1, 31, 9, tzinfo=UTC)
# So few that most messages share theirs; microseconds apart, all within one shown millisecond.
MOMENTS = [START + timedelta(microseconds=step) for step in range(4)]
directions = st.sampled_from(["ASC", "DESC"])

_numbers = count()


def fresh(name: str) -> str:
    """An id no example has used: all examples of a test share its transaction."""
    return f"{name}-{next(_numbers)}"


@dataclass(frozen=True)
class Row:
    """One message, as far as order and filters see it."""

    uid: str
    thread: str
    created_at: datetime
    metadata: dict[str, Any] = field(default_factory=dict)

    def incoming(self) -> dict[str, Any]:
        """The message as it is saved."""
        content = {
            "format": 2,
            "parts": [{"type": "text", "text": self.uid}],
            "metadata": self.metadata,
        }
        return {
            "id": self.uid,
            "thread_id": self.thread,
            "role": "user",
            "content": content,
            "created_at": self.created_at,
        }


def save(rows: Sequence[Row], batch: int) -> None:
    """Save rows in their order, some at a time."""
    for first in range(0, len(rows), batch):
        Memory().save_messages([row.incoming() for row in rows[first : first + batch]])


def chronological(rows: Iterable[Row]) -> list[Row]:
    """Rule 4: by date, equal dates in the order of saving, in which `rows` come."""
    return sorted(rows, key=lambda row: row.created_at)


def in_order(rows: Iterable[Row], direction: str) -> list[Row]:
    """Rule 4: DESC is the exact reverse of ASC."""
    ascending = chronological(rows)
    return ascending if direction == "ASC" else ascending[::-1]


def window(thread: Sequence[Row], target: Row, before: int, after: int) -> list[Row]:
    """Rule 5: a target with its positional neighbours in its own thread, given in chronological order."""
    place = thread.index(target)
    return list(thread[max(0, place - before) : place + after + 1])
