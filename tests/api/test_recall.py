"""`POST recall`: the whole of a recall over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory.api import answers, bodies
from memory.models import Message, Thread
from tests.api import Caller, ids

pytestmark = pytest.mark.django_db

SEMANTIC = {"semanticRecall": {"topK": 1, "messageRange": {"before": 1, "after": 0}}}


@pytest.fixture(autouse=True)
def stored(ada: Caller, thread: Callable[..., str], on_commit: Any) -> None:
    with on_commit():
        thread("t", "ada", 12)
        thread("u", "ada", 3)
        thread("theirs", "bob", 3)


@pytest.mark.smoke
def test_the_default_is_the_newest_page(ada: Caller) -> None:
    answer = ada.post("recall", {"threadId": "t"})
    assert ids(answer) == [f"t-{number}" for number in range(12, 2, -1)]
    assert {name: value for name, value in answer.body.items() if name not in ("messages", "nextCursor")} == {
        "total": 12,
        "page": 0,
        "perPage": 10,
        "hasMore": True,
        "usage": None,
        "pendingEmbeddings": 0,
        "prevCursor": None,
    }
    assert isinstance(answer.body["nextCursor"], str)
    assert answer.body["messages"][0]["recall"] == {"sources": ["history"], "similarity": None}


@pytest.mark.smoke
def test_a_search_and_includes_say_why_messages_are_there(ada: Caller) -> None:
    answer = ada.post(
        "recall",
        {
            "threadId": "t",
            "resourceId": "ada",
            "vectorSearchString": "text 5",
            "threadConfig": SEMANTIC,
            "perPage": 1,
            "include": [{"id": "t-2", "withNextMessages": 1}, {"id": "theirs-1"}],
            "orderBy": {"field": "createdAt", "direction": "ASC"},
        },
    )
    reasons = {row["id"]: row["recall"] for row in answer.body["messages"]}
    assert list(reasons) == ["t-1", "t-2", "t-3", "t-4", "t-5"]
    assert [reason["sources"] for reason in reasons.values()] == [
        ["history"],
        ["include"],
        ["context"],
        ["context"],
        ["semantic"],
    ]
    assert reasons["t-5"]["similarity"] == pytest.approx(1)
    assert answer.body["usage"] == {"tokens": 2}
    assert answer.body["pendingEmbeddings"] == 0


def test_without_totals_nothing_is_counted(ada: Caller, count_queries: Any) -> None:
    with count_queries() as statements:
        answer = ada.post("recall", {"threadId": "t", "includeTotal": False})
    assert (answer.body["total"], answer.body["pendingEmbeddings"]) == (None, None)
    assert answer.body["hasMore"] is True
    assert not any("COUNT(" in sql for sql in statements)


def test_everything_and_nothing(ada: Caller) -> None:
    everything = ada.post("recall", {"threadId": "t", "perPage": False})
    assert (len(ids(everything)), everything.body["perPage"], everything.body["hasMore"]) == (
        12,
        False,
        False,
    )
    nothing = ada.post("recall", {"threadId": "t", "perPage": 0})
    assert (ids(nothing), nothing.body["total"], nothing.body["hasMore"]) == ([], 0, False)
    off = ada.post("recall", {"threadId": "t", "threadConfig": {"lastMessages": False}})
    assert ids(off) == []
    wrong = ada.post("recall", {"threadId": "t", "perPage": False, "page": 1})
    assert (wrong.status, wrong.fields) == (400, ["page"])


def test_null_means_not_given(ada: Caller) -> None:
    names = [name for name in bodies.RecallBody().fields if name not in ("threadId", "includeTotal")]
    body = dict.fromkeys(names)
    assert ada.post("recall", {"threadId": "t", **body}).body == ada.post("recall", {"threadId": "t"}).body
    assert ada.post("recall", {"threadId": None}).fields == ["threadId"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"perPage": True}, "perPage"),
        ({"perPage": "5"}, "perPage"),
        ({"perPage": -1}, "perPage"),
        ({"page": False}, "page"),
        ({"threadId": ""}, "threadId"),
        ({"filter": []}, "filter"),
        ({"filter": {"metadata": []}}, "filter.metadata"),
        ({"filter": {"metadata": None}}, "filter.metadata"),
        ({"filter": {"metadata": {"a-b": 1}}}, "filter.metadata.a-b"),
        ({"filter": {"date_range": {}}}, "filter.date_range"),
        ({"filter": {"dateRange": {"start": "2026-01-01T00:00:00"}}}, "filter.dateRange.start"),
        ({"include": {}}, "include"),
        ({"include": [{"id": "x", "with_next_messages": 1}]}, "include.0.with_next_messages"),
        ({"include": [{}]}, "include.0.id"),
        ({"orderBy": {"field": "updatedAt"}}, "orderBy.field"),
        ({"orderBy": {"direction": "asc"}}, "orderBy.direction"),
        ({"threadConfig": {"semanticRecall": {"topK": 0}}}, "threadConfig.semanticRecall.topK"),
        ({"threadConfig": {"semanticRecal": True}}, "threadConfig.semanticRecal"),
        ({"thread_id": "t"}, "thread_id"),
        ({"requestContext": {}}, "requestContext"),
        ({"": {}}, '""'),
        ({"filter": {"": {}}}, 'filter.""'),
        ({"includeTotal": None}, "includeTotal"),
        ({"includeTotal": 1}, "includeTotal"),
    ],
)
def test_bad_input_names_its_path(ada: Caller, change: dict[str, Any], field: str) -> None:
    answer = ada.post("recall", {"threadId": "t", **change})
    assert (answer.status, answer.fields) == (400, [field])


def test_unknown_names_are_told_what_was_meant(ada: Caller) -> None:
    answer = ada.post("recall", {"threadId": "t", "perpage": 1})
    assert answer.body["issues"] == [{"field": "perpage", "message": "is unknown; did you mean 'perPage'?"}]


def test_a_first_turn_searches_the_owners_other_threads(ada: Caller) -> None:
    body = {"threadId": "new", "vectorSearchString": "text 5", "threadConfig": SEMANTIC, "perPage": 0}
    assert "t-5" in ids(ada.post("recall", {**body, "resourceId": "ada"}))
    assert ada.post("recall", {"threadId": "new", "resourceId": "ada"}).status == 404
    assert ids(ada.post("recall", {"threadId": "new"})) == []


def test_answers_have_the_fields_their_serializers_declare(ada: Caller) -> None:
    """The shapes are written by the models and declared for the schema; both say the same."""
    thread = Thread.objects.select_related("resource").get(uid="t")
    assert set(answers.ThreadShape().fields) == set(thread.as_dict())
    message = Message.objects.select_related("thread__resource").get(uid="t-1")
    assert set(answers.MessageShape().fields) == {*message.as_dict(), "type"}
    answer = ada.post("recall", {"threadId": "t"}).body
    assert set(answers.RecallShape().fields) == set(answer)
    assert set(answers.RecalledMessageShape().fields) == {*answer["messages"][0], "type"}
