"""System checks: stable ids, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.core import checks
from pytest_django import Settings

from memory import Memory
from memory.models import EmbeddingSpace


def ids(**options: Any) -> list[str]:
    return [message.id or "" for message in checks.run_checks(**options) if "memory." in (message.id or "")]


@pytest.mark.smoke
def test_the_bundled_settings_are_clean() -> None:
    assert ids() == []


@pytest.mark.parametrize(
    ("memory", "expected", "told"),
    [
        ([], "memory.E001", "must be a dict"),
        ({"AGENT": {}}, "memory.E001", "AGENTS"),
        ({"MAX_TEXT": "1"}, "memory.E002", "MAX_TEXT"),
        ({"MAX_TOP_K": True}, "memory.E002", "MAX_TOP_K"),
        ({"MAX_PARTS": 0}, "memory.E002", "MAX_PARTS"),
        ({"EMBED": "later"}, "memory.E002", "'inline' or 'command'"),
        ({"AGENTS": []}, "memory.E002", "AGENTS"),
        ({"EMBEDDERS": {"default": None}}, "memory.E002", "EMBEDDERS"),
        ({"AGENTS": {"a": {"last_message": 3}}}, "memory.E003", "did you mean 'last_messages'"),
        ({"AGENTS": {"a": {"semantic_recall": {"top_k": 0}}}}, "memory.E003", "top_k"),
        ({"AGENTS": {"a": {"semantic_recall": True}}}, "memory.E004", "no embedder 'default'"),
        ({"EMBEDDERS": {"default": {"BACKEND": "no.such.Thing"}}}, "memory.E004", "no.such.Thing"),
        (
            {
                "EMBEDDERS": {
                    "default": {"BACKEND": "memory.embedders.OpenAIEmbedder", "OPTIONS": {"modl": 1}}
                }
            },
            "memory.E004",
            "modl",
        ),
    ],
)
def test_wrong_settings(settings: Settings, memory: Any, expected: str, told: str) -> None:
    settings.MEMORY = memory
    found = [message for message in checks.run_checks() if message.id == expected]
    assert any(told in f"{message.msg} {message.hint}" for message in found)


@pytest.mark.parametrize(
    ("options", "key", "expected"),
    [
        ({}, None, ["memory.W004"]),
        ({}, " ", ["memory.W004"]),
        ({"api_key": ""}, None, ["memory.W004"]),
        ({"api_key": "schlüssel"}, None, ["memory.W004"]),
        ({}, "from-the-environment", []),
        ({"api_key": "from-the-options"}, None, []),
        # A server of one's own seldom wants one.
        ({"base_url": "http://localhost:11434/v1"}, None, []),
    ],
)
def test_openai_without_a_key(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str],
    key: str | None,
    expected: list[str],
) -> None:
    if key is None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    else:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    embedder = {"BACKEND": "memory.embedders.OpenAIEmbedder", "OPTIONS": options}
    settings.MEMORY = {"EMBEDDERS": {"default": embedder}}
    found = [message for message in checks.run_checks() if "memory." in (message.id or "")]
    assert [message.id for message in found] == expected
    for message in found:
        assert "OPENAI_API_KEY" in message.msg or "characters" in message.msg
        assert "schlüssel" not in f"{message.msg} {message.hint}"


def test_dates_without_a_time_zone(settings: Settings) -> None:
    settings.USE_TZ = False
    assert ids() == ["memory.E006"]


def test_sqlite_without_a_write_ahead_log(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import connection

    if connection.vendor != "sqlite":
        pytest.skip("SQLite's options")
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {})
    assert ids() == ["memory.W001"]


@pytest.mark.django_db
def test_vectors_of_another_model(
    on_commit: Callable[..., AbstractContextManager[list[Callable[[], Any]]]],
) -> None:
    space = EmbeddingSpace.objects.create(alias="default", model="other", dimensions=32)
    assert ids(databases=["default"]) == []
    with on_commit():
        Memory().save_messages(
            [{"thread_id": "t", "role": "user", "content": "x"}], create_thread=True, resource_id="r"
        )
    space.refresh_from_db()
    assert (space.model, space.dimensions) == ("hash-64", 64)
    assert ids(databases=["default"]) == []
    EmbeddingSpace.objects.update(dimensions=32)
    assert ids(databases=["default"]) == ["memory.E005"]
    assert ids() == []


@pytest.mark.django_db
def test_vectors_of_an_embedder_that_is_gone(settings: Settings) -> None:
    EmbeddingSpace.objects.create(alias="gone", model="hash-64", dimensions=64)
    assert ids(databases=["default"]) == ["memory.W002"]
