"""The routes of messages: pages, saving, deleting, search, working memory, status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory import Memory
from memory.models import Message
from tests.api import Caller, ids, message

pytestmark = pytest.mark.django_db

AGENT = {"agentId": "client"}


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("query", "first", "second"),
    [
        (AGENT, [4, 5], [2, 3]),
        ({**AGENT, "orderBy": {"direction": "DESC"}}, [4, 5], [2, 3]),
        ({**AGENT, "orderBy": {"field": "createdAt", "direction": "ASC"}}, [1, 2], [3, 4]),
        ({}, [1, 2], [3, 4]),
        ({"orderBy": {"direction": "ASC"}}, [1, 2], [3, 4]),
        ({"orderBy": {"direction": "DESC"}}, [5, 4], [3, 2]),
        ({"orderBy": "no json"}, [1, 2], [3, 4]),
        ({"agentId": "no-such-agent"}, [1, 2], [3, 4]),
        ({"agentId": "default"}, [4, 5], [2, 3]),
    ],
)
def test_the_order_of_pages_hangs_on_the_agent(
    staff: Caller, thread: Callable[..., str], query: dict[str, Any], first: list[int], second: list[int]
) -> None:
    thread("t", "r", 5)
    for prefix in ("", "network/"):
        path = f"{prefix}threads/t/messages"
        page = staff.get(path, perPage=2, **query)
        assert ids(page) == [f"t-{number}" for number in first]
        assert (page.body["total"], page.body["page"], page.body["perPage"]) == (5, 0, 2)
        assert (page.body["hasMore"], page.body["uiMessages"]) == (True, None)
        assert ids(staff.get(path, perPage=2, page=1, **query)) == [f"t-{number}" for number in second]
        assert staff.get(path, perPage=2, page=2, **query).body["hasMore"] is False


def test_messages_have_the_shape_of_the_wire(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r", 1)
    assert staff.get("threads/t/messages").body["messages"] == [
        {
            "id": "t-1",
            "role": "user",
            "createdAt": "2026-01-01T00:00:01.000Z",
            "threadId": "t",
            "resourceId": "r",
            "content": {"format": 2, "parts": [{"type": "text", "text": "text 1"}], "metadata": {"n": 1}},
        }
    ]
    assert staff.get("threads/t/messages").body["perPage"] == 40


@pytest.mark.parametrize("agent", [{}, AGENT])
def test_filters_and_includes(staff: Caller, thread: Callable[..., str], agent: dict[str, str]) -> None:
    thread("t", "r", 5)
    thread("u", "r", 3)

    def found(**query: Any) -> list[str]:
        return ids(staff.get("threads/t/messages", **query, **agent))

    assert found(filter={"metadata": {"n": 2}}) == ["t-2"]
    dates = {"start": "2026-01-01T00:00:02Z", "end": "2026-01-01T00:00:04.000Z", "endExclusive": True}
    assert found(filter={"dateRange": dates}) == ["t-2", "t-3"]
    assert found(filter={"dateRange": {"start": 1767225604000}}) == ["t-4", "t-5"]
    include = [{"id": "t-3", "withPreviousMessages": 1}, {"id": "u-2", "threadId": "u"}, {"id": "nosuch"}]
    assert sorted(found(perPage=0, include=include)) == ["t-2", "t-3", "u-2"]
    nothing = staff.get("threads/t/messages", perPage=0, **agent).body
    assert (nothing["messages"], nothing["total"], nothing["hasMore"]) == ([], 0, False)
    beyond = staff.get("threads/t/messages", perPage=2, page=9, **agent).body
    assert (beyond["messages"], beyond["total"], beyond["hasMore"]) == ([], 5, False)


@pytest.mark.smoke
def test_a_shown_date_includes_its_own_message(staff: Caller) -> None:
    """Microseconds are stored and milliseconds shown; a bound over the wire means its whole millisecond."""
    Memory().create_thread("r", thread_id="t")
    shape = {"thread_id": "t", "role": "user", "content": "x"}
    stamps = ["00.122999Z", "00.123000Z", "00.123999Z", "00.124000Z"]
    Memory().save_messages(
        [
            {**shape, "id": f"m{n}", "created_at": f"2026-01-01T00:00:{stamp}"}
            for n, stamp in enumerate(stamps)
        ]
    )
    shown = staff.get("threads/t/messages").body["messages"][2]["createdAt"]
    assert shown == "2026-01-01T00:00:00.123Z"

    def found(**dates: Any) -> list[str]:
        by_page = ids(staff.get("threads/t/messages", filter={"dateRange": dates}))
        order = {"direction": "ASC"}
        recalled = staff.post("recall", {"threadId": "t", "filter": {"dateRange": dates}, "orderBy": order})
        assert ids(recalled) == by_page
        return by_page

    assert found(end=shown) == ["m0", "m1", "m2"]
    assert found(end=shown, endExclusive=True) == ["m0"]
    assert found(start=shown) == ["m1", "m2", "m3"]
    assert found(start=shown, startExclusive=True) == ["m3"]
    assert found(start=shown, end=shown) == ["m1", "m2"]
    assert found(start=1767225600123, end=1767225600123.0) == ["m1", "m2"]


def test_system_reminders_are_hidden_from_agents(staff: Caller) -> None:
    staff.post("threads", {"resourceId": "r", "threadId": "t"})

    def told(uid: str, text: str, role: str = "user", **metadata: Any) -> dict[str, Any]:
        content = {"parts": [{"type": "text", "text": text}], "metadata": metadata}
        return message(uid, "t", "r", role=role, content=content)

    saved = staff.post(
        "save-messages",
        {
            "messages": [
                told("m1", "hello"),
                told("m2", "<system-reminder>be nice</system-reminder>"),
                told("m3", "x", systemReminder={}),
                told("m4", "x", dynamicAgentsMdReminder=None),
                told("m5", "x", "signal", signal={"type": "reactive"}),
                told("m6", "x", "signal", signal={"type": "user"}),
                told("m7", "<system-reminder>", "assistant"),
            ]
        },
    )
    assert len(ids(saved)) == 7
    hidden = staff.get("threads/t/messages", **AGENT)
    assert (ids(hidden), hidden.body["total"]) == (["m1", "m6", "m7"], 7)
    assert len(ids(staff.get("threads/t/messages", includeSystemReminders="true", **AGENT))) == 7
    assert len(ids(staff.get("threads/t/messages", includeSystemReminders="false", **AGENT))) == 3
    assert len(ids(staff.get("threads/t/messages"))) == 7
    assert len(ids(staff.post("recall", {"threadId": "t", **AGENT}))) == 7


@pytest.mark.smoke
def test_saving(staff: Caller) -> None:
    staff.post("threads", {"resourceId": "r", "threadId": "t"})
    parts = [{"type": "tool-call", "toolCallId": "c", "toolName": "f", "args": {"a": 1}}]
    saved = staff.post(
        "save-messages",
        {
            "messages": [
                message("m1", "t", "r", createdAt=1767225600000),
                message(None, "t", "r", content="plain", createdAt="2026-01-02T02:00:00+02:00", type="text"),
                message("m3", "t", "r", role="tool", content=parts),
                message("m4", "t", "r", role="system"),
            ],
            "agentId": "x",
            "requestContext": {},
        },
    )
    rows = saved.body["messages"]
    assert set(saved.body) == {"messages"}
    assert [row["createdAt"] for row in rows[:2]] == ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"]
    assert rows[1]["content"] == {
        "format": 2,
        "parts": [{"type": "text", "text": "plain"}],
        "content": "plain",
    }
    assert rows[1]["type"] == "text"
    assert (rows[2]["role"], rows[2]["content"]["parts"][0]["type"]) == ("assistant", "tool-invocation")
    assert ids(staff.get("threads/t/messages")) == [row["id"] for row in rows]
    assert staff.post("save-messages", {"messages": []}).body == {"messages": []}


def test_what_is_refused_is_not_stored(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r")
    thread("u", "other")
    good = message("good", "t", "r")
    for bad, status in (
        (message("bad", "t", "other"), 400),
        (message("bad", "u", "r"), 403),
        (message("bad", "nosuch", "r"), 404),
        (message("bad", "t", "r", createdAt="2026-01-01T00:00:00"), 400),
        (message("bad", "t", "r", role="boss"), 400),
        (None, 400),
    ):
        assert staff.post("save-messages", {"messages": [good, bad]}).status == status
        assert not Message.objects.exists()
    answer = staff.post("save-messages", {"messages": [good, message("bad", "t", "other")]})
    assert answer.fields == ["messages.1.resourceId"]


@pytest.mark.parametrize(
    "given", ["t-1", ["t-1"], {"id": "t-1", "role": "user"}, [{"id": "t-1"}, "nosuch"], ["t-1", "t-1"]]
)
def test_deleting(staff: Caller, thread: Callable[..., str], given: Any) -> None:
    thread("t", "r", 2)
    before = staff.get("threads/t").body["updatedAt"]
    answer = staff.post("messages/delete", {"messageIds": given})
    assert answer.body["success"] is True
    assert ids(staff.get("threads/t/messages")) == ["t-2"]
    assert staff.get("threads/t").body["updatedAt"] >= before
    assert staff.post("messages/delete", {"messageIds": given}, agentId="no-such-agent").body == answer.body
    assert (
        staff.post("messages/delete", {"messageIds": []}).body["message"] == "0 messages deleted successfully"
    )
    for wrong in ("", [""], 5, None, [5], [{}]):
        refused = staff.post("messages/delete", {"messageIds": wrong})
        assert refused.status == 400
        assert refused.fields[0].startswith("messageIds")


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_working_memory(staff: Caller, thread: Callable[..., str], scope: str) -> None:
    thread("t", "r")
    config = {"workingMemory": {"enabled": True, "scope": scope}, "observationalMemory": {"x": 1}}
    path = "threads/t/working-memory"
    body = {"workingMemory": "text", "resourceId": "r", "memoryConfig": config}
    assert staff.post(path, body, **AGENT).body == {"success": True}
    read = staff.get(path, resourceId="r", memoryConfig=config, **AGENT).body
    assert read == {
        "workingMemory": "text",
        "source": scope,
        "workingMemoryTemplate": {"format": "markdown", "content": "# Profile\n- **Name**:\n"},
        "threadExists": True,
    }
    elsewhere = staff.get("threads/nosuch/working-memory", resourceId="r", memoryConfig=config, **AGENT).body
    assert elsewhere["threadExists"] is False
    assert elsewhere["workingMemory"] == ("text" if scope == "resource" else None)
    assert staff.post("threads/nosuch/working-memory", body, **AGENT).status == 404
    assert staff.get(path, resourceId="other", **AGENT).status == 403
    assert staff.post(path, {**body, "resourceId": "other"}, **AGENT).status == 403


def test_working_memory_of_nobody(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r")
    path = "threads/t/working-memory"
    for query in ({}, {"resourceId": "undefined"}):
        refused = staff.get(path, **query, **AGENT)
        assert (refused.status, refused.fields) == (400, ["resourceId"])
    refused = staff.post(path, {"workingMemory": "x"}, **AGENT)
    assert (refused.status, refused.fields) == (400, ["resourceId"])
    off = staff.post(path, {"workingMemory": "x", "resourceId": "r"})
    assert (off.status, set(off.body)) == (400, {"error"})
    empty = {"workingMemory": None, "source": "thread", "workingMemoryTemplate": None, "threadExists": False}
    assert staff.get(path, agentId="no-such-agent", resourceId="r").body == empty


def test_the_template_of_a_schema_is_an_empty_example(staff: Caller, thread: Callable[..., str]) -> None:
    thread("t", "r")
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array"},
            "at": {"properties": {"n": {}}},
        },
    }
    config = {"workingMemory": {"enabled": True, "schema": schema}}
    answer = staff.get("threads/t/working-memory", resourceId="r", memoryConfig=config).body
    example = '{"name": "", "tags": [], "at": {"n": null}}'
    assert answer["workingMemoryTemplate"] == {"format": "json", "content": example}


def test_status_and_config(staff: Caller) -> None:
    assert staff.get("status", resourceId="r", threadId="x", **AGENT).body == {
        "result": True,
        "memoryType": "local",
    }
    config = staff.get("config", **AGENT).body["config"]
    assert config["lastMessages"] == 10
    assert config["semanticRecall"]["topK"] == 3
    assert config["workingMemory"]["enabled"] is True
    assert staff.get("config").body["config"]["semanticRecall"] is False
    assert staff.get("network/status", **AGENT).status == 200


@pytest.mark.smoke
def test_search(staff: Caller, thread: Callable[..., str], on_commit: Any) -> None:
    with on_commit():
        thread("t", "r", 3)
    config = {"semanticRecall": {"topK": 1, "messageRange": 0}}
    found = staff.get("search", resourceId="r", searchQuery="text 2", memoryConfig=config).body
    assert (found["count"], found["query"], found["searchType"]) == (1, "text 2", "semantic")
    assert found["searchScope"] == "resource"
    hit = found["results"][0]
    assert (hit["id"], hit["role"], hit["content"], hit["threadId"]) == ("t-2", "user", "text 2", "t")
    assert (hit["threadTitle"], hit["createdAt"]) == ("Title of t", "2026-01-01T00:00:02.000Z")
    words = staff.get("search", resourceId="r", searchQuery="text", limit=2).body
    assert [row["id"] for row in words["results"]] == ["t-3", "t-2"]
    assert words["searchType"] == "text"
