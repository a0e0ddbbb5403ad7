"""Section D of the public bug reports: saving messages (contract section 3)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory import Memory
from memory.exceptions import RecallError, ThreadNotFound
from memory.models import Message, Thread
from tests.cases import at, in_parallel, message, names, numbered, save, uids


def thread_dates(*ids: str) -> list[Any]:
    """`updated_at` of threads, as stored."""
    stored = dict(Thread.objects.values_list("uid", "updated_at"))
    return [stored[uid] for uid in ids]


@pytest.mark.django_db
def test_case_51_an_upsert_keeps_the_date() -> None:
    """Content, role and metadata are replaced, `created_at` and place stay; the answer says so."""
    save(
        message("m1", {"parts": [], "content": "old", "metadata": {"a": 1, "b": 1}}, created_at=at(1)),
        message("m2", created_at=at(2)),
    )
    new = {"parts": [], "content": "new", "metadata": {"b": 2}}
    answered = save(message("m1", new, role="assistant", type="note", created_at=at(3_600)))[0]
    result = Memory().recall("t")
    assert uids(result) == names(2, 1)
    for stored in (answered, result.messages[1]):
        assert (stored.text, stored.role, stored.type) == ("new", "assistant", "note")
        assert (stored.metadata, stored.created_at) == ({"b": 2}, at(1))


@pytest.mark.django_db
@pytest.mark.parametrize("dates", [(1, 3_600), (3_600, 1), (1, None)])
def test_case_51_an_id_twice_in_one_batch(dates: tuple[int, int | None]) -> None:
    """One row: the last text, the first date, the first place."""
    first, last = (None if seconds is None else at(seconds) for seconds in dates)
    stored = save(
        message("m1", "old", created_at=first),
        message("m2", created_at=first),
        message("m1", "new", role="assistant", created_at=last),
    )
    assert uids(stored) == names(1, 2)
    assert [(row.text, row.role, row.created_at) for row in stored] == [
        ("new", "assistant", first),
        ("m2", "user", first),
    ]
    assert uids(Memory().recall("t").chronological()) == names(1, 2)


@pytest.mark.django_db
def test_case_51_updating_keeps_the_date_too() -> None:
    save(message("m1", created_at=at(1)), message("m2", created_at=at(2)))
    Memory().update_messages([{"id": "m1", "content": "new", "created_at": at(9)}])
    result = Memory().recall("t")
    assert [(row.uid, row.created_at) for row in result] == [("m2", at(2)), ("m1", at(1))]


@pytest.mark.django_db
def test_case_52_an_id_under_another_thread_moves() -> None:
    """Within one resource: one row, in the new thread, with its date."""
    numbered(3)
    Memory().create_thread("r", thread_id="u")
    stored = save(message("m2", "moved", thread="u", created_at=at(99)))[0]
    assert (stored.thread.uid, stored.created_at) == ("u", at(2))
    assert uids(Memory().recall("t")) == names(3, 1)
    moved = Memory().recall("u").messages
    assert [(row.uid, row.text, row.created_at) for row in moved] == [("m2", "moved", at(2))]
    assert Message.objects.count() == 3


@pytest.mark.django_db
def test_case_52_instances_are_saved_like_dicts() -> None:
    """Section 7: messages go in as dicts or as unsaved instances, for known ids too."""
    thread = Memory().create_thread("r", thread_id="t")
    fields = {"uid": "m1", "thread": thread, "role": "user", "created_at": at(1)}
    stored = Memory().save_messages([Message(content="old", **fields), message("m2", created_at=at(2))])
    assert [(row.uid, row.text, row.created_at) for row in stored] == [
        ("m1", "old", at(1)),
        ("m2", "m2", at(2)),
    ]
    stored = Memory().save_messages([Message(content="new", **{**fields, "created_at": at(3)})])
    assert [(row.text, row.created_at) for row in stored] == [("new", at(1))]
    assert Message.objects.count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    "make",
    [lambda: Message(uid="m1", role="user", content="x"), lambda: Thread(uid="t"), lambda: None, object, str],
    ids=["no thread", "another model", "None", "object", "text"],
)
def test_case_52_what_is_no_message(make: Callable[[], Any]) -> None:
    """Section 7: every bad input, in saving too, is a RecallError; instances are input like others."""
    with pytest.raises(RecallError) as caught:
        save(message("m0"), make())
    assert all(issue.field.startswith("messages[1]") for issue in caught.value.issues)
    assert Message.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_case_52_one_id_saved_at_the_same_time() -> None:
    """No unique violation reaches the callers: one row with one of the texts, all its siblings stored."""
    Memory().create_thread("r", thread_id="t")
    calls = [lambda n=n: save(message("m1", f"text {n}"), message(f"own{n}")) for n in range(4)]
    outcomes = in_parallel(*calls)
    assert all(isinstance(outcome, list) for outcome in outcomes), outcomes
    stored = {row.uid: row for row in Memory().recall("t")}
    assert set(stored) == {"m1", *(f"own{n}" for n in range(4))}
    assert stored["m1"].text in {f"text {n}" for n in range(4)}


@pytest.mark.django_db(transaction=True)
def test_case_52_turns_saved_at_the_same_time_do_not_mix() -> None:
    """Section 3: missing dates are taken under the thread's lock, so a turn is contiguous."""
    Memory().create_thread("r", thread_id="t")

    def turns(writer: int) -> None:
        for turn in range(5):
            save(*(message(f"{writer}-{turn}-{n}") for n in range(3)))

    outcomes = in_parallel(*(lambda n=n: turns(n) for n in range(4)))
    assert outcomes == [None] * 4
    order = uids(Memory().recall("t", per_page=False).chronological())
    assert len(order) == 60
    for start in range(0, 60, 3):
        turn = order[start].rpartition("-")[0]
        assert order[start : start + 3] == [f"{turn}-{n}" for n in range(3)]


