"""Redaction: what a message says leaves the database, its place stays (contract section 3, issue 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from memory import Memory
from memory.content.quoting import shows
from memory.exceptions import RecallError
from memory.models import Embedding, EmbeddingJob, Message, Thread
from tests.cases import found, message, save, uids
from tests.embedders.hashing import HashEmbedder
from tests.support import MARKER, into_file, make_owner, marked, places_of

memory = Memory()


@pytest.mark.smoke
@pytest.mark.django_db(transaction=True)
def test_nothing_of_it_is_left() -> None:
    """Text, parts, metadata and title, in every table and in every byte of SQLite's files."""
    make_owner("o", threads=1, messages=2)
    memory.save_messages([message("plain", "nothing", thread="o-0")])
    # What else holds the marker is no message's.
    Thread.objects.update(metadata={})
    owner_only = {"memory_resource", "memory_workingmemory", "memory_workingmemoryversion"}
    into_file()
    assert {"memory_message", "memory_thread"} <= places_of()
    receipt = memory.redact_messages(["o-0-0", {"id": "o-0-1"}, "unknown"], clear_titles=True)
    assert receipt.messages == ["o-0-0", "o-0-1"]
    assert receipt.counts == {"messages": 2, "embeddings": 2, "jobs": 0, "titled_threads": 1}
    assert receipt.leaves_disk == ("now" if connection.vendor == "sqlite" else "vacuum")
    assert places_of() - {"file"} == owner_only
    memory.erase_resource("o")
    assert places_of() == set()


@pytest.mark.django_db
def test_the_tombstone() -> None:
    """Contract section 3: `parts: []`, metadata `{}`, `redacted_at`; a save leaves it redacted."""
    make_owner("o", threads=1)
    before = Thread.objects.get()
    memory.redact_messages("o-0-1")
    row = Message.objects.get(uid="o-0-1")
    assert (row.content, row.metadata, row.text, row.type) == ({"format": 2, "parts": []}, {}, "", "")
    assert row.redacted_at is not None
    assert (row.role, row.uid) == ("user", "o-0-1")
    after = Thread.objects.get()
    assert after.updated_at > before.updated_at
    assert after.last_message_at == before.last_message_at
    assert uids(Message.objects.chronological()) == ["o-0-0", "o-0-1", "o-0-2"]
    memory.save_messages([message("o-0-1", "back again", thread="o-0", type="back again")])
    memory.update_messages([{"id": "o-0-1", "content": "back again", "type": "back again"}])
    row.refresh_from_db()
    assert (row.text, row.type) == ("", "")


@pytest.mark.django_db
def test_a_second_time_changes_nothing() -> None:
    make_owner("o", threads=1)
    memory.redact_messages("o-0-1")
    stored = Message.objects.filter(uid="o-0-1").values().get()
    thread = Thread.objects.values().get()
    receipt = memory.redact_messages(["o-0-1"], clear_titles=True)
    assert (receipt.messages, receipt.titled_threads) == ([], [])
    assert Message.objects.filter(uid="o-0-1").values().get() == stored
    assert Thread.objects.values().get() == thread


@pytest.mark.django_db(transaction=True)
def test_nothing_finds_it(embedder: HashEmbedder, settings: Any) -> None:
    save(message("m1", "purple"), message("m2", "purple"), message("m3", "green"))
    assert found("purple") == ["m2", "m1"]
    settings.MEMORY = {**settings.MEMORY, "EMBED": "command"}
    save(message("m4", "purple"))
    assert EmbeddingJob.objects.count() == 1
    receipt = memory.redact_messages(["m1", "m4"])
    assert (receipt.counts["embeddings"], receipt.counts["jobs"]) == (1, 1)
    assert found("purple") == ["m2"]
    assert uids(Message.objects.containing("purple")) == ["m2"]
    assert EmbeddingJob.objects.count() == 0
    assert sorted(Embedding.objects.values_list("message__uid", flat=True)) == ["m2", "m3"]


@pytest.mark.django_db(transaction=True)
def test_the_cache_of_the_embedder_forgets(embedder: HashEmbedder) -> None:
    save(message("m1", "purple"))
    assert len(embedder.cache) == 1
    memory.redact_messages("m1")
    assert len(embedder.cache) == 0


@pytest.mark.django_db
def test_owners() -> None:
    save(message("a"))
    save(message("b", thread="u"), resource="s")
    assert memory.redact_messages(["a", "b"], resource_id="s").messages == ["b"]
    assert Message.objects.redact_messages(["a", "b"], owners=["s"]).messages == []
    assert Message.objects.redact_messages(["a", "b"], owners=["r", "s"]).messages == ["a"]
    with pytest.raises(RecallError):
        memory.redact_messages([""])
    with pytest.raises(RecallError):
        memory.redact_messages("a", clear_titles="yes")  # type: ignore[arg-type]


