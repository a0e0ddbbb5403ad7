"""Clients that send the conversation again (case 13): what is stored is the base, however old it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory import Memory
from memory.models import Message
from memory.processors import MessageHistory, MessageList, RequestContext

pytestmark = pytest.mark.django_db

memory = Memory()
CONTEXT = RequestContext(thread_id="t", resource_id="ada")


def store(count: int) -> None:
    memory.save_messages(
        [
            {
                "id": f"m{n}",
                "thread_id": "t",
                "role": ("user", "assistant")[n % 2],
                "content": f"said {n}",
                "created_at": f"2026-01-01T00:00:{n:02}Z",
            }
            for n in range(count)
        ],
        create_thread=True,
        resource_id="ada",
    )


@pytest.mark.parametrize("last_messages", [0, 2, None])
def test_a_copy_beyond_the_window_does_not_write_over_the_stored_one(
    last_messages: int | None, count_queries: Callable[..., Any]
) -> None:
    store(5)
    run = MessageList(thread_id="t", resource_id="ada")
    run.add([{"id": "m0", "role": "user", "content": "forged"}, "and now?"])
    history = MessageHistory(last_messages=last_messages)
    with count_queries(at_most=3):
        history.process_input([], message_list=run, request_context=CONTEXT)
    assert [message.text for message in run][:1] == ["said 0"]
    assert run.all[-1].text == "and now?"
    history.process_output_result([], message_list=run, request_context=CONTEXT)
    assert Message.objects.get(uid="m0").text == "said 0"
    assert Message.objects.count() == 6


def test_what_the_client_knows_of_no_message_costs_no_query(count_queries: Callable[..., Any]) -> None:
    store(3)
    run = MessageList(thread_id="t", resource_id="ada").add("new")
    with count_queries(exactly=2):
        MessageHistory().process_input([], message_list=run, request_context=CONTEXT)


def test_an_id_of_another_thread_or_owner_is_not_shown() -> None:
    store(1)
    memory.create_thread("eve", thread_id="other")
    run = MessageList(thread_id="other", resource_id="eve").add({"id": "m0", "role": "user", "content": "x"})
    context = RequestContext(thread_id="other", resource_id="eve")
    MessageHistory().process_input([], message_list=run, request_context=context)
    assert [(message.text, message.source) for message in run] == [("x", "input")]


def test_an_empty_list_is_the_list_of_the_run() -> None:
    store(2)
    run = MessageList(thread_id="t", resource_id="ada")
    assert MessageHistory().process_input([], message_list=run) is run
    assert [message.id for message in run] == ["m0", "m1"]
