"""`GET search`: what it asks, and how its results look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from memory import Memory
from memory.exceptions import ThreadNotFound
from memory.models import Message
from memory.recall import SearchHit, SearchResult
from tests.api import Caller

pytestmark = pytest.mark.django_db

QUERY = {"resourceId": "r", "searchQuery": "text"}


def answering(scope: Any, *found: tuple[str, list[str], list[str]], limit: int = 20) -> Any:
    """`Memory.search` replaced by one that finds (hit, before, after) ids."""

    def messages(*uids: str) -> list[Message]:
        return list(Message.objects.with_ids(uids).select_related("thread__resource").chronological())

    hits = [
        SearchHit(
            message=messages(uid)[0],
            thread_title="Title",
            snippet="text",
            context_before=messages(*before),
            context_after=messages(*after),
            similarity=0.5,
        )
        for uid, before, after in found
    ]
    result = SearchResult(
        results=hits, count=len(hits), query="text", search_scope=scope, search_type="semantic"
    )
    return patch.object(Memory, "search", return_value=result)


def test_neighbours_stand_around_hits_of_a_resource(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r", 5)
    with answering("resource", ("t-3", ["t-2"], ["t-4"]), ("t-5", [], [])) as search:
        answer = staff.get("search", **QUERY, limit=7, threadId="t").body
    assert search.call_args.kwargs == {"resource_id": "r", "thread_id": "t", "limit": 7}
    assert {name: answer[name] for name in ("count", "query", "searchScope", "searchType")} == {
        "count": 2,
        "query": "text",
        "searchScope": "resource",
        "searchType": "semantic",
    }
    hit, lonely = answer["results"]
    assert hit == {
        "id": "t-3",
        "role": "user",
        "content": "text 3",
        "createdAt": "2026-01-01T00:00:03.000Z",
        "threadId": "t",
        "threadTitle": "Title",
        "context": {
            side: [
                {
                    "id": f"t-{number}",
                    "role": "user",
                    "content": f"text {number}",
                    "createdAt": f"2026-01-01T00:00:0{number}.000Z",
                }
            ]
            for side, number in (("before", 2), ("after", 4))
        },
    }
    assert "context" not in lonely


def test_neighbours_are_results_in_one_thread(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r", 5)
    found = [("t-4", ["t-3"], ["t-5"]), ("t-2", ["t-1"], ["t-3"])]
    with answering("thread", *found):
        everything = staff.get("search", **QUERY).body
        few = staff.get("search", **QUERY, limit=2).body
    assert [row["id"] for row in everything["results"]] == ["t-5", "t-4", "t-3", "t-2", "t-1"]
    assert (everything["count"], few["count"]) == (5, 2)
    assert [row["id"] for row in few["results"]] == ["t-5", "t-4"]
    assert not any("context" in row for row in everything["results"])


@pytest.mark.parametrize(("semantic", "kind"), [(True, "semantic"), (False, "text")])
def test_an_unknown_thread_is_an_empty_one(staff: Caller, semantic: bool, kind: str) -> None:
    with patch.object(Memory, "search", side_effect=ThreadNotFound("nosuch")):
        answer = staff.get("search", **QUERY, threadId="nosuch", memoryConfig={"semanticRecall": semantic})
    assert answer.body == {
        "results": [],
        "count": 0,
        "query": "text",
        "searchScope": "thread",
        "searchType": kind,
    }


def test_options_of_the_request_are_laid_over_the_agents(staff: Caller) -> None:
    seen: list[Any] = []

    def search(self: Memory, query: str, **more: Any) -> SearchResult:
        seen.append(self.config().semantic_recall)
        return SearchResult(results=[], count=0, query=query, search_scope="resource", search_type="text")

    with patch.object(Memory, "search", search):
        staff.get("search", **QUERY, agentId="client", memoryConfig={"semanticRecall": {"topK": 7, "x": 1}})
    assert (seen[0].top_k, seen[0].before) == (7, 1)


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "x", "1001"])
def test_limits_are_checked(staff: Caller, limit: str) -> None:
    answer = staff.get("search", **QUERY, limit=limit)
    assert (answer.status, answer.fields) == (400, ["limit"])
