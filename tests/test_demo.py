"""`manage.py demo`: the main job for a newcomer, twice."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from memory.models import Embedding, EmbeddingJob, Message, Resource, Thread
from project.management.commands.demo import interpreter

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


def run() -> str:
    call_command("demo", stdout=(out := StringIO()))
    return out.getvalue()


def test_the_demo_shows_what_it_promises(settings: Settings) -> None:
    settings.MEMORY = {"EMBEDDERS": {"default": {"BACKEND": "memory.embedders.LocalEmbedder"}}}
    first = run()
    counts = [model.objects.count() for model in (Resource, Thread, Message, Embedding)]
    owners, threads, messages, vectors = counts
    assert owners == 3
    assert threads >= 15
    assert messages >= 300
    assert vectors >= messages - 30  # some messages hold nothing but a tool call
    assert EmbeddingJob.objects.count() == 0
    assert "Another message was expected" not in first
    for heading in ("newest page", "typed metadata", "date range", "with its neighbours"):
        assert heading in first
    for language in ("English", "Korean", "Chinese"):
        assert f"{language}, inside a thread" in first
        assert f"{language}, across the owner's threads" in first
    assert "\x1b" not in first
    assert f"{interpreter()} manage.py createsuperuser" in first

    dates = dict(Message.objects.values_list("uid", "created_at"))
    second = run()
    assert [model.objects.count() for model in (Resource, Thread, Message, Embedding)] == counts
    assert dict(Message.objects.values_list("uid", "created_at")) == dates
    assert second == first


@pytest.mark.parametrize(
    ("executable", "shown"),
    [(".venv/bin/python", ".venv/bin/python"), ("my env/bin/python", "'my env/bin/python'")],
)
def test_the_next_commands_name_the_running_python(
    executable: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / executable))
    assert interpreter() == shown
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    assert interpreter() == "/usr/bin/python3"
