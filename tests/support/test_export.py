"""Exports: complete, in order, the same from both databases, however long (issue 5, point 4)."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from asgiref.sync import async_to_sync

from memory import Memory
from memory.content.json import stable_json
from memory.exceptions import RecallError, ResourceNotFound, ThreadNotFound
from memory.managers import exporting
from memory.models import Message, Resource, Thread, WorkingMemory, WorkingMemoryVersion
from tests.cases import at, message, numbered, save
from tests.support import MARKER, make_owner

GOLDEN = Path(__file__).with_name("owner.jsonl")

memory = Memory()


def rows_of(pieces: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in "".join(pieces).splitlines()]


def make_golden_owner() -> None:
    """An owner whose content the databases store each in its own way, with dates that do not pass."""
    memory = Memory(working_memory={"enabled": True})
    Resource.objects.update_resource("고객-7", metadata={"z": 1.0, "a": {"라": [True, None], "b": 1e25}})
    memory.update_working_memory("# 이름\n- 김", resource_id="고객-7")
    memory.update_working_memory("# 이름\n- 김\u2028철수", resource_id="고객-7")
    memory.create_thread(
        "고객-7", thread_id="t-1", title='退款 "now"', metadata={"priority": 2, "ids": [3, 1]}
    )
    of_thread = {"working_memory": {"scope": "thread"}}
    memory.update_working_memory("one thread", thread_id="t-1", thread_config=of_thread)
    memory.create_thread("고객-7", thread_id="t-2")
    same = at(1.000001)
    numbers = {"whole": 3.0, "large": 1234567890123456789.0, "minus": -0.0, "tiny": 5e-324, "top": 2**63 - 1}
    call = {"toolName": "refund", "toolCallId": "c", "state": "result", "args": {"b": 1, "a": 2}}
    tool = {"type": "tool-invocation", "toolInvocation": {**call, "result": [1.50]}}
    memory.save_messages(
        [
            message("m-2", "second of the same date", thread="t-1", created_at=same),
            message("m-1", "third of the same date", thread="t-1", created_at=same, role="assistant"),
            message("m-0", "first", thread="t-1", created_at=at(0), type="text"),
            message(
                "m-3",
                {"format": 2, "parts": [tool], "metadata": numbers},
                thread="t-1",
                created_at=datetime(9999, 12, 29, tzinfo=UTC),
                role="tool",
            ),
            message("gone", f"say {MARKER}", thread="t-2", created_at=at(5)),
            message("line", "a\r\nb\tc \x00 \U0001f468‍\U0001f469", thread="t-2", created_at=at(6)),
        ]
    )
    memory.redact_messages("gone")
    Message.objects.filter(uid="line").update(cloned_from="m-0")
    stored = {"created_at": at(0.5), "updated_at": at(7.25)}
    Resource.objects.update(**stored)
    Thread.objects.update(**stored)
    WorkingMemory.objects.update(updated_at=at(8))
    WorkingMemoryVersion.objects.update(created_at=at(9))
    Message.objects.exclude(redacted_at=None).update(redacted_at=at(10))


@pytest.mark.smoke
@pytest.mark.django_db
def test_equal_files_from_every_database() -> None:
    """The same owner, made here and now, against the file in the repository, byte by byte."""
    make_golden_owner()
    make_owner("other")
    assert "".join(memory.export_resource("고객-7")).encode() == GOLDEN.read_bytes()


@pytest.mark.django_db
def test_nothing_is_missing_in_it() -> None:
    make_golden_owner()
    rows = rows_of(memory.export_resource("고객-7"))
    kinds = [row["kind"] for row in rows]
    versions = ["workingMemoryVersion"]
    assert kinds == [
        *("header", "resource", "workingMemory", *versions * 2),
        *("thread", "workingMemory", *versions, *["message"] * 4),
        *("thread", *["message"] * 2),
    ]
    by_id = {row["id"]: row for row in rows if row["kind"] == "message"}
    # Equal dates keep the order in which they were saved.
    assert list(by_id) == ["m-0", "m-2", "m-1", "m-3", "gone", "line"]
    assert by_id["m-2"]["createdAt"] == "2024-05-01T09:00:01.000001Z"
    for uid, row in by_id.items():
        assert row["content"] == json.loads(stable_json(Message.objects.get(uid=uid).content))
    assert (by_id["gone"]["content"], by_id["gone"]["redactedAt"][:19]) == (
        {"format": 2, "parts": []},
        "2024-05-01T09:00:10",
    )
    assert by_id["line"]["clonedFrom"] == "m-0"


@pytest.mark.django_db
def test_a_thread_alone() -> None:
    make_golden_owner()
    rows = rows_of(memory.export_thread("t-1"))
    expected = rows_of(memory.export_resource("고객-7"))[5:12]
    assert rows[1:] == expected
    assert (rows[0]["scope"], rows[0]["id"], rows[0]["masked"]) == ("thread", "t-1", False)


@pytest.mark.django_db
def test_who_and_when_are_told_where_they_are_given() -> None:
    make_owner("o")
    known = {"kind", "format", "version", "scope", "id", "masked"}
    assert set(rows_of(memory.export_resource("o"))[0]) == known
    when = datetime(2026, 3, 1, 18, 0, 0, 5, tzinfo=ZoneInfo("Asia/Seoul"))
    (header, *_) = rows_of(memory.export_resource("o", exported_at=when, exported_by="ada"))
    assert (header["exportedAt"], header["exportedBy"]) == ("2026-03-01T09:00:00.000005Z", "ada")


@pytest.mark.django_db
@pytest.mark.parametrize("format", ["jsonl", "markdown", "html"])
def test_masked(format: str) -> None:
    """Without the right to see content: ids, roles and dates only."""
    make_owner("o")
    for pieces in (
        memory.export_resource("o", format=format, masked=True),
        memory.export_thread("o-0", format=format, masked=True),
    ):
        text = "".join(pieces)
        assert MARKER not in text
        assert "o-0" in text


@pytest.mark.django_db
def test_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of threads, messages and versions meet without a gap, also where dates are equal."""
    make_owner("o", threads=5, messages=0)
    Thread.objects.update(created_at=at(0))
    for number in range(5):
        memory.save_messages(
            [
                message(f"{number}-{place}", thread=f"o-{number}", created_at=at(place // 4))
                for place in range(9)
            ]
        )
    whole = "".join(memory.export_resource("o"))
    assert [row["id"] for row in rows_of([whole]) if row["kind"] == "message"] == [
        f"{number}-{place}" for number in range(5) for place in range(9)
    ]
    for size in (1, 2, 3):
        for name in ("THREADS", "MESSAGES", "VERSIONS"):
            monkeypatch.setattr(exporting, name, size)
        assert "".join(memory.export_resource("o")) == whole


@pytest.mark.django_db
def test_queries(count_queries: Callable[..., Any]) -> None:
    make_owner("o", threads=3, messages=2)
    with count_queries(2 + 1 + 2 * 3):
        list(memory.export_resource("o"))
    numbered(600)
    with count_queries(1 + 600 // exporting.MESSAGES + 1):
        list(memory.export_thread("t"))


@pytest.mark.django_db
@pytest.mark.parametrize(("number", "length"), [(4_000, 2_000), (400, 50_000)])
def test_memory_stays_flat(number: int, length: int) -> None:
    """The whole export is several times as large as the memory that making it takes, also where each
    message is long."""
    thread = Thread.objects.create(uid="long", resource=Resource.objects.ensure("o"))
    text = "long " * (length // 5)
    for first in range(0, number, 100):
        Message.objects.bulk_create(
            Message(uid=f"m{one}", thread=thread, role="user", content=text, created_at=at(one))
            for one in range(first, first + 100)
        )
    size = sum(map(len, memory.export_resource("o")))
    tracemalloc.start()
    try:
        assert sum(map(len, memory.export_resource("o"))) == size
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 16_000_000
    assert peak < 8_000_000


@pytest.mark.django_db
def test_pieces_are_neither_tiny_nor_joined_when_they_are_large() -> None:
    """A server sends each by itself; under ASGI it takes each from another thread."""
    numbered(600)
    pieces = list(memory.export_thread("t"))
    assert len(pieces) < 10
    assert all(len(piece) >= exporting.PIECE for piece in pieces[:-1])
    save(*(message(f"long{one}", "x" * exporting.PIECE, thread="long") for one in range(3)))
    assert len(list(memory.export_thread("long"))) >= 3


@pytest.mark.django_db
def test_what_is_saved_meanwhile_does_no_harm() -> None:
    """No cursor stays open: others write and erase while a client reads."""
    numbered(600)
    pieces = memory.export_thread("t")
    begun = [next(pieces)]
    save(message("late", created_at=at(10_000)))
    memory.delete_messages("m600")
    ids = [row["id"] for row in rows_of([*begun, *pieces]) if row["kind"] == "message"]
    assert ids == [*(f"m{number}" for number in range(1, 600)), "late"]


@pytest.mark.django_db
def test_errors_come_with_the_call() -> None:
    """Before the first piece, so that a view can answer them."""
    make_owner("o")
    with pytest.raises(ResourceNotFound, match="unknown"):
        memory.export_resource("unknown")
    with pytest.raises(ThreadNotFound):
        memory.export_thread("unknown")
    with pytest.raises(ResourceNotFound):
        Resource.objects.export_resource("o", owners=["other"])
    with pytest.raises(ThreadNotFound):
        Thread.objects.export_thread("o-0", owners=["other"])
    wrong: list[dict[str, Any]] = [
        {"format": "pdf"},
        {"masked": "yes"},
        {"exported_at": datetime(2026, 3, 1)},
        {"exported_by": 5},
    ]
    for given in wrong:
        with pytest.raises(RecallError) as caught:
            memory.export_resource("o", **given)
        assert [issue.field for issue in caught.value.issues] == list(given)
    with pytest.raises(RecallError):
        memory.export_thread("")
    for verb in (memory.export_thread, Thread.objects.export_thread):
        with pytest.raises(TypeError, match="mask"):
            verb("o-0", mask=True)  # type: ignore[call-arg]


@pytest.mark.django_db(transaction=True)
def test_async() -> None:
    async def export() -> str:
        return "".join([piece async for piece in memory.aexport_resource("o")])

    make_owner("o")
    assert async_to_sync(export)() == "".join(memory.export_resource("o"))
