"""Seed 004, "Behaviour", step by step; sync and async."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory import Memory
from memory.exceptions import ThreadNotFound, ThreadNotOwned
from memory.models import Message, Thread
from memory.processors import MessageHistory, MessageList, RequestContext
from tests.cases import at, message, numbered, save
from tests.processors import CONTEXT, Run, answered, asked, both_ways, content, ids, invocation, stored, texts

pytestmark = [pytest.mark.django_db, both_ways]


def test_the_name_and_the_id(run: Run) -> None:
    """The seed's return values; `last_messages` is all of them unless given."""
    processor = MessageHistory()
    assert (processor.id, processor.name) == ("message-history", "MessageHistory")
    assert (processor.last_messages, processor.storage) == (None, None)


def test_input_1_the_thread_comes_from_the_context(run: Run) -> None:
    """The context's thread; without one that of the list; without any nothing is read."""
    numbered(2)
    numbered(2, thread="u", prefix="u")
    history = MessageHistory()
    given = [asked("new")]
    assert texts(run(history, "process_input", given, request_context=CONTEXT)) == ["m1", "m2", "new"]
    other = RequestContext(thread_id="u", resource_id="r")
    assert texts(run(history, "process_input", given, request_context=other)) == ["u1", "u2", "new"]
    own = MessageList(thread_id="t", resource_id="r").add(given)
    assert texts(run(history, "process_input", [], message_list=own)) == ["m1", "m2", "new"]
    assert texts(run(history, "process_input", given)) == ["new"]


def test_input_1_an_empty_list_of_the_run_is_the_list_of_the_run(run: Run) -> None:
    numbered(1)
    own = MessageList(thread_id="t")
    assert run(MessageHistory(), "process_input", [asked("ignored")], message_list=own) is own
    assert texts(own) == ["m1"]


@pytest.mark.parametrize(
    ("last_messages", "expected"),
    [(2, ["m3", "m4"]), (9, ["m1", "m2", "m3", "m4"]), (0, []), (None, 4), (False, 4)],
)
def test_input_2_the_newest_messages_oldest_first(run: Run, last_messages: Any, expected: Any) -> None:
    """Read newest first, put in front oldest first; not given means all."""
    numbered(4)
    history = MessageHistory(last_messages=last_messages)
    found = texts(run(history, "process_input", [asked("new")], request_context=CONTEXT))
    wanted = ["m1", "m2", "m3", "m4"] if expected == 4 else expected
    assert found == [*wanted, "new"]


def test_input_2_more_than_the_default_of_an_agent(run: Run) -> None:
    """ "All" is all, not the 10 of an agent or the 40 of a store."""
    numbered(45)
    assert len(run(MessageHistory(), "process_input", [], request_context=CONTEXT)) == 45


def test_input_2_a_missing_thread_has_no_history(run: Run) -> None:
    found = run(MessageHistory(), "process_input", [asked("new")], request_context=CONTEXT)
    assert texts(found) == ["new"]
    assert not Thread.objects.exists()


def test_input_2_a_thread_of_another_owner_is_an_error(run: Run) -> None:
    """Contract 5: a failing history load raises."""
    numbered(1, resource="other")
    with pytest.raises(ThreadNotOwned):
        run(MessageHistory(), "process_input", [asked("new")], request_context=CONTEXT)


def test_input_3_system_messages_are_left_out(run: Run) -> None:
    """One that a row holds all the same, written past the verbs."""
    save(message("m1"))
    Message.objects.bulk_create(
        [Message(thread=Thread.objects.get(uid="t"), uid="s", role="system", content="rules")]
    )
    found = run(MessageHistory(), "process_input", [asked("new")], request_context=CONTEXT)
    assert texts(found) == ["m1", "new"]
    assert found.system == []


def test_input_4_no_id_twice(run: Run) -> None:
    """The stored copy stays; what a client sends again is neither moved nor doubled (case 13)."""
    save(
        message("u1", "first", created_at=at(1)), message("a1", "answer", role="assistant", created_at=at(2))
    )
    given = [asked("first, changed", "u1"), answered("answer", uid="a1"), asked("second", "u2")]
    found = run(MessageHistory(), "process_input", given, request_context=CONTEXT)
    assert ids(found) == ["u1", "a1", "u2"]
    assert texts(found) == ["first", "answer", "second"]


