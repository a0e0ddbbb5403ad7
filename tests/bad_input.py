"""What tests of bad input share: a conversation that must not change, and how a refusal is checked."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.exceptions import RecallError
from memory.models import Embedding, EmbeddingJob, Message, Resource, Thread, WorkingMemory
from tests.queries import count_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _pytest.mark.structures import ParameterSet

TABLES = (Resource, Thread, Message, Embedding, EmbeddingJob, WorkingMemory)
HUGE = 10**5_000
NAN, INFINITY = float("nan"), float("inf")
NAIVE = datetime(2026, 1, 31, 9)
# Aware dates that have no equivalent in UTC.
TOO_EARLY = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
TOO_LATE = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12)))
BAD_IDS: tuple[Any, ...] = ("", " ", "\t\n", "a\x00", "\ud800", "x" * 513, 5, True, b"t", ["t"], {})
# No error may show this.
SECRET = "4711-secret-0815"


def seed() -> None:
    """The thread `t` of the owner `r` with the messages `m1` and `m2`, and the thread `x` of another."""
    for thread, owner, uids in (("t", "r", ("m1", "m2")), ("x", "s", ("foreign",))):
        Memory().save_messages(
            [{"id": uid, "thread_id": thread, "role": "user", "content": SECRET} for uid in uids],
            create_thread=True,
            resource_id=owner,
        )


def everything() -> list[Any]:
    """All rows of all tables."""
    return [list(table._default_manager.order_by("pk").values()) for table in TABLES]


@contextmanager
def refused(*fields: str, queries: int | None = 0) -> Iterator[pytest.ExceptionInfo[RecallError]]:
    """The block raises one `RecallError` whose issues name exactly these paths, and writes nothing.

    Args:
        fields: the paths of the parameters, in any order.
        queries: statements the block may send; None where some are needed to find out.
    """
    before = everything()
    with count_queries(exactly=queries), pytest.raises(RecallError) as caught:
        yield caught
    error = caught.value
    assert isinstance(error, ValueError)
    assert sorted(issue.field for issue in error.issues) == sorted(fields), str(error)[:500]
    for issue in error.issues:
        assert issue.message
        assert issue.field in str(error)
    assert SECRET not in str(error)
    assert everything() == before


def nested(depth: int, leaf: Any = 1) -> Any:
    """Objects within objects: `depth` levels."""
    document = leaf
    for _ in range(depth):
        document = {"a": document}
    return document


def shown(case: Any) -> str:
    """A short name of a parametrized case."""
    if isinstance(case, str) and len(case) <= 60:
        return ascii(case)[1:-1] or "empty"
    try:
        text = ascii(case)
    except (ValueError, RecursionError):
        return f"huge {type(case).__name__}"
    return text if len(text) <= 60 and " at 0x" not in text else f"some {type(case).__name__}"


def each(call: Callable[[Any], object], path: str, *values: Any) -> list[ParameterSet]:
    """A case for each value: the call with it is refused by the path."""
    return [pytest.param(call, value, path, id=f"{path} {shown(value)}") for value in values]
