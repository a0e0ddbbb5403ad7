"""States of tool calls, and what is dropped before a message is stored (section 5)."""

from __future__ import annotations

from typing import Any

import pytest

from memory.processors.tool_calls import drop_incomplete, is_finished, is_pending, merge_call
from tests.processors.messages import call

PARTIAL, CALL, DONE = call("partial-call"), call("call"), call("result", uid="d", result=1)
TEXT = {"type": "text", "text": "Wait"}


def content(*parts: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """Format 2 with these parts."""
    return {"format": 2, "parts": list(parts), **keys}


@pytest.mark.parametrize(("keep_pending", "left"), [(False, [TEXT, DONE]), (True, [TEXT, CALL, DONE])])
def test_incomplete_calls_are_dropped(keep_pending: bool, left: list[dict[str, Any]]) -> None:
    """`partial-call` always, a call without its result unless a client is to run it; the mirror goes too."""
    given = content(TEXT, PARTIAL, CALL, DONE, toolInvocations=[PARTIAL["toolInvocation"]], metadata={"k": 1})
    assert drop_incomplete(given, keep_pending=keep_pending) == content(*left, metadata={"k": 1})
    assert len(given["parts"]) == 4
    whole = content(TEXT, DONE, toolInvocations=[DONE["toolInvocation"]])
    assert drop_incomplete(whole) == whole


def test_step_that_is_left_empty_is_none() -> None:
    """A client's messages begin every step with `step-start`; one alone is no message to store."""
    step = {"type": "step-start"}
    assert drop_incomplete(content(step, CALL))["parts"] == []
    assert drop_incomplete(content(step, TEXT, step, CALL, step, DONE))["parts"] == [step, TEXT, step, DONE]


def test_chain_of_items_with_one_missing_is_no_chain() -> None:
    """Case 65: what is left is sent whole, not as references to what the provider keeps."""
    item = {"openai": {"itemId": "fc_1"}, "other": {"k": 1}}
    reasoning = {
        "type": "reasoning",
        "reasoning": "Hm",
        "providerMetadata": {"openai": {"itemId": "rs_1", "k": 1}},
    }
    left = drop_incomplete(content(reasoning, {**CALL, "providerMetadata": item}))["parts"]
    assert left == [{**reasoning, "providerMetadata": {"openai": {"k": 1}}}]
    assert drop_incomplete(content(reasoning, CALL))["parts"] == [reasoning]


def test_merge_keeps_the_call() -> None:
    """Section 5: a result merges into its call and keeps the call's arguments."""
    result = call("result", result="sunny", args={"forged": True}, toolName="forged")
    merged = merge_call(
        {**CALL, "providerMetadata": {"a": {"x": 1}}}, {**result, "providerMetadata": {"b": {"y": 2}}}
    )
    assert merged == {**call("result", result="sunny"), "providerMetadata": {"a": {"x": 1}, "b": {"y": 2}}}
    assert merge_call(merged, call("output-error", errorText="late")) == merged
    assert merge_call(merged, CALL) == merged


def test_arguments_that_are_still_being_written() -> None:
    """Of a partial call the latest arguments count."""
    assert merge_call(call("partial-call", args={}), CALL) == CALL
    assert merge_call(CALL, call("partial-call", args={})) == CALL


def test_preliminary_result_is_replaced_by_the_final_one() -> None:
    """A tool that shows its progress has not answered yet."""
    early = {**call("result", result="10 %"), "preliminary": True}
    assert (is_finished(early), is_pending(early)) == (False, True)
    merged = merge_call(merge_call(CALL, early), call("result", result="done"))
    assert merged == call("result", result="done")
    assert drop_incomplete(content(early))["parts"] == []
