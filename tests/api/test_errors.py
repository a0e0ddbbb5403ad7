"""What is wrong with a request is told as `{error, issues}`, and never as a 5xx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from django.core.cache import cache

from memory.exceptions import EmbedderError
from tests.api import Answer, Caller, ids, message
from tests.api.bodies import refused
from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db

SEMANTIC = {"semanticRecall": True}


@pytest.mark.smoke
def test_all_issues_of_a_stage_come_together_with_their_paths(staff: Caller) -> None:
    refused(
        staff.post("threads", {"title": 7, "metadata": "x", "threadId": ""}),
        "resourceId",
        "title",
        "metadata",
        "threadId",
    )
    refused(
        staff.get(
            "threads/t/messages",
            page="-1",
            perPage="1.5",
            orderBy={"field": "updatedAt"},
            filter={"dateRange": {"start": "soon"}, "metadata": {"a b": 1, "c": [1]}},
            include=[{"withNextMessages": -1}, 5],
            includeSystemReminders="yes",
        ),
        "page",
        "perPage",
        "orderBy.field",
        "filter.dateRange.start",
        "filter.metadata.a b",
        "filter.metadata.c",
        "include.0.id",
        "include.0.withNextMessages",
        "include.1",
        "includeSystemReminders",
    )
    refused(
        staff.post("threads/t/clone", {"options": {"messageLimit": -1, "messageFilter": {"startDate": "x"}}}),
        "options.messageLimit",
        "options.messageFilter.startDate",
    )
    refused(
        staff.post(
            "save-messages",
            {"messages": [{"role": "boss", "createdAt": "x"}, 7, message(None, "t", "r", id=5)]},
        ),
        "messages.0.threadId",
        "messages.0.resourceId",
        "messages.0.role",
        "messages.0.createdAt",
        "messages.0.content",
        "messages.1",
        "messages.2.id",
    )
    refused(staff.get("search"), "searchQuery", "resourceId")
    refused(
        staff.get("threads", metadata={"a": {"b": 1}}, orderBy={"direction": "UP"}),
        "metadata.a",
        "orderBy.direction",
    )


def test_the_query_answers_before_the_body_and_the_body_before_the_path(staff: Caller) -> None:
    refused(staff.post("threads/%00/clone", {"title": 7}, agentId=""), "agentId")
    refused(staff.post("threads/%00/clone", {"title": 7}), "title")
    refused(staff.post("threads/%00/clone", {}), "threadId")


def test_large_numbers_are_4xx(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r", 1)
    for number in (2**62, 2**63, 2**64, 10**30):
        for body in (
            {"page": number, "perPage": 5},
            {"perPage": number},
            {"include": [{"id": "t-1", "withNextMessages": number}]},
        ):
            assert staff.post("recall", {"threadId": "t", **body}).status == 400
        assert staff.get("threads/t/messages", page=number).status == 400
        assert staff.get("threads", page=number).status == 400
        dates = {"dateRange": {"start": number}}
        refused(staff.post("recall", {"threadId": "t", "filter": dates}), "filter.dateRange.start")
        ids(staff.get("threads", metadata={"n": number}))


@pytest.mark.parametrize("route", ["threads/t/messages", "threads", "recall"])
def test_pages_are_capped(staff: Caller, thread: Callable[..., str], settings: Any, route: str) -> None:
    thread("t", "r", 4)

    def ask(size: Any) -> Answer:
        if route == "recall":
            return staff.post(route, {"threadId": "t", "perPage": size})
        return staff.get(route, perPage=size)

    refused(ask(1_001), "perPage")
    assert ask(1_000).status == 200
    settings.MEMORY = {**settings.MEMORY, "HTTP_MAX_PER_PAGE": 2, "HTTP_MAX_UNPAGED": 3}
    refused(ask(3), "perPage")
    if route == "recall":
        refused(ask(False), "perPage")
        settings.MEMORY = {**settings.MEMORY, "HTTP_MAX_UNPAGED": 4}
        assert len(ids(ask(False))) == 4


@pytest.mark.smoke
def test_unknown_routes_and_methods_are_json(staff: Caller, nobody: Caller) -> None:
    for path in ("nothing", "threads/", "threads/t/", "threads//messages", "network/search", "", "recall/x"):
        for caller in (staff, nobody):
            answer = caller.get(path)
            assert (answer.status, answer.body) == (404, {"error": "There is no such route."})
    assert staff.post("nothing", {}).status == 404
    assert staff.send("PUT", "nothing", {}).status == 404
    for method, path, allowed in (
        ("PUT", "threads/t", "GET, PATCH, DELETE, HEAD"),
        ("POST", "threads/t", "GET, PATCH, DELETE, HEAD"),
        ("DELETE", "threads", "GET, POST, HEAD"),
        ("GET", "recall", "POST"),
        ("OPTIONS", "recall", "POST"),
        ("POST", "search", "GET, HEAD"),
        ("GET", "save-messages", "POST"),
    ):
        answer = staff.send(method, path, {})
        assert (answer.status, set(answer.body)) == (405, {"error"}), answer
        assert answer.headers["Allow"] == allowed


def test_unknown_agents_are_404_where_an_agent_is_needed(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r", 1)
    no = {"agentId": "no-such-agent"}
    asked = [
        staff.post("threads", {"resourceId": "r"}, **no),
        staff.patch("threads/t", {}, **no),
        staff.delete("threads/t", **no),
        staff.post("threads/t/clone", {}, **no),
        staff.post("save-messages", {"messages": []}, **no),
        staff.post("threads/t/working-memory", {"workingMemory": "x"}, **no),
        staff.get("search", resourceId="r", searchQuery="x", **no),
        staff.post("recall", {"threadId": "t", **no}),
        staff.get("observational-memory", resourceId="r", **no),
        staff.post("observational-memory/buffer-status", no),
    ]
    for answer in asked:
        assert (answer.status, answer.body) == (404, {"error": "There is no agent with this name."})
    assert staff.get("threads", **no).status == 200
    assert staff.get("threads/t", **no).status == 200
    assert staff.get("threads/t/messages", **no).status == 200
    assert staff.post("threads/t/transfer", {"resourceId": "r"}, **no).status == 200
    assert staff.post("messages/delete", {"messageIds": []}, **no).status == 200
    assert staff.get("status", **no).body == {"result": True}
    assert staff.get("config", **no).body == {"config": None}


def test_a_failing_embedder_is_503_with_retry_after(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r", 1)
    body = {"threadId": "t", "vectorSearchString": "x", "threadConfig": SEMANTIC}
    for error, wait in ((EmbedderError("secret text"), "10"), (EmbedderError("no", retry_after=2.5), "3")):
        with patch.object(HashEmbedder, "embed", side_effect=error):
            answers = [staff.post("recall", body)]
        for answer in answers:
            assert (answer.status, answer.headers["Retry-After"]) == (503, wait)
            assert answer.body == {"error": "The embedder failed. Try again later."}


def test_a_search_without_an_embedder_is_400(
    staff: Caller, thread: Callable[..., str], settings: Any
) -> None:
    thread("t", "r", 1)
    settings.MEMORY = {}
    answer = staff.post("recall", {"threadId": "t", "vectorSearchString": "x", "threadConfig": SEMANTIC})
    assert (answer.status, set(answer.body)) == (400, {"error"})


def test_too_many_requests_are_429(staff: Caller, thread: Callable[..., str], settings: Any) -> None:
    thread("t", "r", 1)
    settings.MEMORY = {**settings.MEMORY, "HTTP_THROTTLE_RATES": {"recall": "2/min"}}
    cache.clear()
    answers = [staff.post("recall", {"threadId": "t"}) for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert set(answers[2].body) == {"error"}
    assert 0 < int(answers[2].headers["Retry-After"]) <= 60
    assert staff.get("search", resourceId="r", searchQuery="x").status == 200
    cache.clear()


def test_unknown_fields_are_ignored_but_for_recall(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r", 2)
    odd = {"zzz": 1, "filter": 5}
    assert staff.post("threads", {"resourceId": "r", **odd}).status == 200
    assert (
        staff.post("threads/t/clone", {"options": {"x": 1, "messageFilter": {"y": [1]}}, **odd}).status == 200
    )
    config = {"observationalMemory": {"deep": {"x": 1}}, "semanticRecall": {"filter": {}, "topK": 1}}
    assert staff.get("search", resourceId="r", searchQuery="text", memoryConfig=config).status == 200
    query = {
        "filter": {"roles": ["user"], "metadata": {}},
        "orderBy": {"x": 1},
        "include": [{"id": "x", "y": 1}],
    }
    assert ids(staff.get("threads/t/messages", requestContext="!!", zzz="1", **query)) == ["t-1", "t-2"]
    order = {"field": "updatedAt", "x": 1, "": 2}
    assert "t" in ids(staff.get("threads", resourceId="r", orderBy=order))
    refused(
        staff.post(
            "recall", {"threadId": "t", "perPag": 1, "filter": {"roles": []}, "threadConfig": {"x": 1}}
        ),
        "perPag",
        "filter.roles",
        "threadConfig.x",
    )
    # The metadata of a message or thread is the caller's own, whatever its keys.
    made = staff.post("threads", {"resourceId": "r", "metadata": {"snake_case": 1}})
    assert made.body["metadata"] == {"snake_case": 1}


def test_observational_memory_is_off(staff: Caller) -> None:
    refused(staff.get("observational-memory", resourceId="r"), "agentId")
    refused(staff.get("observational-memory", limit="0", offset="-1"), "limit", "offset", "resourceId")
    refused(staff.post("observational-memory/buffer-status", {"agentId": "client"}), "agentId")
    refused(staff.post("observational-memory/buffer-status", {}), "agentId")


def test_errors_of_the_framework_are_left_to_the_site_elsewhere() -> None:
    from rest_framework.settings import api_settings

    assert api_settings.EXCEPTION_HANDLER.__module__ == "rest_framework.views"
