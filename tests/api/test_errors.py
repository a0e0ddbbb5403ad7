"""What is wrong with a request is told as `{error, issues}`, and never as a 5xx."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from django.core.cache import cache

from memory.exceptions import EmbedderError
from memory.models import Message, Thread
from tests.api import Answer, Caller, ids, message
from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db

SEMANTIC = {"semanticRecall": True}


def refused(answer: Answer, *fields: str, status: int = 400) -> None:
    """The answer is an error whose issues name these fields."""
    assert answer.status == status, answer
    assert set(answer.body) == {"error", "issues"}
    assert isinstance(answer.body["error"], str)
    assert sorted(answer.fields) == sorted(fields), answer


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


@pytest.mark.smoke
@pytest.mark.parametrize(
    "data",
    [
        b"{bad",
        b"{} {}",
        b"\xff\xfe{}",
        b'{"resourceId": "\xe9"}',
        b'{"resourceId": "r", "metadata": {"x": NaN}}',
        b'{"resourceId": "r", "zzz": -Infinity}',
        b'{"resourceId": "r", "zzz": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"resourceId": "r", "zzz": ' + b"9" * 5_000 + b"}",
    ],
)
def test_a_body_that_is_no_json_is_400(staff: Caller, data: bytes) -> None:
    refused(staff.raw("POST", "threads", data), "body")
    assert not Thread.objects.exists()


@pytest.mark.parametrize("data", [b"null", b"[]", b'"text"', b"5", b"true"])
def test_a_body_that_is_no_object_is_400(staff: Caller, data: bytes) -> None:
    for path in ("threads", "save-messages", "messages/delete", "recall", "threads/t/clone"):
        refused(staff.raw("POST", path, data), "root")


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_body_of_another_type_is_400(staff: Caller, ada: Caller, content_type: str) -> None:
    for path in ("threads", "threads/t/clone", "recall"):
        refused(staff.raw("POST", path, b'{"resourceId": "r"}', content_type=content_type), "root")
    # With a session the form is looked at for its CSRF token before.
    ada.client.force_authenticate(None)
    ada.client.force_login(ada.user)
    refused(ada.raw("POST", "threads", b'{"resourceId": "ada"}', content_type=content_type), "root")


def test_a_missing_body_is_400_where_one_is_needed(staff: Caller, thread: Callable[..., str]) -> None:
    for path in ("threads", "save-messages", "messages/delete", "recall", "threads/t/transfer"):
        refused(staff.post(path), "root")
    thread("t", "r")
    assert staff.post("threads/t/clone").status == 200
    assert staff.patch("threads/t").status == 200


def test_a_body_without_its_length_is_400(staff: Caller, thread: Callable[..., str]) -> None:
    """It would be taken for a missing one, and a change for no change."""
    thread("t", "r")
    headers = {"transfer-encoding": "chunked"}
    for method, path in (("PATCH", "threads/t"), ("POST", "threads")):
        refused(Answer(staff.client.generic(method, f"/api/memory/{path}", headers=headers)), "root")


def test_a_charset_and_json_of_other_types_are_fine(staff: Caller) -> None:
    body = json.dumps({"resourceId": "r"}).encode()
    answer = staff.raw("POST", "threads", body, content_type="application/json; charset=utf-8")
    assert answer.status == 200


@pytest.mark.smoke
def test_too_large_a_body_is_413(staff: Caller, settings: Any) -> None:
    body = {"resourceId": "r", "title": "x" * 5_000_000}
    answer = staff.post("threads", body)
    assert (answer.status, set(answer.body)) == (413, {"error"})
    settings.MEMORY = {**settings.MEMORY, "HTTP_MAX_BODY": 20}
    assert staff.post("threads", {"resourceId": "r", "title": "x"}).status == 413
    assert staff.post("threads", {"resourceId": "r"}).status == 200
    assert Thread.objects.count() == 1


@pytest.mark.parametrize("depth", [99, 150, 900, 20_000])
def test_nesting_is_stored_or_refused(staff: Caller, thread: Callable[..., str], depth: int) -> None:
    thread("t", "r")
    text = '{"n":' * depth + '"x"' + "}" * depth
    shape = json.dumps(message("m", "t", "r")).replace('"format": 2', f'"metadata": {text}')
    for path, body in (
        ("threads", f'{{"resourceId": "r", "threadId": "new", "metadata": {text}}}'),
        (
            "save-messages",
            f'{{"messages": [{shape}]}}',
        ),
        ("recall", f'{{"threadId": "t", "threadConfig": {text}}}'),
        ("recall", f'{{"threadId": "t", "filter": {{"metadata": {text}}}}}'),
        ("recall", f'{{"threadId": "t", "include": [{text}], "zzz": {text}}}'),
        (
            "threads/t/working-memory",
            f'{{"workingMemory": "x", "memoryConfig": {{"workingMemory": {text}}}}}',
        ),
    ):
        answer = staff.raw("POST", path, body.encode())
        assert answer.status in (200, 400), answer
        if depth > 100 and path in ("threads", "save-messages"):
            assert answer.status == 400, answer


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none_are_400(staff: Caller, thread: Callable[..., str], value: str) -> None:
    thread("t", "r", 1)
    for path, body in (
        ("threads", f'{{"resourceId": "r", "metadata": {{"x": {value}}}}}'),
        ("recall", f'{{"threadId": "t", "perPage": {value}}}'),
        ("recall", f'{{"threadId": "t", "filter": {{"metadata": {{"x": {value}}}}}}}'),
        ("recall", f'{{"threadId": "t", "filter": {{"dateRange": {{"start": {value}}}}}}}'),
        ("recall", f'{{"threadId": "t", "threadConfig": {{"semanticRecall": {{"threshold": {value}}}}}}}'),
    ):
        assert staff.raw("POST", path, body.encode()).status == 400, (path, body)
    assert staff.get("threads/t/messages", page=value).status == 400
    assert staff.client.get(f'/api/memory/threads?metadata={{"x":{value}}}').status_code == 400


def test_what_cannot_be_stored_is_replaced_in_text_and_refused_in_ids(staff: Caller) -> None:
    bad = "a\x00b\ud800c"
    made = staff.post("threads", {"resourceId": "r", "threadId": "t", "title": bad, "metadata": {bad: bad}})
    assert made.body["title"] == "a\ufffdb\ufffdc"
    assert made.body["metadata"] == {"a\ufffdb\ufffdc": "a\ufffdb\ufffdc"}
    saved = staff.post("save-messages", {"messages": [message("m", "t", "r", bad)]})
    assert saved.body["messages"][0]["content"]["parts"][0]["text"] == "a\ufffdb\ufffdc"
    for body in ({"resourceId": bad}, {"resourceId": "r", "threadId": bad}):
        assert staff.post("threads", body).status == 400
    refused(staff.post("save-messages", {"messages": [message(bad, "t", "r")]}), "messages.0.id")
    refused(staff.post("recall", {"threadId": "t", bad: 1}), "a\ufffdb\ufffdc")
    assert (
        staff.post("recall", {"threadId": "t", "vectorSearchString": bad, "threadConfig": SEMANTIC}).status
        == 200
    )
    found = staff.get("search", resourceId="r", searchQuery="a\x00b")
    assert (found.status, found.body["query"]) == (200, "a\ufffdb")
    for path in ("threads/%00", "threads/a%00b/messages", "threads/%20"):
        refused(staff.get(path), "threadId")
    assert staff.get("threads/%FF%FE").status == 404
    assert staff.get("threads", resourceId="a\x00").status == 400


@pytest.mark.parametrize("wrong", [None, True, 5, 1.5, "text", [], [1], {}, {"a": 1}])
def test_wrong_types_are_4xx_everywhere(staff: Caller, thread: Callable[..., str], wrong: Any) -> None:
    """No field of any body makes the server fail, whatever stands in it."""
    thread("t", "r", 2)
    bodies: dict[str, dict[str, Any]] = {
        "threads": {"resourceId": "r", "threadId": "x", "title": "x", "metadata": {}},
        "save-messages": {"messages": [message("m", "t", "r")]},
        "messages/delete": {"messageIds": ["nosuch"]},
        "threads/t/clone": {
            "newThreadId": "n",
            "resourceId": "r",
            "title": "x",
            "metadata": {},
            "options": {},
        },
        "threads/t/transfer": {"resourceId": "r"},
        "threads/t/working-memory": {"workingMemory": "x", "resourceId": "r", "memoryConfig": {}},
        "observational-memory/buffer-status": {"agentId": "client"},
        "recall": {
            "threadId": "t",
            "resourceId": "r",
            "vectorSearchString": "x",
            "perPage": 1,
            "page": 0,
            "include": [],
            "filter": {},
            "orderBy": {},
            "threadConfig": SEMANTIC,
            "agentId": "client",
            "includeTotal": True,
            "cursor": None,
        },
    }
    for path, body in bodies.items():
        for name in body:
            answer = staff.post(path, {**body, name: wrong})
            assert answer.status < 500, (path, name, answer)
    for name in message("m", "t", "r"):
        answer = staff.post("save-messages", {"messages": [{**message("m", "t", "r"), name: wrong}]})
        assert answer.status < 500, (name, answer)
    for key in ("format", "parts", "content", "metadata", "toolInvocations"):
        content = {"parts": [{"type": "text", "text": "x"}], key: wrong}
        answer = staff.post("save-messages", {"messages": [message("m", "t", "r", content=content)]})
        assert answer.status < 500, (key, answer)
    for name in ("agentId", "resourceId", "metadata", "page", "perPage", "orderBy", "filter", "include"):
        for path in ("threads", "threads/t/messages", "threads/t", "search", "threads/t/working-memory"):
            query: dict[str, Any] = {"searchQuery": "x", "resourceId": "r", name: json.dumps(wrong)}
            assert staff.get(path, **query).status < 500


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


def test_several_thousand_messages_and_long_text_are_stored(
    staff: Caller, thread: Callable[..., str], settings: Any
) -> None:
    settings.MEMORY = {"HTTP_MAX_BODY": 50_000_000, "EMBEDDERS": {}}
    thread("t", "r")
    many = [message(f"m{number}", "t", "r", "x") for number in range(10_000)]
    assert len(staff.post("save-messages", {"messages": many}).body["messages"]) == 10_000
    refused(staff.post("save-messages", {"messages": [*many, many[0]]}), "messages")
    refused(
        staff.post("save-messages", {"messages": [message("long", "t", "r", "x" * 10_000_000)]}),
        "messages.0.content",
    )
    assert Message.objects.count() == 10_000


def test_observational_memory_is_off(staff: Caller) -> None:
    refused(staff.get("observational-memory", resourceId="r"), "agentId")
    refused(staff.get("observational-memory", limit="0", offset="-1"), "limit", "offset", "resourceId")
    refused(staff.post("observational-memory/buffer-status", {"agentId": "client"}), "agentId")
    refused(staff.post("observational-memory/buffer-status", {}), "agentId")


def test_errors_of_the_framework_are_left_to_the_site_elsewhere() -> None:
    from rest_framework.settings import api_settings

    assert api_settings.EXCEPTION_HANDLER.__module__ == "rest_framework.views"
