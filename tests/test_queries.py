"""How many statements each verb sends, whatever the number of messages.

Limits: at most 3 for a page, 6 for a search with windows, 12 to save 500 messages; BEGIN, COMMIT and
SAVEPOINT do not count, and what is embedded after the commit counts apart.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import django
import pytest
from django.db import connection

from memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.embedders.hashing import HashEmbedder
    from tests.queries import Statements

    CountQueries = Callable[..., AbstractContextManager[Statements]]
    OnCommit = Callable[..., AbstractContextManager[list[Any]]]

START = datetime(2026, 1, 31, 9, tzinfo=UTC)
# Django 5.2 takes SQLite to allow 999 parameters a statement, and cuts bulk writes accordingly.
SAVE_LIMIT = 25 if connection.vendor == "sqlite" and django.VERSION[:2] == (5, 2) else 12

pytestmark = pytest.mark.django_db


def messages(thread: str, number: int, *, text: str = "a green apple") -> list[dict[str, Any]]:
    """Messages one second apart, with ids `<thread>-<n>`."""
    return [
        {
            "id": f"{thread}-{n}",
            "thread_id": thread,
            "role": "user",
            "content": {
                "format": 2,
                "parts": [{"type": "text", "text": f"{text} {n}"}],
                "metadata": {"n": n},
            },
            "created_at": START + timedelta(seconds=n),
        }
        for n in range(number)
    ]


def fill(thread: str, number: int) -> None:
    """A thread of that many messages."""
    Memory().save_messages(messages(thread, number), create_thread=True, resource_id="owner")


def statements_of(count_queries: CountQueries, call: Callable[[], object]) -> Statements:
    """What a call sends to the database."""
    with count_queries() as statements:
        call()
    return statements


def test_page(count_queries: CountQueries) -> None:
    """A page takes at most 3, and as many in a thread of 5 messages as in one of 2,000."""
    fill("short", 5)
    fill("long", 2_000)
    counts = []
    for thread in ("short", "long"):
        with count_queries(at_most=3) as statements:
            result = Memory().recall(thread, resource_id="owner", per_page=3, page=1)
            assert result.has_more is (thread == "long")
        counts.append(len(statements))
        assert not any("COUNT(" in sql.upper() for sql in statements)
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "options", [{"per_page": False}, {"per_page": 0}, {"filter": {"metadata": {"n": 1}}}]
)
def test_other_pages(count_queries: CountQueries, options: dict[str, Any]) -> None:
    """The same limit without paging, without history and with a filter."""
    fill("thread", 30)
    with count_queries(at_most=3):
        Memory().recall("thread", **options)


def test_total_is_counted_when_it_is_read(count_queries: CountQueries) -> None:
    """Rule 8: `has_more` never needs a COUNT; `total` costs one statement, once."""
    fill("thread", 30)
    with count_queries() as statements:
        result = Memory().recall("thread", per_page=10)
        assert result.has_more
    assert not any("COUNT(" in sql.upper() for sql in statements)
    with count_queries(exactly=1) as counted:
        assert result.total == 30
        assert result.total == 30
    assert "COUNT(" in counted[0].upper()


def test_includes(count_queries: CountQueries) -> None:
    """Includes cost one statement more, one or fifty, with windows of any size."""
    fill("short", 5)
    fill("long", 2_000)
    counts = []
    for thread, number in (("short", 1), ("long", 1), ("long", 50)):
        items = [
            {"id": f"{thread}-{n}", "with_previous_messages": 20, "with_next_messages": 20}
            for n in range(number)
        ]
        with count_queries(at_most=4) as statements:
            result = Memory().recall(thread, per_page=2, include=items)
        assert len(result) > 2
        counts.append(len(statements))
    assert len(set(counts)) == 1


def test_search_with_windows(
    count_queries: CountQueries, on_commit: OnCommit, embedder: HashEmbedder
) -> None:
    """A search takes at most 6, for 1 and for 50 hits, in threads of 5 and of 2,000 messages."""
    with on_commit():
        fill("short", 5)
        fill("long", 2_000)
    embedder.calls.clear()
    counts = []
    for thread, top_k in (("short", 1), ("long", 1), ("long", 50)):
        with count_queries(at_most=6) as statements:
            result = Memory().recall(
                thread,
                resource_id="owner",
                vector_search_string="green apple",
                per_page=3,
                include=[{"id": f"{thread}-2", "with_next_messages": 1}],
                thread_config={"semantic_recall": {"top_k": top_k, "message_range": 2, "scope": "thread"}},
            )
        hits = [message for message in result.messages if "semantic" in message.recall.sources]
        assert len(hits) == top_k
        counts.append(len(statements))
    assert len(set(counts)) == 1
    assert embedder.calls == [["green apple"]]


def test_pending_embeddings_are_counted_when_read(count_queries: CountQueries, on_commit: OnCommit) -> None:
    """Rule 8: one statement, once."""
    with on_commit():
        fill("embedded", 3)
    fill("waiting", 4)
    result = Memory().recall(
        "embedded", vector_search_string="green", thread_config={"semantic_recall": True}
    )
    with count_queries(exactly=1):
        assert result.pending_embeddings == 4
        assert result.pending_embeddings == 4


def test_saving(count_queries: CountQueries) -> None:
    """500 new messages: at most 12 statements, 25 where Django cuts bulk writes for SQLite."""
    Memory().create_thread("owner", thread_id="thread")
    with count_queries(at_most=SAVE_LIMIT):
        Memory().save_messages(messages("thread", 500))


def test_saving_into_a_new_thread(count_queries: CountQueries) -> None:
    """The limit holds where the thread and its owner are made too, which takes a few by itself."""
    with count_queries() as statements:
        fill("thread", 1)
    with count_queries() as more:
        fill("other", 40)
    assert len(more) <= len(statements)
    with count_queries(at_most=SAVE_LIMIT + 4):
        fill("long", 500)


def test_saving_into_several_threads(count_queries: CountQueries) -> None:
    """The number of threads does not count."""
    for n in range(20):
        Memory().create_thread("owner", thread_id=f"t{n}")
    several = [message for n in range(20) for message in messages(f"t{n}", 25)]
    with count_queries(at_most=SAVE_LIMIT):
        Memory().save_messages(several)


def test_saving_again(count_queries: CountQueries) -> None:
    """An upsert is cut in batches, and takes no statement for each message."""
    fill("thread", 500)
    changed = messages("thread", 500, text="a red apple")
    with count_queries(at_most=SAVE_LIMIT * 2):
        Memory().save_messages(changed)


def test_embedding_after_the_commit(
    count_queries: CountQueries, on_commit: OnCommit, embedder: HashEmbedder
) -> None:
    """Counted apart from saving: it works in batches, too."""
    counts = {}
    for number in (250, 500):
        with count_queries() as statements, on_commit(), count_queries() as saving:
            fill(f"thread-{number}", number)
        counts[number] = len(statements) - len(saving)
    assert sum(map(len, embedder.calls)) == 500
    assert 0 < counts[250] <= 20
    assert counts[500] <= 2 * counts[250]


def test_updating(count_queries: CountQueries, on_commit: OnCommit) -> None:
    """Batches, no statement for each message."""
    with on_commit():
        fill("thread", 500)
    changes = [{"id": f"thread-{n}", "content": {"metadata": {"seen": True}}} for n in range(500)]
    with count_queries(at_most=SAVE_LIMIT * 2):
        assert len(Memory().update_messages(changes)) == 500


def test_deleting_messages(count_queries: CountQueries, on_commit: OnCommit) -> None:
    """As many statements for 500 messages as for one."""
    with on_commit():
        fill("thread", 501)
    one = statements_of(count_queries, lambda: Memory().delete_messages(["thread-500"]))
    many = statements_of(count_queries, lambda: Memory().delete_messages([f"thread-{n}" for n in range(500)]))
    assert Memory().recall("thread").total == 0
    assert len(many) == len(one) <= 12


@pytest.mark.parametrize(
    "verb",
    [
        pytest.param(lambda thread: Memory().delete_thread(thread), id="delete_thread"),
        pytest.param(lambda thread: Memory().transfer_thread(thread, "other"), id="transfer_thread"),
        pytest.param(
            lambda thread: Memory().update_thread(thread, title="t", metadata={"a": 1}), id="update"
        ),
        pytest.param(lambda thread: Memory().get_thread(thread), id="get_thread"),
    ],
)
def test_verbs_of_a_thread(
    count_queries: CountQueries, on_commit: OnCommit, verb: Callable[[str], object]
) -> None:
    """The length of the thread does not count."""
    Memory().create_thread("other")
    with on_commit():
        fill("short", 2)
        fill("long", 600)
    short = statements_of(count_queries, lambda: verb("short"))
    long = statements_of(count_queries, lambda: verb("long"))
    assert 0 < len(long) == len(short) <= 12


def test_cloning(count_queries: CountQueries, on_commit: OnCommit, embedder: HashEmbedder) -> None:
    """Rows go in batches, vectors in one statement, and no embedder is called."""
    with on_commit():
        fill("thread", 500)
    embedder.calls.clear()
    with on_commit(), count_queries(at_most=SAVE_LIMIT + 8):
        clone = Memory().clone_thread("thread")
    assert len(clone.messages) == 500
    assert embedder.calls == []


def test_lists_of_threads_and_messages(count_queries: CountQueries) -> None:
    """Owners and threads come along."""
    for n in range(20):
        fill(f"t{n}", 2)
    with count_queries(at_most=2):
        page = Memory().list_threads(resource_id="owner")
        assert {thread.resource.uid for thread in page.threads} == {"owner"}
    with count_queries(exactly=1):
        found = Memory().get_messages([f"t{n}-1" for n in range(20)])
        assert {message.thread.resource.uid for message in found} == {"owner"}


def test_results_carry_their_thread(count_queries: CountQueries, on_commit: OnCommit) -> None:
    """Section 7: `.thread.uid` and `as_dict()` of whatever comes out take no statement."""
    with on_commit():
        saved = Memory().save_messages(messages("thread", 5), create_thread=True, resource_id="owner")
        fill("other", 5)
    result = Memory().recall(
        "thread",
        vector_search_string="green apple",
        per_page=2,
        include=[{"id": "other-1", "with_next_messages": 1}],
        thread_config={"semantic_recall": {"message_range": 1}},
    )
    clone = Memory().clone_thread("thread")
    updated = Memory().update_messages([{"id": "thread-1", "content": "new"}])
    for batch in (saved, result.messages, clone.messages, updated):
        assert batch
        with count_queries(exactly=0):
            assert all(message.as_dict()["threadId"] == message.thread.uid for message in batch)
            assert {message.as_dict()["resourceId"] for message in batch} == {"owner"}
