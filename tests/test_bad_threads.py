"""Bad input to the verbs of threads and ids: one error, nothing written (sections 1 and 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.exceptions import MessageConflict, ThreadConflict, ThreadNotFound, ThreadNotOwned
from tests.bad_input import (
    BAD_IDS,
    HUGE,
    INFINITY,
    NAIVE,
    NAN,
    SECRET,
    TOO_LATE,
    each,
    everything,
    refused,
    seed,
)

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD: dict[str, Any] = {"thread_id": "t", "role": "user", "content": SECRET}
NO_NUMBERS = (-1, 1.5, True, "5", 2**63, HUGE)
NO_OBJECTS = ([], "x", 5, True, [SECRET])
NO_TITLES = (5, True, [], b"x", "x" * 1_000_001)

IDS = [
    *each(lambda v: Memory().delete_messages(v), "ids", None, 5, True, {"m1"}),
    *each(lambda v: Memory().delete_messages(["m1", v]), "ids[1]", *BAD_IDS[:-1], None),
    *each(lambda v: Memory().delete_messages([v]), "ids[0].id", {"uid": "m1"}, {}, {"id": ""}, {"id": 5}),
    *each(lambda v: Memory().delete_messages(["m1"], resource_id=v), "resource_id", *BAD_IDS),
    *each(lambda v: Memory().get_messages(["m1", v]), "ids[1]", *BAD_IDS[:-1], None),
]
THREADS = [
    *each(lambda v: Memory().create_thread(v), "resource_id", *BAD_IDS, None),
    *each(lambda v: Memory().create_thread("r", thread_id=v), "thread_id", *BAD_IDS),
    *each(lambda v: Memory().create_thread("r", title=v), "title", *NO_TITLES),
    *each(lambda v: Memory().create_thread("r", metadata=v), "metadata", *NO_OBJECTS),
    *each(
        lambda v: Memory().create_thread("r", metadata={"a": [{"b": v}]}), "metadata.a[0].b", INFINITY, HUGE
    ),
    *each(lambda v: Memory().get_thread(v), "thread_id", *BAD_IDS, None),
    *each(lambda v: Memory().get_thread("t", resource_id=v), "resource_id", *BAD_IDS),
    *each(lambda v: Memory().update_thread(v, title="x"), "thread_id", *BAD_IDS, None),
    *each(lambda v: Memory().update_thread("t", title=v), "title", *NO_TITLES),
    *each(lambda v: Memory().update_thread("t", metadata=v), "metadata", *NO_OBJECTS),
    *each(lambda v: Memory().delete_thread(v), "thread_id", *BAD_IDS, None),
    *each(lambda v: Memory().transfer_thread(v, "r"), "thread_id", *BAD_IDS, None),
    *each(lambda v: Memory().transfer_thread("t", v), "resource_id", *BAD_IDS, None),
]
LISTS = [
    *each(lambda v: Memory().list_threads(per_page=v), "per_page", *NO_NUMBERS),
    *each(lambda v: Memory().list_threads(page=v), "page", *NO_NUMBERS),
    *each(lambda v: Memory().list_threads(per_page=False, page=v), "page", 1),
    *each(lambda v: Memory().list_threads(page=v), "page", 2**63 - 1),
    *each(lambda v: Memory().list_threads(order_by=v), "order_by", "created_at", []),
    *each(lambda v: Memory().list_threads(order_by={"field": v}), "order_by.field", "title", 5),
    *each(lambda v: Memory().list_threads(order_by={"direction": v}), "order_by.direction", "up", True),
    *each(lambda v: Memory().list_threads(order_by={"directon": v}), "order_by.directon", "ASC"),
    *each(lambda v: Memory().list_threads(metadata=v), "metadata", [], "x"),
    *each(lambda v: Memory().list_threads(metadata={"a.b": v}), "metadata.a.b", 1),
    *each(lambda v: Memory().list_threads(metadata={"a": v}), "metadata.a", NAN, [], {}, HUGE, b"x"),
    *each(lambda v: Memory().list_threads(resource_id=v), "resource_id", *BAD_IDS),
]
CLONES = [
    *each(lambda v: Memory().clone_thread(v), "source_thread_id", *BAD_IDS, None),
    *each(lambda v: Memory().clone_thread("t", new_thread_id=v), "new_thread_id", *BAD_IDS),
    *each(lambda v: Memory().clone_thread("t", resource_id=v), "resource_id", *BAD_IDS),
    *each(lambda v: Memory().clone_thread("t", message_limit=v), "message_limit", *NO_NUMBERS),
    *each(lambda v: Memory().clone_thread("t", start_date=v), "start_date", NAIVE, TOO_LATE, "soon", 5),
    *each(lambda v: Memory().clone_thread("t", end_date=v), "end_date", NAIVE, TOO_LATE, "", True),
    *each(lambda v: Memory().clone_thread("t", metadata=v), "metadata", *NO_OBJECTS),
    *each(lambda v: Memory().clone_thread("t", title=v), "title", *NO_TITLES),
]


@pytest.fixture(autouse=True)
def _stored(db: None) -> None:
    seed()


@pytest.mark.parametrize(("call", "value", "path"), [*IDS, *THREADS, *LISTS, *CLONES])
def test_one_wrong_parameter(call: Callable[[Any], object], value: Any, path: str) -> None:
    """Each is refused by its path."""
    with refused(path, queries=None):
        call(value)


def test_everything_wrong_is_reported_at_once() -> None:
    """In one error."""
    with refused("thread_id", "resource_id", "title", "metadata.a", queries=None):
        Memory().create_thread("", thread_id=" ", title=5, metadata={"a": NAN})  # type: ignore[arg-type]
    with refused("new_thread_id", "message_limit", "start_date", "end_date", queries=None):
        Memory().clone_thread("t", new_thread_id="", message_limit=-1, start_date=NAIVE, end_date=NAIVE)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Memory().save_messages([{**GOOD, "id": "foreign"}]), MessageConflict),
        (lambda: Memory().save_messages([GOOD, {**GOOD, "thread_id": "none"}]), ThreadNotFound),
        (lambda: Memory().save_messages([{**GOOD, "thread_id": "none"}], create_thread=True), ThreadNotFound),
        (lambda: Memory().save_messages([GOOD], resource_id="s"), ThreadNotOwned),
        (lambda: Memory().save_messages([{**GOOD, "resource_id": "s"}]), ThreadNotOwned),
        (lambda: Memory().update_messages([{"id": "m1", "thread_id": "none"}]), ThreadNotFound),
        (lambda: Memory().update_messages([{"id": "m1", "thread_id": "x"}]), MessageConflict),
        (lambda: Memory().create_thread("r", thread_id="x"), ThreadConflict),
        (lambda: Memory().clone_thread("t", new_thread_id="x"), ThreadConflict),
        (lambda: Memory().clone_thread("none"), ThreadNotFound),
        (lambda: Memory().update_thread("none", title="x"), ThreadNotFound),
        (lambda: Memory().transfer_thread("none", "r"), ThreadNotFound),
        (lambda: Memory().recall("none", resource_id="r"), ThreadNotFound),
        (lambda: Memory().recall("t", resource_id="s"), ThreadNotOwned),
    ],
    ids=str,
)
def test_other_errors_write_nothing(call: Callable[[], object], error: type[Exception]) -> None:
    """What is right in form and wrong in fact; the texts hold nothing of the rows."""
    before = everything()
    with pytest.raises(error) as caught:
        call()
    assert SECRET not in str(caught.value)
    assert everything() == before