def test_input_4_a_clients_outcome_of_a_waiting_call_is_taken_over(run: Run) -> None:
    save(message("u1"), message("a1", content(invocation("c", "call")), role="assistant"))
    given = [{"id": "a1", "role": "assistant", "content": content(invocation("c", "result", result="sunny"))}]
    found = run(MessageHistory(), "process_input", given, request_context=CONTEXT)
    assert found["a1"].parts[0]["toolInvocation"]["result"] == "sunny"
    run(MessageHistory(), "process_output_result", [], message_list=found, request_context=CONTEXT)
    assert Message.objects.get(uid="a1").content["parts"][0]["toolInvocation"]["state"] == "result"


def test_input_5_history_is_tagged_as_memory(run: Run) -> None:
    numbered(2)
    found = run(MessageHistory(), "process_input", [asked("new")], request_context=CONTEXT)
    assert [message.source for message in found] == ["memory", "memory", "input"]
    assert texts(found.new) == ["new"]


def test_output_1_the_thread_comes_from_the_context(run: Run) -> None:
    """Nothing is stored without a context; a missing thread is made for its resource."""
    turn = [asked("Hello"), answered("Hi")]
    run(MessageHistory(), "process_output_result", turn)
    assert not Message.objects.exists()
    run(MessageHistory(), "process_output_result", turn, request_context=CONTEXT)
    assert stored() == [("user", "Hello"), ("assistant", "Hi")]
    assert Thread.objects.get(uid="t").resource.uid == "r"


def test_output_1_a_missing_thread_without_a_resource_is_an_error(run: Run) -> None:
    with pytest.raises(ThreadNotFound):
        run(
            MessageHistory(),
            "process_output_result",
            [asked("Hello")],
            request_context=RequestContext(thread_id="t"),
        )
    assert not Thread.objects.exists()


@pytest.mark.parametrize("where", ["agent", "run"])
def test_output_2_read_only_stores_nothing(run: Run, where: str) -> None:
    storage = Memory(read_only=True) if where == "agent" else Memory()
    config = {"read_only": True} if where == "run" else None
    context = RequestContext(thread_id="t", resource_id="r", thread_config=config)
    run(
        MessageHistory(storage), "process_output_result", [asked("a"), answered("b")], request_context=context
    )
    assert not Thread.objects.exists()


def test_output_3_incomplete_tool_calls_are_left_out(run: Run) -> None:
    """`partial-call`, and `call` without a result; a message of nothing else is not stored."""
    turn = [
        asked("weather?"),
        {"role": "assistant", "content": content("One moment", invocation("a", "call"))},
        {"role": "assistant", "content": content(invocation("b", "partial-call"))},
        {"role": "assistant", "content": content(invocation("c", "result", result=1))},
    ]
    run(MessageHistory(), "process_output_result", turn, request_context=CONTEXT)
    rows = Message.objects.filter(role="assistant").chronological()
    calls = [p["toolInvocation"] for row in rows for p in row.content["parts"] if p["type"] != "text"]
    assert stored()[:2] == [("user", "weather?"), ("assistant", "One moment")]
    assert [(call["toolCallId"], call["state"]) for call in calls] == [("c", "result")]


def test_output_3_pending_calls_are_kept_where_a_client_runs_them(run: Run) -> None:
    """`keep_pending_tool_calls`: a call in state `call` stays, one that is being written does not."""
    turn = [
        asked("weather?"),
        {"role": "assistant", "content": content(invocation("a", "call"), invocation("b", "partial-call"))},
    ]
    history = MessageHistory(keep_pending_tool_calls=True)
    run(history, "process_output_result", turn, request_context=CONTEXT)
    parts = Message.objects.get(role="assistant").content["parts"]
    assert [part["toolInvocation"]["toolCallId"] for part in parts] == ["a"]


def test_output_4_input_and_response_are_stored(run: Run) -> None:
    """Neither what was remembered nor the system's messages; in order, and once."""
    numbered(2)
    history = MessageHistory()
    turn = run(history, "process_input", [asked("new", "u")], request_context=CONTEXT)
    turn.add_system("rules").add(answered("answer", uid="a"), "response").add("for now", "context")
    for _ in range(2):
        run(history, "process_output_result", [], message_list=turn, request_context=CONTEXT)
    names = list(Message.objects.chronological().values_list("uid", flat=True))
    assert names == ["m1", "m2", "u", "a"]
    assert turn["u"].created_at == Message.objects.get(uid="u").created_at


def test_output_5_updated_at_rises(run: Run) -> None:
    numbered(1)
    before = Thread.objects.get(uid="t").updated_at
    run(MessageHistory(), "process_output_result", [asked("new")], request_context=CONTEXT)
    thread = Thread.objects.get(uid="t")
    assert thread.updated_at > before
    assert thread.last_message_at is not None
    assert thread.last_message_at - at(1) > timedelta(days=1)
