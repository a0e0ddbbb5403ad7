"""Section D of the public bug reports: what comes back of a message's content."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from memory import Memory
from memory.exceptions import RecallError
from memory.models import Message
from tests.cases import at, found, message, names, save, uids

pytestmark = pytest.mark.django_db

PARTS: list[dict[str, Any]] = [
    {"type": "step-start"},
    {"type": "text", "text": "  kept as it came \n", "providerMetadata": {"openai": {"itemId": "msg_1"}}},
    {
        "type": "data-tool-call-suspended",
        "id": "d1",
        "data": {"toolCallId": "c", "runId": None, "n": [1, {}]},
    },
    {"type": "data-weather", "data": {"celsius": -3.5, "ok": False}, "transient": True},
    {
        "type": "reasoning",
        "reasoning": "hm",
        "details": [],
        "providerMetadata": {"openai": {"itemId": "rs_1"}},
    },
    {"type": "file", "mimeType": "image/png", "data": "data:image/png;base64,AAAA"},
    {"type": "a kind nobody knows", "nested": {"deep": [[[]]]}, "1a": 0},
    {
        "type": "tool-invocation",
        "toolInvocation": {
            "state": "output-error",
            "toolCallId": "c1",
            "toolName": "divide",
            "args": {"by": 0},
            "errorText": "division by zero",
        },
    },
    {"type": "tool-divide", "state": "output-error", "toolCallId": "c2", "input": {}, "errorText": "no"},
]


def reloaded(uid: str) -> Message:
    return Memory().get_messages([uid])[0]


def test_case_66_parts_come_back_unchanged() -> None:
    """Section 1: unknown keys and part types survive a round trip unchanged, data parts among them."""
    content = {"format": 2, "parts": PARTS, "reasoning": "top", "annotations": [1], "unknown": {"x": None}}
    save(message("m1", content, role="assistant"))
    assert reloaded("m1").content == content
    assert Memory().recall("t").messages[0].as_dict()["content"] == content
    save(message("m1", content, role="assistant"))
    Memory().update_messages([{"id": "m1", "content": {"metadata": {"k": 1}}}])
    assert reloaded("m1").content == {**content, "metadata": {"k": 1}}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part["type"])
def test_case_66_a_message_of_one_part(part: dict[str, Any]) -> None:
    """No kind of part is taken for no content; what was given is left as it was."""
    given = json.loads(json.dumps(part))
    save(message("m1", {"format": 2, "parts": [given]}), message("m2", [given]))
    assert given == part
    for uid in names(1, 2):
        assert reloaded(uid).content["parts"] == [part]


def test_case_62_a_failed_tool_stays_failed() -> None:
    """Saving halves of 62 and 65: state, error text and item references are those that were given."""
    save(message("m1", {"format": 2, "parts": PARTS}, role="assistant"))
    parts = Memory().recall("t").messages[0].content["parts"]
    assert parts[-2]["toolInvocation"]["state"] == parts[-1]["state"] == "output-error"
    assert parts[-2]["toolInvocation"]["errorText"] == "division by zero"
    kept = [part for part in parts if part["type"] != "reasoning"]
    Memory().update_messages([{"id": "m1", "content": {"parts": kept}}])
    assert reloaded("m1").content["parts"] == kept


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("a\x00b", "a\ufffdb"),
        ("\x00", "\ufffd"),
        ("a\ud83db", "a\ufffdb"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\U0001f600 \U00020000 \U0010ffff", "\U0001f600 \U00020000 \U0010ffff"),
        ("\ufffe\uffff\u2028\x01\x7f\u202e\r\n\t", "\ufffe\uffff\u2028\x01\x7f\u202e\r\n\t"),
        ("e\u0301 \u00e9 \u1112\u1161\u11ab \ud55c", "e\u0301 \u00e9 \u1112\u1161\u11ab \ud55c"),
        ("\\u0000 \\ud83d", "\\u0000 \\ud83d"),
    ],
)
def test_case_67_what_no_database_stores(given: str, stored: str) -> None:
    """Section 3: U+0000 and lone surrogates become U+FFFD everywhere; pairs and all else stay."""
    content = {
        "parts": [{"type": "text", "text": given}, {"type": "data-x", given: [given, {given: given}]}],
        "content": given,
        "metadata": {given: given, "deep": [{"k": given}]},
    }
    save(message("m1", content), message("m2", given), message("m3", [{"type": "text", "text": given}]))
    loaded = reloaded("m1")
    assert loaded.content["parts"] == [
        {"type": "text", "text": stored},
        {"type": "data-x", stored: [stored, {stored: stored}]},
    ]
    assert loaded.metadata == {stored: stored, "deep": [{"k": stored}]}
    assert {reloaded(uid).text for uid in names(1, 2, 3)} == {stored}
    Memory().update_messages([{"id": "m2", "content": {"content": given, "metadata": {"k": given}}}])
    assert (reloaded("m2").text, reloaded("m2").metadata) == (stored, {"k": stored})


@pytest.mark.parametrize("given", ["a\x00b", "a\ud83db"])
def test_case_67_titles_searches_and_filters(given: str, on_commit: Callable[..., Any]) -> None:
    """The same replacement on both sides: what was stored with it is found with it."""
    thread = Memory().create_thread("r", thread_id="t", title=given, metadata={"k": given})
    assert (thread.title, thread.metadata) == ("a\ufffdb", {"k": "a\ufffdb"})
    assert Memory().list_threads(metadata={"k": given}).total == 1
    Memory().update_thread("t", title=f"{given}!", metadata={given: given})
    loaded = Memory().get_thread("t")
    assert loaded is not None
    assert (loaded.title, loaded.metadata) == ("a\ufffdb!", {"k": "a\ufffdb", "a\ufffdb": "a\ufffdb"})
    with on_commit():
        save(message("m1", {"content": given, "metadata": {"k": given}}))
    assert found(given) == names(1)
    assert uids(Memory().recall("t", filter={"metadata": {"k": given}})) == names(1)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), {1: 2}, {1, 2}, b"bytes", object(), timezone.now(), 10**400],
    ids=["nan", "inf", "-inf", "number as key", "set", "bytes", "object", "date", "no double"],
)
def test_case_67_what_is_no_json(value: Any) -> None:
    """Section 3: refused, naming the path, wherever it stands; nothing of the call is stored."""
    places: list[tuple[Any, str]] = [
        ({"parts": [{"type": "data-x", "data": [value]}]}, "messages[1].content.parts[0].data[0]"),
        ({"parts": [], "content": "x", "metadata": {"k": value}}, "messages[1].content.metadata.k"),
        ({"parts": [], "content": "x", "extra": {"k": value}}, "messages[1].content.extra.k"),
    ]
    for content, path in places:
        with pytest.raises(RecallError) as caught:
            save(message("m1"), message("m2", content))
        assert all(issue.field.startswith(path) for issue in caught.value.issues), caught.value.issues
    with pytest.raises(RecallError):
        Memory().create_thread("r", thread_id="t", metadata={"k": value})
    assert Message.objects.count() == 0


def test_case_67_depth() -> None:
    """JSON deeper than 100 is refused; as deep as that is stored."""
    deep: Any = "end"
    for _ in range(98):
        deep = [deep]
    save(message("m1", {"parts": [], "content": "x", "metadata": {"k": deep}}))
    assert reloaded("m1").metadata == {"k": deep}
    for _ in range(2_000):
        deep = {"k": deep}
    for content in (
        {"parts": [], "content": "x", "metadata": deep},
        {"parts": [{"type": "d", "data": deep}]},
    ):
        with pytest.raises(RecallError):
            save(message("m1", content))


def test_case_68_alternative_answers_are_told_apart_by_metadata() -> None:
    """Section 5: all count as messages; a metadata filter picks a branch, on history and hits."""

    def answer(uid: str, branch: int, second: int) -> Any:
        content = {"content": "purple answer", "metadata": {"parent": "q", "branch": branch}}
        return message(uid, content, role="assistant", created_at=at(second))

    save(message("q", created_at=at(0)), answer("a1", 1, 1), answer("a2", 2, 2))
    result = Memory().recall("t")
    assert (uids(result), result.total) == (["a2", "a1", "q"], 3)
    for branch, expected in ((1, ["a1"]), (2, ["a2"]), (3, [])):
        result = Memory().recall("t", filter={"metadata": {"parent": "q", "branch": branch}})
        assert (uids(result), result.total) == (expected, len(expected))


def test_case_72_metadata_of_a_message_comes_back() -> None:
    """Section 1: `content.metadata` is the metadata, in every form of input, and survives a merge."""
    thread = Memory().create_thread("r", thread_id="t")
    instance = Message(uid="m3", thread=thread, role="user", content={"content": "x", "metadata": {"k": 1}})
    save(
        message("m1", {"format": 2, "parts": [], "content": "x", "metadata": {"k": 1}}),
        message("m2", {"content": "x", "metadata": {"k": 1, "createdAt": None}}, metadata={"ignored": 1}),
        instance,
    )
    for uid in names(1, 2, 3):
        assert reloaded(uid).metadata["k"] == reloaded(uid).content["metadata"]["k"] == 1
        assert "ignored" not in reloaded(uid).metadata
    change = {"content": "answered", "metadata": {"usage": {"tokens": 3}}}
    Memory().update_messages([{"id": "m1", "content": change}])
    assert reloaded("m1").metadata == {"k": 1, "usage": {"tokens": 3}}
    Memory().update_messages([{"id": "m1", "content": {"metadata": {"usage": {"cost": 1}, "k": None}}}])
    assert reloaded("m1").metadata == {"k": None, "usage": {"cost": 1}}
    assert reloaded("m1").text == "answered"