@pytest.mark.django_db
def test_copies_are_found_however_they_were_made() -> None:
    """A clone of a clone, the original of a clone, and clones whose original is gone."""
    save(message("m"), message("other"))
    first = memory.clone_thread("t", new_thread_id="first", resource_id="s").message_id_map["m"]
    second = memory.clone_thread("first", new_thread_id="second").message_id_map[first]
    third = memory.clone_thread("t", new_thread_id="third").message_id_map["m"]
    family = {"m", first, second, third}
    for one in family:
        assert set(uids(memory.find_copies(one))) == family - {one}
    assert [copy.thread.resource.uid for copy in memory.find_copies("m") if copy.uid == first] == ["s"]
    assert uids(Message.objects.find_copies("m", owners=["r"])) == [third]
    assert set(uids(memory.find_copies(["m", second]))) == {first, third}
    memory.delete_messages("m")
    assert set(uids(memory.find_copies(first))) == {second, third}
    memory.redact_messages(second)
    assert uids(memory.find_copies(first)) == [third]
    assert memory.find_copies("unknown") == memory.find_copies([]) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("title", "is_shown"),
    [
        ("My card is 4111", True),
        ("my  CARD is", True),
        ("Clone of Clone of My card is…", True),
        ("About: My card is 4111 1111 and more", True),
        ("Payment trouble", False),
        ("", False),
        ("Clone of ", False),
        ("…", False),
    ],
)
def test_titles_that_show_a_piece_are_told(title: str, is_shown: bool) -> None:
    save(message("m", "My card is 4111 1111"), message("other", "Payment trouble"))
    memory.update_thread("t", title=title)
    expected = ["t"] if is_shown else []
    assert [thread.uid for thread in Message.objects.find_titled_threads("m")] == expected
    assert memory.redact_messages("m").titled_threads == expected
    # Only where that was asked for.
    assert Thread.objects.get().title == title


@pytest.mark.parametrize(
    ("title", "text", "is_shown"),
    [
        ("Booking of a flight", "OK", False),
        ("Booking: ok.", "OK", True),
        ("Refund for A-4711!", "a 4711", True),
        ("My cardboard box", "My card", False),
        ("My card", "About my cardboard", False),
        ("My card…", "About my cardboard", True),
        ("네이버 환불", "네", False),
        ("네, 환불", "네", True),
        ("환불요청", "환불", True),
        ("환불", "어제 환불요청을 했어요", True),
        ("我要退款", "退款", True),
        ("What is up?", "?", False),
        ("👍", "👍", True),
        ("👍", "", False),
    ],
)
def test_titles_show_whole_words(title: str, text: str, is_shown: bool) -> None:
    """By the rules of the word search; scripts without spaces have no words that could be cut."""
    assert shows(title, text) == is_shown


@pytest.mark.django_db
def test_clearing_a_title_leaves_others() -> None:
    save(message("m", "purple rain"))
    save(message("n", "green", thread="u"))
    memory.update_thread("t", title="Purple rain")
    memory.update_thread("u", title="Written by hand")
    receipt = memory.redact_messages(["m", "n"], clear_titles=True)
    assert receipt.titled_threads == ["t"]
    assert dict(Thread.objects.values_list("uid", "title")) == {"t": "", "u": "Written by hand"}


@pytest.mark.django_db
@pytest.mark.parametrize("number", [2, 40])
def test_queries(number: int, count_queries: Callable[..., Any]) -> None:
    make_owner("o", threads=2, messages=number)
    clone = memory.clone_thread("o-0").thread
    ids = list(Message.objects.exclude(thread=clone).values_list("uid", flat=True))
    with count_queries(at_most=5):
        assert len(memory.find_copies(ids)) == number
    with count_queries(1):
        assert len(Message.objects.find_titled_threads(ids)) == 2
    with count_queries(at_most=18):
        assert len(memory.redact_messages(ids, clear_titles=True).messages) == 2 * number


@pytest.mark.django_db(transaction=True)
def test_a_failure_undoes_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.managers import redacting

    def fail(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("staged")

    make_owner("o", threads=1, messages=1)
    monkeypatch.setattr(redacting, "touch", fail)
    with pytest.raises(RuntimeError, match="staged"):
        memory.redact_messages("o-0-0", clear_titles=True)
    assert Message.objects.get().text == marked(0)
    assert Embedding.objects.count() == 1
    assert Thread.objects.get().title == marked(0)
    assert uids(Message.objects.containing(MARKER)) == ["o-0-0"]


@pytest.mark.django_db(transaction=True)
def test_inside_a_transaction_of_the_caller() -> None:
    """The log of SQLite can be emptied after the commit only."""
    make_owner("o", threads=1, messages=1)
    with transaction.atomic():
        receipt = memory.redact_messages("o-0-0")
        assert receipt.leaves_disk == ("checkpoint" if connection.vendor == "sqlite" else "vacuum")
    assert "memory_message" not in places_of()
    assert "-wal" not in places_of()
