"""What an outage of the database or the embedder costs, and how a conflict that does not end is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import pytest
from django.db import InterfaceError, OperationalError

from memory import Memory
from memory.db.transactions import RowsMoved
from memory.embedders import EmbedResult
from memory.exceptions import WriteConflict
from memory.models import EmbeddingJob, Message
from tests.api import Caller
from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("failure", [OperationalError, InterfaceError])
def test_a_database_that_is_away_is_503_in_json(
    staff: Caller, failure: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    """While the caller is being looked up, too: no other exception leaves a view (section 6)."""
    for target in ("memory.api.base.access_of", "rest_framework.views.APIView.perform_authentication"):
        with patch(target, side_effect=failure("connection refused")):
            answer: Any = staff.get("threads")
        assert answer.status == 503
        assert answer.body == {"error": "The database cannot be reached. Try again later."}
        assert answer.headers["Retry-After"] == "10"
    assert "connection refused" in caplog.text


@pytest.mark.parametrize(("failure", "most"), [(ConnectionError, 1), (RuntimeError, 40)])
def test_an_embedder_that_is_down_is_not_asked_text_by_text(
    failure: type[Exception],
    most: int,
    embedder: HashEmbedder,
    on_commit: Callable[..., AbstractContextManager[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def fail(texts: Sequence[str]) -> EmbedResult:
        asked.append(len(texts))
        raise failure

    monkeypatch.setattr(embedder, "embed", fail)
    with on_commit():
        Memory().save_messages(
            [{"thread_id": "t", "role": "user", "content": f"text {n}"} for n in range(256)],
            create_thread=True,
            resource_id="r",
        )
    assert 1 <= len(asked) <= most
    assert EmbeddingJob.objects.count() == 256


def test_rows_that_move_each_time_are_a_conflict(staff: Caller) -> None:
    Memory().create_thread("r", thread_id="t")
    message = {"threadId": "t", "resourceId": "r", "role": "user", "content": "x"}
    with patch("memory.managers.saving.attach_threads", side_effect=RowsMoved):
        with pytest.raises(WriteConflict):
            Memory().save_messages([message])
        answer = staff.post("save-messages", {"messages": [message]})
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
    assert Message.objects.count() == 0


def test_a_page_above_the_cap_is_refused_in_the_thread_config_too(staff: Caller, settings: Any) -> None:
    settings.MEMORY = {**settings.MEMORY, "HTTP_MAX_PER_PAGE": 20}
    Memory().create_thread("r", thread_id="t")
    answer = staff.post("recall", {"threadId": "t", "threadConfig": {"lastMessages": 21}})
    assert (answer.status, answer.fields) == (400, ["threadConfig.lastMessages"])
    assert staff.post("recall", {"threadId": "t", "threadConfig": {"lastMessages": 20}}).status == 200


def test_broken_json_is_told_before_a_wrong_query(staff: Caller) -> None:
    answer = staff.client.generic(
        "POST", "/api/memory/threads?agentId=", "{broken", content_type="application/json"
    )
    assert [issue["field"] for issue in answer.json()["issues"]] == ["body"]
