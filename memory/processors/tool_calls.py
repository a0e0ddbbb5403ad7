"""Tool calls: the states of a `tool-invocation` part, which never go back (contract section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

RANKS = {
    "partial-call": 0,
    "call": 1,
    "approval-requested": 2,
    "approval-responded": 3,
    "result": 4,
    "output-error": 4,
    "output-denied": 4,
}
FINAL_RANK = RANKS["result"]
# What the call itself says; an outcome never changes it.
CALL_KEYS = ("toolCallId", "toolName", "args")
STEP = {"type": "step-start"}
# The outcome of a call that somebody refused without giving a reason.
DENIED = "The call was denied."


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that waits for its result; `arguments` is what the model gave, parsed where it is JSON."""

    id: str
    name: str
    arguments: Any


def invocation_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call or result in a part; None if it holds none, or one in no known state."""
    call = part.get("toolInvocation") if part.get("type") == "tool-invocation" else None
    state = call.get("state") if isinstance(call, dict) else None
    return call if isinstance(state, str) and state in RANKS else None


def call_id(part: Mapping[str, Any]) -> str | None:
    """The id of the call in a part, if it holds one."""
    call = invocation_of(part)
    identifier = None if call is None else call.get("toolCallId")
    return identifier if isinstance(identifier, str) else None


def rank(part: Mapping[str, Any]) -> int:
    """How far a call has come; -1 for a part that is none. A preliminary result does not finish it."""
    call = invocation_of(part)
    if call is None:
        return -1
    reached = RANKS[call["state"]]
    if reached == FINAL_RANK and part.get("preliminary") is True:
        return FINAL_RANK - 1
    return reached


def is_finished(part: Mapping[str, Any]) -> bool:
    """There is a result, an error or a denial."""
    return rank(part) == FINAL_RANK


def is_pending(part: Mapping[str, Any]) -> bool:
    """The call is complete and waits for its outcome."""
    return 0 < rank(part) < FINAL_RANK


def has_call(part: Mapping[str, Any]) -> bool:
    """The part says which tool was called; a result that came without its call does not."""
    call = invocation_of(part)
    return call is not None and isinstance(call.get("toolName"), str) and call_id(part) is not None


def merge_call(base: dict[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """`update` of the same call taken into `base`: the call stays, the state only rises.

    Of two finished copies the base stays; of two that are not, the update.
    """
    if rank(update) < rank(base) or is_finished(base):
        return base
    call, news = invocation_of(base), invocation_of(update)
    if call is None or news is None:
        return base
    merged = {**call, **{key: value for key, value in news.items() if key not in CALL_KEYS}}
    for key in CALL_KEYS:
        # The arguments of a call that is still being written are those of its latest copy.
        if key in news and (key not in call or (key == "args" and call["state"] == "partial-call")):
            merged[key] = news[key]
    rest = {key: value for key, value in update.items() if key not in ("toolInvocation", "providerMetadata")}
    result = {**base, **rest, "toolInvocation": merged}
    if not update.get("preliminary"):
        result.pop("preliminary", None)
    known, new = base.get("providerMetadata"), update.get("providerMetadata")
    if not isinstance(new, dict) or not (known is None or isinstance(known, dict)):
        return result
    return {**result, "providerMetadata": {**new, **(known or {})}}


def pending_calls(parts: Iterable[Mapping[str, Any]]) -> list[ToolCall]:
    """The calls among `parts` that wait for their results, in order."""
    return [
        ToolCall(call["toolCallId"], call["toolName"], call.get("args"))
        for part in parts
        if is_pending(part) and has_call(part) and (call := invocation_of(part)) is not None
    ]


def drop_incomplete(content: Mapping[str, Any], *, keep_pending: bool = False) -> dict[str, Any]:
    """Format-2 content without the calls that are not finished (contract section 5).

    Args:
        content: stays as it is.
        keep_pending: keep calls that wait for their results, for tools that a client runs.

    What refers to a provider's copy of a dropped part goes with it (case 65): a provider refuses a chain
    of items in which one is missing, so the parts that are left lose their item ids and are sent whole.
    """
    kept = [part for part in content["parts"] if _is_kept(part, keep_pending=keep_pending)]
    if len(kept) == len(content["parts"]):
        return dict(content)
    dropped = [part for part in content["parts"] if not _is_kept(part, keep_pending=keep_pending)]
    if any(_has_item_id(part) for part in dropped):
        kept = [_without_item_ids(part) for part in kept]
    # A step that is left with nothing is none.
    kept = [
        part
        for part, following in pairwise([*kept, STEP])
        if part["type"] != "step-start" or following["type"] != "step-start"
    ]
    # The older format's mirror of the calls would bring them back.
    return {key: value for key, value in content.items() if key != "toolInvocations"} | {"parts": kept}


def _is_kept(part: Mapping[str, Any], *, keep_pending: bool) -> bool:
    return invocation_of(part) is None or is_finished(part) or (keep_pending and is_pending(part))


def _has_item_id(part: Mapping[str, Any]) -> bool:
    providers = part.get("providerMetadata")
    return isinstance(providers, dict) and any(
        isinstance(entry, dict) and "itemId" in entry for entry in providers.values()
    )


def _without_item_ids(part: dict[str, Any]) -> dict[str, Any]:
    if not _has_item_id(part):
        return part
    providers = {
        name: {key: value for key, value in entry.items() if key != "itemId"}
        if isinstance(entry, dict)
        else entry
        for name, entry in part["providerMetadata"].items()
    }
    return {**part, "providerMetadata": providers}
