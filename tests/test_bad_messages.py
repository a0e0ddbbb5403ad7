"""Bad messages: one error that names the parameter, and nothing written (section 3)."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.exceptions import MessageConflict, RecallError
from memory.models import Message
from tests.bad_input import (
    BAD_IDS,
    HUGE,
    INFINITY,
    NAIVE,
    NAN,
    SECRET,
    TOO_EARLY,
    TOO_LATE,
    each,
    refused,
    seed,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD: dict[str, Any] = {"thread_id": "t", "role": "user", "content": SECRET}
BAD_DATES = (
    NAIVE,
    TOO_EARLY,
    TOO_LATE,
    "2026-01-31T09:00:00",
    "soon",
    "",
    date(2026, 1, 31),
    1.5,
    True,
    HUGE,
)


def save(change: dict[str, Any]) -> object:
    """A good message and one with a change, where `...` leaves a key out."""
    message = {key: value for key, value in {**GOOD, **change}.items() if value is not ...}
    return Memory().save_messages([GOOD, message], create_thread=True, resource_id="r")


def save_content(**content: Any) -> object:
    """A good message, and one whose content has these keys."""
    return save({"content": {"format": 2, "parts": [], **content}})


def update(**change: Any) -> object:
    """A good change and a wrong one."""
    return Memory().update_messages([{"id": "m2", "role": "assistant"}, {"id": "m1", **change}])


FIELDS = [
    *each(lambda v: save({"id": v}), "messages[1].id", *BAD_IDS),
    *each(lambda v: save({"thread_id": v}), "messages[1].thread_id", *BAD_IDS, None, ...),
    *each(lambda v: save({"resource_id": v}), "messages[1].resource_id", *BAD_IDS),
    *each(lambda v: save({"role": v}), "messages[1].role", "human", "User", "", None, ..., 5, True, [], HUGE),
    *each(lambda v: save({"created_at": v}), "messages[1].created_at", *BAD_DATES),
    *each(lambda v: save({"createdAt": v}), "messages[1].createdAt", NAIVE),
    *each(lambda v: save({"type": v}), "messages[1].type", 5, True, [], {}, "x" * 65),
    *each(lambda v: Memory().save_messages(v), "messages", None, SECRET, 5, {}, GOOD, {"m"}),
    *each(lambda v: Memory().save_messages([v]), "messages[0]", None, SECRET, 5, [], [GOOD], True),
    *each(lambda v: Memory().save_messages([GOOD], resource_id=v), "resource_id", *BAD_IDS),
]
CONTENTS = [
    *each(
        lambda v: save({"content": v}), "messages[1].content", None, ..., 5, 1.5, True, b"x", object(), HUGE
    ),
    *each(lambda v: save_content(format=v), "messages[1].content.format", 3, "2", None),
    *each(lambda v: save_content(parts=v), "messages[1].content.parts", None, SECRET, {}, 5),
    *each(lambda v: save_content(parts=[v]), "messages[1].content.parts[0]", SECRET, None, 5, []),
    *each(
        lambda v: save_content(parts=[{"type": v}]), "messages[1].content.parts[0].type", 5, None, [SECRET]
    ),
    *each(lambda v: save({"content": [{"text": v}]}), "messages[1].content.parts[0].type", SECRET),
    *each(
        lambda v: save_content(parts=[{"type": "text", "text": v}]),
        "messages[1].content.parts[0].text",
        *(4711, None, [SECRET], {"text": SECRET}),
    ),
    *each(lambda v: save_content(content=v), "messages[1].content.content", 5, [SECRET], {}, True),
    *each(lambda v: save_content(metadata=v), "messages[1].content.metadata", [], "x", 5, True, [SECRET]),
    *each(
        lambda v: save_content(metadata={"a": {"b": [0, v]}}),
        "messages[1].content.metadata.a.b[1]",
        *(NAN, INFINITY, -INFINITY, HUGE, -HUGE, b"x", NAIVE, {1}),
    ),
    *each(
        lambda v: save_content(parts=[{"type": "data", "data": {"n": v}}]),
        "messages[1].content.parts[0].data.n",
        *(NAN, INFINITY, HUGE, NAIVE, object()),
    ),
    *each(lambda v: save_content(extra=[[v]]), "messages[1].content.extra[0][0]", NAN, HUGE),
    *each(lambda v: save_content(extra={v: 1}), "messages[1].content.extra", 5, None, HUGE),
]
CHANGES = [
    *each(lambda v: Memory().update_messages(v), "changes", None, "m1", 5, {"id": "m1"}),
    *each(lambda v: Memory().update_messages([v]), "changes[0]", None, "m1", 5, []),
    *each(lambda v: update(id=v), "changes[1].id", *BAD_IDS, None),
    *each(lambda v: Memory().update_messages([v]), "changes[0].id", {"content": SECRET}, {}),
    *each(lambda v: update(role=v), "changes[1].role", "human", None, 5),
    *each(lambda v: update(thread_id=v), "changes[1].thread_id", *BAD_IDS),
    *each(lambda v: update(content=v), "changes[1].content", None, 5, True, b"x"),
    *each(lambda v: update(content={"metadata": v}), "changes[1].content.metadata", [], "x", 5),
    *each(lambda v: update(content={"metadata": {"a": v}}), "changes[1].content.metadata.a", NAN, HUGE, {1}),
    *each(lambda v: update(content={"parts": v}), "changes[1].content.parts", None, SECRET),
    *each(lambda v: update(content={"content": v}), "changes[1].content.content", 5, [SECRET]),
]


@pytest.fixture(autouse=True)
def _stored(db: None) -> None:
    seed()


@pytest.mark.parametrize(("call", "value", "path"), [*FIELDS, *CONTENTS, *CHANGES])
def test_one_wrong_message(call: Callable[[Any], object], value: Any, path: str) -> None:
    """The good one beside it is not stored either."""
    with refused(path, queries=None):
        call(value)


def test_everything_wrong_is_reported_at_once() -> None:
    """Of all messages, in one error."""
    with refused(
        "resource_id",
        "messages[0].role",
        "messages[0].content",
        "messages[1]",
        "messages[2].id",
        "messages[2].threadId",
        "messages[2].createdAt",
        "messages[3].content.metadata.a",
        "messages[3].content.metadata.b[0]",
        queries=None,
    ):
        Memory().save_messages(
            [
                {"thread_id": "t"},
                SECRET,  # type: ignore[list-item]
                {"id": "", "threadId": 5, "role": "user", "content": SECRET, "createdAt": NAIVE},
                {**GOOD, "content": {"parts": [], "metadata": {"a": NAN, "b": [INFINITY]}}},
            ],
            resource_id="",
        )


def test_taken_id_says_nothing_of_its_row() -> None:
    """Section 3: a constant text."""
    texts = set()
    for uid in ("foreign", "foreign-2"):
        Memory().save_messages([{**GOOD, "id": uid, "thread_id": "x"}])
        with pytest.raises(MessageConflict) as caught:
            Memory().save_messages([{**GOOD, "id": uid}])
        texts.add(str(caught.value))
    (text,) = texts
    assert "foreign" not in text


@pytest.mark.parametrize(
    "content", [None, 5, b"x", {"parts": None}, {"parts": [], "metadata": []}], ids=shown
)
def test_content_of_an_instance(content: Any) -> None:
    """Section 7: unsaved instances are held to the same."""
    with pytest.raises(RecallError) as caught:
        Message(role="user", content=content)
    assert all(issue.field.startswith("content") for issue in caught.value.issues)


def test_good_neighbours() -> None:
    """Dates as text, unknown keys, both spellings of names, and ids with odd characters are right."""
    (message,) = Memory().save_messages(
        [
            {
                "id": " Ünïque/ID?%00 ",
                "threadId": "t",
                "resourceId": "r",
                "role": "user",
                "content": SECRET,
                "createdAt": "2026-01-31T09:00:00.123456+09:00",
                "unknown": object(),
            }
        ]
    )
    assert message.uid == " Ünïque/ID?%00 "
    assert message.created_at == datetime(2026, 1, 31, 0, 0, 0, 123456, tzinfo=UTC)
