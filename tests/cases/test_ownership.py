"""Section B of the public bug reports: owners, and what leaks between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory import Memory
from memory.exceptions import (
    MessageConflict,
    RecallError,
    ThreadConflict,
    ThreadNotFound,
    ThreadNotOwned,
)
from memory.models import Message, Thread
from tests.cases import HITS_ONLY, at, found, in_parallel, message, names, numbered, save, uids

SEMANTIC = {"last_messages": 10, "semantic_recall": True}


@pytest.fixture
def owners(db: None) -> None:
    """r1 with m1...m3 in t1 and its other thread t3, r2 with x1...x3 in t2."""
    numbered(3, thread="t1", resource="r1")
    numbered(3, thread="t2", resource="r2", prefix="x")
    numbered(2, thread="t3", resource="r1", prefix="y")


@pytest.mark.parametrize("resource", ["r1", None], ids=["owner named", "owner of the thread"])
@pytest.mark.parametrize("extra", [{}, {"thread_id": "t2"}, {"with_previous_messages": 5}])
def test_case_17_foreign_ids_are_left_out(owners: None, resource: str | None, extra: dict[str, Any]) -> None:
    """Rule 5: foreign ids are skipped like unknown ones."""
    for uid in ("x2", "unknown"):
        result = Memory().recall("t1", resource_id=resource, include=[{"id": uid, **extra}])
        assert uids(result.chronological()) == names(1, 2, 3)
        assert all(row.recall.sources == {"history"} for row in result)


def test_case_17_windows_hold_rows_of_their_thread_only(owners: None) -> None:
    """All threads here have the same dates: a window must not pick from its neighbours' threads."""
    include = [{"id": "m2", "with_previous_messages": 9, "with_next_messages": 9}, {"id": "x1"}]
    result = Memory().recall("t1", resource_id="r1", per_page=0, include=include)
    assert uids(result.chronological()) == names(1, 2, 3)
    result = Memory().recall(
        "t1", resource_id="r1", per_page=0, include=[{"id": "y1", "with_next_messages": 1}]
    )
    assert {row.thread.uid for row in result} == {"t3"}


def test_case_17_the_thread_of_an_include_must_be_its_thread(owners: None) -> None:
    for thread, expected in (("t3", ["y1"]), ("t1", []), ("t2", []), ("unknown", [])):
        result = Memory().recall("t1", per_page=0, include=[{"id": "y1", "thread_id": thread}])
        assert uids(result) == expected


@pytest.mark.django_db
def test_case_17_a_thread_never_holds_rows_of_two_owners() -> None:
    """Section 1: the owner of a message is the owner of its thread, always."""
    numbered(2, thread="t1", resource="r1")
    with pytest.raises(ThreadNotOwned):
        Memory().save_messages([message("new", thread="t1", resource_id="r2")])
    with pytest.raises(ThreadNotOwned):
        Memory().save_messages([message("new", thread="t1")], resource_id="r2")
    with pytest.raises(ThreadNotOwned):
        Memory().save_messages([message("new", thread="t1")], create_thread=True, resource_id="r2")
    assert Message.objects.count() == 2


def test_case_17_a_transfer_takes_the_whole_thread(owners: None) -> None:
    """After it, the former owner finds none of the rows, by any way."""
    Memory().transfer_thread("t1", "r2")
    with pytest.raises(ThreadNotOwned):
        Memory().recall("t1", resource_id="r1")
    result = Memory().recall("t3", resource_id="r1", per_page=0, include=[{"id": "m1"}])
    assert result.messages == []
    result = Memory().recall("t2", resource_id="r2", per_page=0, include=[{"id": "m1"}])
    assert uids(result) == names(1)


@pytest.mark.django_db
def test_case_17_hits_are_of_the_owner_only(on_commit: Callable[..., Any]) -> None:
    """Rule 6, in every combination of owner and scope; also after a transfer."""
    with on_commit():
        save(message("mine", "purple rain", thread="t1"), resource="r1")
        save(message("other", "purple rain", thread="t2"), resource="r2")
    for resource in ("r1", None):
        for scope in ("resource", "thread"):
            assert found("purple rain", thread="t1", resource=resource, scope=scope) == ["mine"]
    with on_commit():
        Memory().transfer_thread("t2", "r1")
    assert set(found("purple rain", thread="t1", resource="r1")) == {"mine", "other"}
    assert found("purple rain", thread="t1", resource="r1", scope="thread") == ["mine"]
    with pytest.raises(ThreadNotOwned):
        found("purple rain", thread="t2", resource="r2")


