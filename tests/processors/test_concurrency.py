"""Runs at the same time, in threads with connections of their own and real commits (issue 4)."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.db import connections

from memory import Memory
from memory.models import Embedding, Message, Thread, WorkingMemoryVersion
from memory.processors import RequestContext, WorkingMemory
from memory.processors.chat_message import ChatMessage
from memory.processors.titles import title_thread
from memory.recall.config import TitleConfig
from tests.cases import in_parallel
from tests.embedders.openai_stub import OpenAIStub, says
from tests.processors import CONTEXT, answered, stored, talk, title

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_fifty_merges_of_different_keys_lose_nothing(scope: Any) -> None:
    """Half by the model's tool, half by the Python verb; every version is kept, in one row of numbers."""
    options = {"enabled": True, "schema": {"type": "object"}, "scope": scope}
    memory = Memory(working_memory=options)
    memory.create_thread("r", thread_id="t")
    tool = WorkingMemory(memory)
    ids = {"thread_id": "t", "resource_id": "r"}
    outcomes = in_parallel(
        *(lambda n=n: tool.call({"memory": {f"k{n}": n}}, CONTEXT) for n in range(25)),
        *(lambda n=n: memory.update_working_memory({f"k{n}": n}, **ids) for n in range(25, 50)),
    )
    assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)], outcomes
    assert json.loads(memory.get_working_memory(**ids) or "") == {f"k{n}": n for n in range(50)}
    numbers = WorkingMemoryVersion.objects.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, 51))


def take_turn(number: int, *, barrier: threading.Barrier | None = None, **options: Any) -> None:
    """A turn with a tool step; all of them store at the same moment."""
    with Memory(semantic_recall=True, **options).turn(thread_id="t", resource_id="r") as turn:
        turn.user(f"question {number}")
        turn.messages()
        turn.response(answered(None, ("c", "look", "{}")))
        turn.tool_result("c", number)
        turn.response(f"answer {number}")
        if barrier is not None:
            barrier.wait(30)


@pytest.mark.parametrize("thread_exists", [True, False])
def test_turns_of_one_thread_are_each_contiguous(thread_exists: bool) -> None:
    """Two (here six) turns at once, also where they are the first of a new conversation: all are stored,
    none between question and answer of another, in the same order to every reader."""
    if thread_exists:
        Memory().create_thread("r", thread_id="t")
    barrier = threading.Barrier(6)
    outcomes = in_parallel(*(lambda n=n: take_turn(n, barrier=barrier) for n in range(6)))
    assert outcomes == [None] * 6
    said = [text for _, text in stored()]
    pairs = list(zip(said[::2], said[1::2], strict=True))
    assert sorted(pairs) == [(f"question {n}", f"answer {n}") for n in range(6)]
    dates = list(Message.objects.chronological().values_list("created_at", flat=True))
    assert dates == sorted(dates)
    assert Embedding.objects.count() == 12


def test_first_turns_at_once_make_one_title() -> None:
    in_parallel(*(lambda n=n: take_turn(n, generate_title=True) for n in range(4)))
    assert title() in [f"question {n}" for n in range(4)]
    assert Thread.objects.count() == 1


@pytest.mark.parametrize("by", ["a person", "another model"])
def test_a_title_written_while_the_model_thinks_is_not_touched(by: str, stub: OpenAIStub) -> None:
    def answer(request: Any) -> Any:
        Memory().update_thread("t", title=f"By {by}")
        connections.close_all()
        return says("By the model")(request)

    stub.chats.append(answer)
    memory = Memory(generate_title={"model": "m", "base_url": stub.url})
    talk(memory, said="Where is my parcel?")
    assert len(stub.asked("/chat/completions")) == 1
    assert title() == f"By {by}"


def test_titles_made_at_once_do_not_fight(stub: OpenAIStub) -> None:
    """The one that replaces its own instant title wins; nobody fails."""
    Memory().create_thread("r", thread_id="t")
    config = TitleConfig(model="m", base_url=stub.url)
    said = [
        ChatMessage(role="user", content={"format": 2, "parts": [{"type": "text", "text": "A question"}]})
    ]
    outcomes = in_parallel(*(lambda: title_thread("t", said, config) for _ in range(4)))
    assert outcomes == [None] * 4
    assert title() == "Well."
    assert len(stub.asked("/chat/completions")) == 1


def test_one_processor_serves_many_runs() -> None:
    """What belongs to a run stands in its list and its context."""
    tool = WorkingMemory(schema={"type": "object"})
    contexts = [RequestContext(thread_id=f"t{n}", resource_id=f"r{n}") for n in range(8)]
    in_parallel(*(lambda c=c: tool.call({"memory": {"who": c.resource_id}}, c) for c in contexts))
    for context in contexts:
        text = tool.process_input([], request_context=context).system[0].text
        assert f'"who":"{context.resource_id}"' in text
