"""An erasure that is interrupted, and one that meets others who write: nothing survives unnoticed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection, transaction

from memory import Memory
from memory.exceptions import ThreadNotFound
from memory.managers import erasing
from memory.models import AdminEvent, Embedding, Message, Resource, Thread
from tests.cases import in_parallel, message
from tests.servers import ROOT, database_url
from tests.support import into_file, make_owner, places_of
from tests.test_concurrency import held

pytestmark = pytest.mark.django_db(transaction=True)

memory = Memory()

SLOW_ERASURE = """
import sys, time
import django
django.setup()
from memory.managers import erasing
from memory.models import Resource
erasing.THREADS, erasing.MESSAGES = 1, 2
def advance(count):
    print(count, flush=True)
    time.sleep(0.2)
Resource.objects.erase_resource(sys.argv[1], advance=advance)
"""


def test_killed_in_the_middle() -> None:
    """`kill -9`, and run again."""
    owner = make_owner(threads=3, messages=4)
    AdminEvent.objects.record("read", resource_id=owner.uid)
    into_file()
    environ = {"DJANGO_SETTINGS_MODULE": "project.settings.dev", "DATABASE_URL": database_url()}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_ERASURE, owner.uid],
        cwd=ROOT,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    with process.stdout:
        assert [process.stdout.readline() for _ in range(3)] == [b"2\n", b"2\n", b"0\n"]
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
    assert 0 < Message.objects.count() < 12
    assert places_of()
    receipt = memory.erase_resource(owner.uid)
    assert 0 < receipt.counts["messages"] < 12
    assert receipt.counts["resources"] == 1
    assert places_of() == set()


@pytest.mark.parametrize("step", ["blank_log", "hash_events", "erasing"])
def test_failing_at_any_step(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = make_owner()

    def fail(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("staged")

    with monkeypatch.context() as patch:
        patch.setattr(erasing, step, fail)
        with pytest.raises(RuntimeError, match="staged"):
            memory.erase_resource(owner.uid)
    assert Resource.objects.filter(pk=owner.pk).exists()
    assert memory.erase_resource(owner.uid).counts["resources"] == 1
    assert places_of() == set()


def test_a_thread_that_is_made_meanwhile_is_erased_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the last batch and the owner's row."""
    make_owner("o")
    made: list[str] = []
    hash_events = erasing.hash_events

    def late(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "resource_uid" and not made:
            made.append("late")
            memory.save_messages([message("late", thread="late")], create_thread=True, resource_id="o")
        return hash_events(name, *args, **kwargs)

    monkeypatch.setattr(erasing, "hash_events", late)
    receipt = memory.erase_resource("o")
    assert made
    assert (receipt.counts["threads"], receipt.counts["messages"]) == (3, 7)
    assert not Message.objects.exists()


def test_what_is_recorded_meanwhile_names_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody reads the conversation while its owner's row goes."""
    owner = make_owner()
    erase_row = erasing.Erasure._erase_row

    def late(self: erasing.Erasure, *args: Any) -> Any:
        AdminEvent.objects.record("read", resource_id=owner.uid, thread_id=f"{owner.uid}-0")
        return erase_row(self, *args)

    monkeypatch.setattr(erasing.Erasure, "_erase_row", late)
    into_file()
    receipt = memory.erase_resource(owner.uid)
    assert receipt.counts["admin_events"] == AdminEvent.objects.count() == 1
    assert places_of() == set()


def test_an_erasure_and_its_event_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """`finish` runs in the last transaction: as long as it fails, the owner is there, and erased again."""
    make_owner("o")
    seen: list[tuple[bool, dict[str, int]]] = []

    def finish(counts: dict[str, int]) -> None:
        AdminEvent.objects.record("erase_resource", counts=counts)
        seen.append((connection.in_atomic_block, counts))
        if len(seen) == 1:
            raise RuntimeError("staged")

    with pytest.raises(RuntimeError, match="staged"):
        Resource.objects.erase_resource("o", finish=finish)
    assert Resource.objects.filter(uid="o").exists()
    assert not AdminEvent.objects.exists()
    receipt = Resource.objects.erase_resource("o", finish=finish)
    assert not Resource.objects.exists()
    assert seen[1] == (True, receipt.counts)
    assert AdminEvent.objects.get().counts["resources"] == 1
    # An erasure that finds nothing left is one too.
    Resource.objects.erase_resource("o", finish=finish)
    assert AdminEvent.objects.count() == 2


def test_an_erasure_waits_for_a_save_and_takes_it_along() -> None:
    make_owner("o")
    with held(lambda: memory.save_messages([message("late", thread="o-0")])):
        receipt = memory.erase_resource("o")
    assert receipt.counts["messages"] == 7
    assert not Message.objects.exists()
    assert not Thread.objects.exists()


def test_a_new_thread_waits_too() -> None:
    """Its owner is gone when it is committed: the database refuses it, and it is made for a new owner."""
    former = make_owner("o")
    started = threading.Event()

    def save() -> None:
        started.set()
        memory.save_messages([message("new", thread="new")], create_thread=True, resource_id="o")

    def erase() -> None:
        with transaction.atomic():
            memory.erase_resource("o")
            started.wait(10)
            threading.Event().wait(0.5)

    assert in_parallel(erase, save) == [None, None]
    owner = Resource.objects.filter(uid="o").first()
    if owner is None:
        # The save came first, and went with the rest.
        assert not Message.objects.exists()
    else:
        assert owner.pk != former.pk
        assert [row.uid for row in Message.objects.all()] == ["new"]
        assert Embedding.objects.count() == 1


def test_turns_and_erasures_at_once() -> None:
    """Whatever comes first: afterwards every row belongs to an owner that is there."""
    for number in range(5):
        make_owner("o", threads=2, messages=2)

        def turn(number: int = number) -> None:
            with suppress(ThreadNotFound):
                memory.save_messages(
                    [message(f"q{number}", thread="o-0"), message(f"a{number}", thread=f"new{number}")],
                    create_thread=True,
                    resource_id="o",
                )

        results = in_parallel(lambda: memory.erase_resource("o"), turn)
        assert not [result for result in results if isinstance(result, Exception)]
        assert set(Message.objects.values_list("uid", flat=True)) in (set(), {f"q{number}", f"a{number}"})
        memory.erase_resource("o")
        assert not any(model._default_manager.exists() for model in (Message, Thread, Resource, Embedding))


def test_two_erasures_at_once() -> None:
    make_owner("o")
    receipts = in_parallel(lambda: memory.erase_resource("o"), lambda: memory.erase_resource("o"))
    assert sum(receipt.counts["messages"] for receipt in receipts) == 6
    assert sum(receipt.counts["resources"] for receipt in receipts) == 1
    assert not Resource.objects.exists()
    assert connection.is_usable()