@pytest.mark.django_db(transaction=True)
def test_case_52_writers_of_several_threads_never_wait_for_each_other() -> None:
    """Locks are taken in one order: moves to and fro, edits and deletions end without a deadlock."""
    numbered(4)
    numbered(4, thread="u", prefix="x")

    def shuffle(thread: str, other: str) -> None:
        for _ in range(5):
            rows = [message(f"m{n}", thread=thread) for n in range(1, 5)]
            rows += [message(f"x{n}", thread=other) for n in range(1, 5)]
            save(*rows)
            Memory().update_messages([{"id": "x1", "thread_id": thread}, {"id": "m1", "content": "new"}])
            Memory().delete_messages(["m4", "x4"])

    outcomes = in_parallel(lambda: shuffle("t", "u"), lambda: shuffle("u", "t"), lambda: shuffle("t", "u"))
    assert outcomes == [None] * 3
    kept = {"m1", "m2", "m3", "x1", "x2", "x3"}
    assert kept <= set(Message.objects.values_list("uid", flat=True)) <= {*kept, "m4", "x4"}


@pytest.mark.django_db
def test_case_59_updated_at_rises_with_every_write() -> None:
    """Save, update, delete; a batch over two threads raises both, a third thread stays."""
    for thread in ("t", "u", "v"):
        Memory().create_thread("r", thread_id=thread)
    writes: list[tuple[str, Callable[[], object]]] = [
        ("t", lambda: save(message("m1", created_at=at(1)))),
        ("t", lambda: save(message("m1", "again"))),
        ("t", lambda: Memory().update_messages([{"id": "m1", "content": "edited"}])),
        ("t", lambda: Memory().update_messages([{"id": "m1", "content": {"metadata": {"k": 1}}}])),
        ("tu", lambda: save(message("m2", created_at=at(2)), message("x1", thread="u", created_at=at(3)))),
        ("tu", lambda: save(message("m2", thread="u"))),
        ("tu", lambda: Memory().update_messages([{"id": "m2", "thread_id": "t"}])),
        ("tu", lambda: Memory().delete_messages(["m2", "x1"])),
        ("t", lambda: Memory().delete_messages("m1")),
        ("", lambda: Memory().delete_messages("m1")),
        ("", lambda: save(message("s", role="system"))),
    ]
    for number, (touched, write) in enumerate(writes):
        before = thread_dates("t", "u", "v")
        write()
        after = thread_dates("t", "u", "v")
        for thread, former, present in zip("tuv", before, after, strict=True):
            assert (present > former) if thread in touched else (present == former), (number, thread)


