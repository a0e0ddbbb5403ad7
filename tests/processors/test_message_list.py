"""The message list: sources, merge by id, order, system messages, what the user said last (section 5)."""

from __future__ import annotations

from typing import Any

import pytest

from memory import Memory
from memory.exceptions import RecallError
from memory.models import Message, Thread
from memory.processors.chat_message import Source
from memory.processors.message_list import MessageList
from memory.processors.openai_messages import to_openai
from tests.processors.messages import ids, said


def test_string_is_said_by_the_user_and_as_a_response_by_the_assistant() -> None:
    """The shortest form."""
    messages = MessageList().add("Hi").add(["How are you?"]).add("Well.", "response")
    assert [(m.role, m.text, m.source) for m in messages] == [
        ("user", "Hi", "input"),
        ("user", "How are you?", "input"),
        ("assistant", "Well.", "response"),
    ]


def test_views_by_source() -> None:
    """Issue 4: sources memory, input, response, context."""
    messages = MessageList("t")
    sources: list[Source] = ["memory", "input", "response", "context"]
    for source in sources:
        messages.add(said(source), source)
    views = [messages.memory, messages.input, messages.response, messages.context]
    assert [ids(view) for view in views] == [["memory"], ["input"], ["response"], ["context"]]
    assert (len(messages), "input" in messages, "other" in messages) == (4, True, False)
    messages.remove(["input", "unknown"])
    assert ids(messages) == ids(messages.all) == ["memory", "response", "context"]


def test_order_is_by_date_and_what_has_none_stands_behind() -> None:
    """Undated messages get their dates when they are stored, which is later than all dates there are."""
    messages = MessageList("t").add([said("new1"), said("new2")]).add(said("answer"), "response")
    messages.add([said("late", minute=3), said("early", minute=1)], "memory").add(said("dated", minute=2))
    assert ids(messages) == ["early", "dated", "late", "new1", "new2", "answer"]


@pytest.mark.django_db
def test_rows_of_equal_dates_stand_in_the_order_of_their_rows() -> None:
    """Section 2, rule 4: whatever the order in which a page and the hits of a search are added."""
    Memory().save_messages(
        [{**said(f"m{n}", minute=0), "thread_id": "t"} for n in range(4)], create_thread=True, resource_id="r"
    )
    rows = Memory().recall("t").chronological()
    messages = (
        MessageList("t", "r").add(said("m9", minute=0)).add(rows[2:], "memory").add(rows[1::-1], "memory")
    )
    assert ids(messages) == ["m0", "m1", "m2", "m3", "m9"]
    assert {(m.thread_id, m.resource_id) for m in messages} == {("t", "r")}


@pytest.mark.django_db
def test_row_is_read_without_a_query_and_shares_nothing(count_queries: Any) -> None:
    """Recalled rows have their thread and its owner loaded."""
    Memory().save_messages(
        [{**said("m1", metadata={"k": [1]}), "thread_id": "t"}], create_thread=True, resource_id="r"
    )
    [row] = Memory().recall("t").messages
    with count_queries(at_most=0):
        message = MessageList("t", "r").add(row, "memory")["m1"]
    assert message.as_dict() == {
        "id": "m1",
        "thread_id": "t",
        "resource_id": "r",
        "role": "user",
        "content": row.content,
        "created_at": row.created_at,
    }
    message.metadata["k"].append(2)
    message.parts[0]["text"] = "changed"
    assert (row.metadata, row.text, row.body["parts"][0]["text"]) == ({"k": [1]}, "Hello", "Hello")


def test_unsaved_instance_is_taken_as_what_it_says() -> None:
    """`save_messages` takes them too."""
    row = Message(uid="m1", thread=Thread(uid="t"), role="user", content="Hi")
    [message] = MessageList("t").add(row)
    assert (message.id, message.text, message.created_at) == ("m1", "Hi", None)


def test_what_goes_in_is_not_shared() -> None:
    """A caller may go on using its dicts, and change them."""
    given = said("m1", metadata={"k": [1]})
    messages = MessageList().add(given)
    given["content"]["parts"][0]["text"] = "other"
    given["content"]["metadata"]["k"].append(2)
    copied = messages["m1"].as_dict()
    copied["content"]["parts"].clear()
    assert (messages["m1"].text, messages["m1"].metadata) == ("Hello", {"k": [1]})


def test_other_threads_and_owners() -> None:
    """Recalled messages may be of any thread; what is said now is said here."""
    messages = MessageList("t", "r").add({**said("m1"), "threadId": "t2", "resource_id": "r2"}, "memory")
    assert (messages["m1"].thread_id, to_openai(messages)) == ("t2", [])
    sources: list[Source] = ["input", "response"]
    for source in sources:
        for name in ("thread_id", "resource_id"):
            with pytest.raises(RecallError) as caught:
                messages.add([said("m2"), {**said("m3"), name: "other"}], source)
            assert [issue.field for issue in caught.value.issues] == [f"messages[1].{name}"]
    assert ids(messages) == ["m1"]


def test_system_messages_stand_apart() -> None:
    """Section 5: the same text once, the text of a tag replaced, none from memory."""
    messages = MessageList("t").add_system("working memory", "wm").add_system("Be kind").add_system("Be kind")
    messages.add({"role": "system", "content": "Be brief"}).add_system("recalled", "recall")
    messages.add(said("s1", "old", role="system"), "memory").add_system("working memory 2", "wm")
    texts = [message.text for message in messages.system]
    assert texts == ["Be kind", "Be brief", "working memory 2", "recalled"]
    assert len(messages) == 0
    assert [turn["content"] for turn in to_openai(messages)] == texts
    with pytest.raises(RecallError, match="text: must be a string"):
        messages.add_system(1)  # type: ignore[arg-type]


def signal(uid: str, kind: str, text: str) -> dict[str, Any]:
    """A signal with a text."""
    message: dict[str, Any] = said(uid, text, role="signal", metadata={"signal": {"type": kind}})
    return message


def test_last_user_text() -> None:
    """Case 44: a signal of the user counts; what has no text, and a reminder, give way to what was before."""
    messages = MessageList("t")
    assert messages.last_user_text() is None
    messages.add(said("m1", "old", minute=0), "memory").add("green").add(signal("s1", "user", "purple"))
    messages.add(signal("s2", "system-reminder", "remember"))
    messages.add({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.b/c"}}]})
    messages.add(said("m2", "<system-reminder>now</system-reminder>")).add("answer", "response")
    messages.add({**said("m3", "elsewhere", minute=10**6), "thread_id": "t2"}, "memory")
    assert messages.last_user_text() == "purple"
    assert [turn["content"] for turn in to_openai(messages)][:3] == ["old", "green", "purple"]


def test_unknown_source() -> None:
    """The sources are those four."""
    with pytest.raises(RecallError, match="source"):
        MessageList().add("Hi", "user")  # type: ignore[arg-type]


def test_what_cannot_be_stored_is_replaced_on_the_way_in() -> None:
    """Case 67: so the prompt is the same before storing and after."""
    text = "a\x00b \ud83d 😀"
    [message] = MessageList().add({"role": "user", "content": text, "metadata": {"k": text}})
    assert (message.text, message.metadata) == ("a\ufffdb \ufffd 😀", {"k": "a\ufffdb \ufffd 😀"})