@pytest.mark.parametrize("options", [{}, {"include": [{"id": "x1"}]}, {"per_page": 0}, {"per_page": False}])
def test_case_17_ownership_comes_before_every_early_exit(owners: None, options: dict[str, Any]) -> None:
    """Rule 2."""
    with pytest.raises(ThreadNotOwned):
        Memory().recall("t2", resource_id="r1", **options)
    with pytest.raises(ThreadNotFound):
        Memory().recall("unknown", resource_id="r1", **options)
    unknown = Memory().recall("unknown", **options)
    assert (unknown.messages, unknown.total, unknown.has_more) == ([], 0, False)


def test_case_17_reading_and_deleting_for_one_owner(owners: None) -> None:
    """A foreign thread or id is like an unknown one."""
    assert Memory().get_thread("t2", resource_id="r1") is None
    assert Memory().delete_messages(["m1", "x1", "unknown"], resource_id="r1") == 1
    assert uids(Memory().get_messages(["m1", "x1"])) == ["x1"]
    page = Memory().list_threads(resource_id="r1")
    assert ({thread.uid for thread in page.threads}, page.total) == ({"t1", "t3"}, 2)


@pytest.mark.django_db
def test_case_20_a_taken_thread_id_is_refused() -> None:
    """Section 3: the thread of another owner is not taken over, and nothing of it is told."""
    made = Memory().create_thread("r1", thread_id="main", title="Secret", metadata={"a": 1})
    with pytest.raises(ThreadConflict) as caught:
        Memory().create_thread("r2", thread_id="main", title="Mine", metadata={"a": 2})
    assert not any(secret in str(caught.value) for secret in ("r1", "Secret", "main"))
    with pytest.raises(ThreadNotOwned):
        save(message("m1", thread="main"), resource="r2")
    stored = Thread.objects.select_related("resource").get()
    assert (stored.resource.uid, stored.title, stored.metadata) == ("r1", "Secret", {"a": 1})
    assert stored.updated_at == made.updated_at
    assert Message.objects.count() == 0


@pytest.mark.django_db
def test_case_20_the_same_owner_updates_what_is_given() -> None:
    made = Memory().create_thread("r1", thread_id="main", title="First", metadata={"a": 1, "b": 1})
    again = Memory().create_thread("r1", thread_id="main", metadata={"b": 2})
    assert (again.pk, again.title, again.metadata) == (made.pk, "First", {"a": 1, "b": 2})
    assert again.created_at == made.created_at
    assert again.updated_at > made.updated_at


@pytest.mark.django_db
def test_case_20_ids_are_compared_exactly() -> None:
    """Section 1: no trimming, case matters; each of these is an id of its own."""
    ids = ["main", "Main", " main", "main ", "ma%n", "ma_n", "mai\u0301n", "ma\u00edn", "m" * 512]
    for number, uid in enumerate(ids):
        Memory().create_thread(f"r{number}", thread_id=uid)
    for number, uid in enumerate(ids):
        thread = Memory().get_thread(uid, resource_id=f"r{number}")
        assert thread is not None
        assert thread.uid == uid


@pytest.mark.django_db
@pytest.mark.parametrize("uid", ["", " ", "\t\n", "m" * 513, "a\x00b", "\ud83d", 5, True, b"main", ["main"]])
def test_case_20_what_is_no_id(uid: Any) -> None:
    """Section 1: `""` is an error, never "not given"."""
    calls: list[Callable[[], object]] = [
        lambda: Memory().create_thread("r", thread_id=uid),
        lambda: Memory().create_thread(uid),
        lambda: Memory().recall(uid),
        lambda: Memory().recall("t", resource_id=uid),
        lambda: Memory().recall("t", include=[{"id": uid}]),
        lambda: Memory().recall("t", include=[{"id": "m", "thread_id": uid}]),
        lambda: Memory().get_thread(uid),
        lambda: Memory().list_threads(resource_id=uid),
        lambda: Memory().delete_thread(uid),
        lambda: Memory().transfer_thread("t", uid),
        lambda: Memory().clone_thread("t", new_thread_id=uid),
        lambda: Memory().clone_thread("t", resource_id=uid),
        lambda: Memory().get_messages([uid]),
        lambda: Memory().delete_messages([uid]),
        lambda: Memory().delete_messages(["m"], resource_id=uid),
        lambda: save(message(uid)),
        lambda: save(message("m", thread=uid)),
        lambda: save(message("m"), resource=uid),
        lambda: save(message("m", resource_id=uid)),
        lambda: Memory().update_messages([{"id": uid, "role": "user"}]),
        lambda: Memory().update_messages([{"id": "m", "thread_id": uid}]),
    ]
    for call in calls:
        with pytest.raises(RecallError):
            call()
    assert Thread.objects.count() == 0