@pytest.mark.django_db
def test_case_59_updated_at_rises_when_the_clock_stands_behind() -> None:
    """Strictly later, also where the stored date lies ahead of this machine's clock."""
    numbered(1)
    ahead = timezone.now() + timedelta(hours=9)
    Thread.objects.update(updated_at=ahead)
    save(message("m2"))
    assert thread_dates("t")[0] > ahead


@pytest.mark.django_db
def test_case_59_last_message_at_follows() -> None:
    """The newest message, whatever was written last."""

    def last(thread: str) -> Any:
        return Thread.objects.get(uid=thread).last_message_at

    Memory().create_thread("r", thread_id="u")
    assert last("u") is None
    numbered(3)
    save(message("early", created_at=at(0)))
    assert last("t") == at(3)
    save(message("m3", thread="u"))
    assert (last("t"), last("u")) == (at(2), at(3))
    Memory().update_messages([{"id": "m2", "thread_id": "u"}])
    assert (last("t"), last("u")) == (at(1), at(3))
    Memory().delete_messages(["m1", "early", "m3"])
    assert (last("t"), last("u")) == (None, at(2))


@pytest.mark.django_db
def test_case_60_system_messages_are_not_stored() -> None:
    """They are absent from the answer; a list of only them is no error."""
    stored = save(message("s", role="system"), message("m1"), message("s2", role="system"))
    assert uids(stored) == names(1)
    assert save(message("s", role="system")) == []
    assert save() == []
    assert Message.objects.count() == 1
    assert Memory().save_messages([message("s", role="system", thread="new")]) == []
    assert Memory().get_thread("new") is None


@pytest.mark.django_db
@pytest.mark.parametrize("role", ["User", "developer", "", None, 1, "data"])
def test_case_60_other_roles_are_refused(role: Any) -> None:
    with pytest.raises(RecallError) as caught:
        save(message("m1"), message("m2", role=role))
    assert [issue.field for issue in caught.value.issues] == ["messages[1].role"]
    assert Message.objects.count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize("role", ["user", "assistant", "tool", "signal"])
def test_case_60_roles_are_kept(role: str) -> None:
    save(message("m1", role=role))
    assert Memory().recall("t").messages[0].role == role


@pytest.mark.django_db
def test_case_54_nothing_is_stored_of_a_save_that_is_refused() -> None:
    """All or nothing: no thread that was to be made, no resource, no row; a retry stores the turn."""
    turn = [message("u1"), message("a1", role="assistant")]
    with pytest.raises(RecallError):
        save(*turn, message("bad", {"parts": [{"type": "text"}]}))
    with pytest.raises(ThreadNotFound):
        Memory().save_messages(turn)
    assert Thread.objects.count() == Message.objects.count() == 0
    assert uids(save(*turn)) == ["u1", "a1"]


@pytest.mark.django_db
def test_case_56_history_off_does_not_switch_saving_off() -> None:
    """Section 1: `last_messages` and `read_only` do not concern explicit saves."""
    quiet = Memory(last_messages=False, read_only=True)
    quiet.save_messages([message("m1")], create_thread=True, resource_id="r")
    assert quiet.recall("t").messages == []
    assert uids(Memory().recall("t")) == names(1)


@pytest.mark.django_db
def test_case_52_dates_within_a_call_are_strictly_increasing() -> None:
    """Also between messages that bring a date of their own."""
    before = timezone.now()
    stored = save(message("m1"), message("old", created_at=at(0)), message("m2"), message("m3"))
    dates = [row.created_at for row in stored if row.uid != "old"]
    assert before <= dates[0]
    assert dates[-1] <= timezone.now()
    assert all(earlier < later for earlier, later in itertools.pairwise(dates))
    assert uids(Memory().recall("t").chronological()) == ["old", *names(1, 2, 3)]
