"""`manage.py generate_titles`: where the site's requests never wait for a model."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from memory import Memory
from memory.models import Thread
from tests.cases import message, save
from tests.embedders.openai_stub import OpenAIStub, replying, says
from tests.processors import talk, title

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _by_command(settings: Any, stub: OpenAIStub) -> None:
    agent = {"generate_title": {"model": "m", "base_url": stub.url}}
    agents = {
        "agent": agent,
        "instant": {"generate_title": True},
        "late": {"generate_title": {"min_messages": 3}},
    }
    settings.MEMORY = {**settings.MEMORY, "EMBED": "command", "AGENTS": agents}


def run(agent: str = "agent", **options: Any) -> str:
    out = StringIO()
    call_command("generate_titles", agent=agent, stdout=out, **options)
    return out.getvalue().strip()


def test_a_turn_waits_for_no_model(stub: OpenAIStub, on_commit: Any) -> None:
    """Its first sentence at once; the command asks, once."""
    with on_commit():
        talk(Memory("agent"), said="Where is my parcel?")
    assert (title(), stub.requests) == ("Where is my parcel?", [])
    stub.chats.append(says("Late parcel"))
    assert run() == "Threads that were given a title: 1"
    assert title() == "Late parcel"
    assert run() == "Threads that were given a title: 0"
    assert len(stub.requests) == 1


def test_nothing_else_changes_and_titles_of_people_stay(stub: OpenAIStub) -> None:
    save(message("m1", "Where is it?"), message("m2", "Where is it?", thread="mine"))
    Memory().update_thread("mine", title="Mine")
    before = {row["uid"]: row for row in Thread.objects.values()}
    run()
    assert {row["uid"]: row for row in Thread.objects.values()} == {
        **before,
        "t": {**before["t"], "title": "Well."},
    }


def test_a_model_that_fails_leaves_the_first_sentence(stub: OpenAIStub) -> None:
    """Also for a thread that had none; the next run asks again."""
    save(message("m1", "Where is it?"))
    stub.chats.append(replying({}, status=500))
    assert run() == "Threads that were given a title: 1"
    assert title() == "Where is it?"
    run()
    assert title() == "Well."


def test_without_a_model_and_with_too_few_messages(stub: OpenAIStub) -> None:
    save(message("m1", "Where is it?"), message("m2", "And now?"))
    assert run("late") == "Threads that were given a title: 0"
    save(message("m3"))
    assert run("late") == "Threads that were given a title: 1"
    save(message("n1", "A question", thread="u"))
    run("instant")
    assert (title(), title("u"), stub.requests) == ("Where is it?", "A question", [])


def test_only_threads_that_were_used_lately(stub: OpenAIStub) -> None:
    save(message("m1", "Where is it?"))
    Thread.objects.update(updated_at=timezone.now() - timedelta(hours=30))
    assert run() == "Threads that were given a title: 0"
    assert run(hours=31) == "Threads that were given a title: 1"


def test_many_threads_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.management.commands.generate_titles.BATCH", 3)
    save(*(message(f"m{number}", f"Question {number}", thread=f"t{number}") for number in range(10)))
    assert run("instant") == "Threads that were given a title: 10"
    assert {thread.title for thread in Thread.objects.all()} == {f"Question {number}" for number in range(10)}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"agent": "nobody"}, "no agent 'nobody'"),
        ({"agent": "default"}, "`generate_title` off"),
        ({"hours": 1e12}, "beyond the calendar"),
        ({"hours": float("nan")}, "beyond the calendar"),
    ],
)
def test_what_cannot_be_done_is_told(options: dict[str, Any], text: str) -> None:
    with pytest.raises(CommandError, match=text):
        run(**options)