def test_case_20_a_taken_message_id_is_refused(owners: None) -> None:
    """Section 3: an id under another owner; all or nothing, and a constant text."""
    with pytest.raises(MessageConflict) as caught:
        Memory().save_messages([message("new", thread="t1"), message("x2", "mine now", thread="t1")])
    assert "x2" not in str(caught.value)
    assert Memory().get_messages(["new"]) == []
    stored = Memory().get_messages(["x2"])[0]
    assert (stored.text, stored.thread.uid) == ("x2", "t2")


def test_case_20_no_verb_moves_a_message_to_another_owner(owners: None) -> None:
    with pytest.raises(MessageConflict):
        Memory().update_messages([{"id": "m1", "thread_id": "t2"}])
    assert Memory().update_messages([{"id": "m1", "resource_id": "r2", "content": "taken"}]) == []
    with pytest.raises(ThreadNotFound):
        Memory().update_messages([{"id": "m1", "thread_id": "unknown"}])
    assert Memory().get_messages(["m1"])[0].thread.uid == "t1"


def test_case_20_a_clone_needs_a_free_id(owners: None) -> None:
    for taken in ("t2", "t1", "t3"):
        with pytest.raises(ThreadConflict):
            Memory().clone_thread("t1", new_thread_id=taken)
    assert Thread.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_case_20_owners_racing_for_one_id() -> None:
    """One of them has it, the others are told so; a save that makes the thread races alike."""
    creations = [lambda n=n: Memory().create_thread(f"r{n}", thread_id="main") for n in range(4)]
    outcomes = in_parallel(*creations)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Thread", *["ThreadConflict"] * 3]
    saves = [lambda n=n: save(message(f"m{n}", thread="other"), resource=f"r{n}") for n in range(4)]
    outcomes = in_parallel(*saves)
    assert sum(isinstance(outcome, list) for outcome in outcomes) == 1
    refused = [outcome for outcome in outcomes if not isinstance(outcome, list)]
    assert all(isinstance(outcome, ThreadNotOwned | ThreadConflict) for outcome in refused), refused
    assert Message.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_case_20_one_owner_racing_with_itself() -> None:
    """The first turn sent twice at once makes one thread and keeps both messages."""
    outcomes = in_parallel(*(lambda n=n: save(message(f"m{n}", thread="main")) for n in range(4)))
    assert all(isinstance(outcome, list) for outcome in outcomes), outcomes
    assert sorted(uids(Memory().recall("main", resource_id="r"))) == [f"m{n}" for n in range(4)]
    assert Thread.objects.count() == 1


@pytest.mark.django_db
def test_case_22_first_turn_finds_the_owners_other_threads(on_commit: Callable[..., Any]) -> None:
    """Rule 2: a resource-scoped search works on a thread that does not exist yet."""
    with on_commit():
        save(message("m1", "purple rain", created_at=at(1)), message("m2", created_at=at(2)), resource="r")
    result = Memory(**SEMANTIC).recall(
        "new",
        resource_id="r",
        vector_search_string="purple rain",
        include=[{"id": "m2"}],
        thread_config=HITS_ONLY,
    )
    assert uids(result.chronological()) == names(1, 2)
    assert (result.total, result.has_more) == (0, False)
    assert Memory().get_thread("new") is None


@pytest.mark.django_db
@pytest.mark.parametrize("search", [None, "", "   ", "purple"])
@pytest.mark.parametrize("semantic", [False, True, {"scope": "thread"}])
def test_case_22_only_a_search_of_the_resource_is_excepted(search: str | None, semantic: Any) -> None:
    """Rule 2: thread scope, no search, or search switched off: there has to be a thread."""
    numbered(1)
    options = {"vector_search_string": search, "thread_config": {"semantic_recall": semantic}}
    if semantic is True and search == "purple":
        assert Memory().recall("new", resource_id="r", **options).messages == []
        assert Memory().recall("new", resource_id="unheard of", **options).messages == []
        return
    with pytest.raises(ThreadNotFound):
        Memory().recall("new", resource_id="r", **options)


@pytest.mark.django_db
def test_case_22_the_exception_is_not_for_threads_of_others() -> None:
    numbered(1, resource="r1")
    with pytest.raises(ThreadNotOwned):
        Memory(**SEMANTIC).recall("t", resource_id="r2", vector_search_string="m1")
