"""Prompts for any history, window, search and budget (contract section 5): no call without its result, no
result without its call, the budget kept, what has to stay there, the oldest gone first."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import Memory
from memory.embedding.worker import embed_messages
from memory.processors.budget import _cost, count_tokens
from tests.cases import at, message, save
from tests.processors import content, invocation, unpaired

pytestmark = pytest.mark.django_db

FINAL = ["result", "output-error", "output-denied"]
STATES = [*FINAL, "call", "partial-call"]
WORDS = st.sampled_from(["purple", "gold figs", "환불해 주세요 " * 4, "x" * 200, "ok", ""])
counter = itertools.count()


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[str, Any]]:
    """(role, content) of a thread: questions, answers, parallel calls whose results stand in the same row,
    in rows of their own behind it, further away, or nowhere, and results whose call nobody knows."""
    found: list[tuple[str, Any]] = []
    for turn in range(draw(st.integers(0, 6))):
        found.append(("user", draw(WORDS)))
        parts: list[Any] = [draw(WORDS)] if draw(st.booleans()) else []
        apart: list[tuple[str, Any]] = []
        for number in range(draw(st.integers(0, 3))):
            uid = f"c{number}" if draw(st.booleans()) else f"t{turn}c{number}"
            if draw(st.booleans()):
                parts.append(
                    invocation(uid, draw(st.sampled_from(STATES)), result={"n": number}, errorText="no")
                )
                continue
            parts.append(invocation(uid, "call"))
            call = {"toolInvocation": {"state": "result", "toolCallId": uid, "result": number}}
            if draw(st.booleans()):
                apart.append(("tool", content({"type": "tool-invocation", **call})))
        found.append(("assistant", content(*parts)))
        if draw(st.booleans()):
            found.append(("user", "meanwhile"))
        found += draw(st.permutations(apart))
        if draw(st.booleans()):
            found.append(("assistant", draw(WORDS)))
    return found


@settings(max_examples=40)
@given(
    history=rows(),
    window=st.integers(0, 12),
    reach=st.integers(0, 2),
    max_tokens=st.integers(1, 400),
    with_memory=st.booleans(),
)
def test_every_prompt(
    history: list[tuple[str, Any]], window: int, reach: int, max_tokens: int, with_memory: bool
) -> None:
    thread = f"t{next(counter)}"
    save(
        *(
            message(f"{thread}-{place}", said, thread=thread, role=role, created_at=at(place))
            for place, (role, said) in enumerate(history)
        ),
        message(f"{thread}-other", "purple plums", thread=f"{thread}-other"),
        resource=thread,
    )
    embed_messages("default")
    memory = Memory(
        last_messages=window,
        semantic_recall={"top_k": 20, "message_range": reach, "threshold": 0.5},
        working_memory={"enabled": with_memory},
    )
    prompts = []
    for limit in (None, max_tokens):
        with memory.turn(
            thread_id=thread, resource_id=thread, max_tokens=limit, thread_config={"read_only": True}
        ) as turn:
            turn.system("Be brief.")
            turn.user("purple?")
            prompts.append(turn.messages())
            assert turn.messages() == prompts[-1]
    whole, kept = prompts
    for prompt in prompts:
        assert unpaired(prompt) == []
        assert prompt[-1] == {"role": "user", "content": "purple?"}
        assert all(entry.get("content") or entry.get("tool_calls") for entry in prompt)
    system = [entry for entry in whole if entry["role"] == "system"]
    assert len(system) == 2 + with_memory
    assert kept[: len(system)] == whole[: len(system)] == system
    history_kept = kept[len(system) :]
    assert history_kept == whole[len(whole) - len(history_kept) :]
    fixed = _cost([*system, whole[-1]], count_tokens)
    assert _cost(kept, count_tokens) <= max(max_tokens, fixed)


def test_tokens_are_rather_too_many() -> None:
    """Without a tokenizer: one for each character beyond ASCII, a quarter for each in it (section 4)."""
    assert [count_tokens(text) for text in ("", "a", "abcd", "abcde", "환불", "a환")] == [0, 1, 1, 2, 2, 2]


def grow(turns: int, **options: Any) -> list[list[dict[str, Any]]]:
    """The prompts of a conversation that grows by a turn each time."""
    prompts = []
    for number in range(turns):
        with Memory(last_messages=1_000).turn(thread_id="t", resource_id="r", **options) as turn:
            turn.system("Be brief.")
            turn.user(f"question {number} " + "word " * (number % 5), id=f"u{number}")
            prompts.append(turn.messages())
            turn.response(
                {"role": "assistant", "content": None, "tool_calls": [call(number)]}, id=f"a{number}"
            )
            turn.tool_result(f"c{number}", {"n": number})
            prompts.append(turn.messages())
            turn.response(f"answer {number}")
    return prompts


def call(number: int) -> dict[str, Any]:
    function = {"name": "look", "arguments": '{"b": 1,  "a": 2}'}
    return {"id": f"c{number}", "type": "function", "function": function}


def changes(prompts: list[list[dict[str, Any]]]) -> int:
    """How often a prompt is not the beginning of the next."""
    return sum(after[: len(before)] != before for before, after in itertools.pairwise(prompts))


def test_one_prompt_is_the_beginning_of_the_next() -> None:
    """What was sent comes back from the database as the same bytes, steps with tools included."""
    prompts = grow(8)
    assert changes(prompts) == 0
    assert len(prompts[-1]) == 1 + 8 * 4 - 1


def test_a_budget_moves_the_beginning_seldom() -> None:
    """40 turns, of which some 12 fit: the beginning moves now and then, not with every turn."""
    prompts = grow(40, max_tokens=700)
    assert max(_cost(prompt, count_tokens) for prompt in prompts) <= 700
    assert len(prompts[-1]) < 60
    assert 0 < changes(prompts) <= 14
    assert all(prompt[0] == {"role": "system", "content": "Be brief."} for prompt in prompts)
    # The budget is made use of all the same.
    assert min(_cost(prompt, count_tokens) for prompt in prompts[60:]) > 700 * 0.55


def test_the_budget_counts_as_it_is_told() -> None:
    """`count`: any tokenizer; only what does not fit goes."""
    save(*(message(f"m{number}", "w " * 50, created_at=at(number)) for number in range(3)))
    for limit, expected in ((1, 1), (5, 1), (9, 1), (10, 2), (14, 2), (15, 3), (19, 3), (20, 4), (99, 4)):
        with Memory(read_only=True).turn(thread_id="t", max_tokens=limit, count=lambda text: 1) as turn:
            turn.user("x")
            assert len(turn.messages()) == expected, limit


@pytest.mark.parametrize("wrong", [0, -1, True, "5", 1.5])
def test_what_is_no_budget(wrong: Any) -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        Memory().turn(thread_id="t", max_tokens=wrong)
