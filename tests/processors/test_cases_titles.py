"""Cases 82 to 84 of the public bug reports: titles, by the instant way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from tests.cases import message, save
from tests.processors import title

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.embedders.openai_stub import OpenAIStub

pytestmark = pytest.mark.django_db


def turn(memory: Memory, said: str, answer: str = "answer") -> None:
    with memory.turn(thread_id="t", resource_id="r") as run:
        run.user(said)
        run.messages()
        run.response(answer)


def test_case_82_a_thread_made_before_gets_a_title() -> None:
    memory = Memory(generate_title=True)
    memory.create_thread("r", thread_id="t")
    turn(memory, "Where is my parcel? I need it.")
    assert title() == "Where is my parcel?"


def test_case_82_a_title_of_a_person_is_not_touched() -> None:
    memory = Memory(threads={"generate_title": True})
    memory.create_thread("r", thread_id="t", title="T")
    turn(memory, "Where is my parcel?")
    assert title() == "T"


@pytest.mark.parametrize("off", [None, False])
def test_case_82_off_means_none(off: Any) -> None:
    turn(Memory() if off is None else Memory(generate_title=off), "Where is my parcel?")
    assert title() == ""


@pytest.mark.parametrize("last_messages", [False, 10])
def test_case_83_a_title_is_made_once(
    last_messages: Any, stub: OpenAIStub, on_commit: Callable[..., Any]
) -> None:
    """History off or on: two turns, one call of the model."""
    config = {"model": "m", "base_url": stub.url}
    memory = Memory(last_messages=last_messages, generate_title=config)
    for said in ("Where is my parcel?", "And the bill, please?"):
        with on_commit():
            turn(memory, said)
    assert title() == "Well."
    assert len(stub.asked("/chat/completions")) == 1


def test_case_84_the_prompt_of_a_title_holds_nothing_of_other_threads(
    stub: OpenAIStub, on_commit: Callable[..., Any]
) -> None:
    with on_commit():
        save(message("x", "elephants and cars", thread="other"))
    memory = Memory(semantic_recall={"message_range": 0}, generate_title={"model": "m", "base_url": stub.url})
    with on_commit(), memory.turn(thread_id="t", resource_id="r") as run:
        run.user("cars")
        assert "elephants" in str(run.messages())
        run.response("Which ones?")
    (body,) = stub.asked("/chat/completions")
    assert "elephants" not in str(body)
    assert body["messages"][1]["content"] == "User: cars\nAssistant: Which ones?"


@pytest.mark.parametrize("last_messages", [0, 1, 10])
def test_case_84_min_messages_counts_those_of_the_thread(
    last_messages: int, on_commit: Callable[..., Any]
) -> None:
    """Neither foreign ones, nor only those of the window."""
    with on_commit():
        save(*(message(f"x{number}", "cars", thread="other") for number in range(5)))
    memory = Memory(last_messages=last_messages, semantic_recall=True, generate_title={"min_messages": 4})
    turn(memory, "A question of cars")
    assert title() == ""
    turn(memory, "Another question of cars")
    assert title() != ""
