"""Two copies of one message made one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory.processors.tool_calls import call_id, invocation_of, merge_call, rank

Part = dict[str, Any]
Content = dict[str, Any]

# What a client or a stream writes beside what a part says.
STAMPS = ("createdAt", "state")


def take_outcomes(base: Content, copy: Content) -> Content:
    """`base` with its calls as they are in `copy`, where that is further on, and nothing else of it."""
    latest = {call_id(part): part for part in copy["parts"] if call_id(part) is not None}
    parts = [
        merge_call(part, latest[call_id(part)])
        if call_id(part) in latest and rank(latest[call_id(part)]) > rank(part)
        else part
        for part in base["parts"]
    ]
    return base if parts == base["parts"] else _with_parts(base, parts)


def append(base: Content, news: Content) -> Content:
    """`base` continued by `news`: its own parts as they are now, where `news` has them all, or more parts."""
    base, news = spell_out(base), spell_out(news)
    before, after = base["parts"], news["parts"]
    if len(after) >= len(before) and all(map(_continues, before, after)):
        merged = [
            merge_call(old, new) if invocation_of(old) else new
            for old, new in zip(before, after, strict=False)
        ]
        return _joined(base, news, [*merged, *after[len(before) :]])
    return _joined(base, news, add_parts(before, after))


def add_step(base: Content, step: Content) -> Content:
    """`base` followed by one more step of the same turn."""
    base, step = spell_out(base), spell_out(step)
    begun = not base["parts"] or not step["parts"] or step["parts"][0]["type"] == "step-start"
    start = [] if begun else [{"type": "step-start"}]
    return _joined(base, step, [*base["parts"], *start, *step["parts"]])


def add_parts(before: Sequence[Part], after: Sequence[Part]) -> list[Part]:
    """`before`, with the calls that `after` knows more of, and the rest of `after` behind."""
    merged = list(before)
    for part in after:
        place = next(
            (
                n
                for n, old in enumerate(merged)
                if call_id(part) is not None and call_id(old) == call_id(part)
            ),
            None,
        )
        if place is None:
            merged.append(part)
        else:
            merged[place] = merge_call(merged[place], part)
    return merged


def spell_out(content: Content) -> Content:
    """`content` with its text in parts only: a mirror of the text hides what is added to it."""
    mirror = content.get("content")
    if not isinstance(mirror, str):
        return content
    rest = {key: value for key, value in content.items() if key != "content"}
    if mirror.strip() and not any(part["type"] == "text" for part in content["parts"]):
        rest["parts"] = [{"type": "text", "text": mirror}, *content["parts"]]
    return rest


def _joined(base: Content, news: Content, parts: list[Part]) -> Content:
    joined = _with_parts({**base, **news}, parts)
    if "metadata" in base or "metadata" in news:
        joined["metadata"] = {**(base.get("metadata") or {}), **(news.get("metadata") or {})}
    return joined


def _with_parts(content: Content, parts: list[Part]) -> Content:
    # The older format's mirror of the calls would tell of another state.
    return {key: value for key, value in content.items() if key != "toolInvocations"} | {"parts": parts}


def _continues(old: Part, new: Part) -> bool:
    """`new` is `old` as it is now: a text may have grown, a call may have come further."""
    if old["type"] != new["type"]:
        return False
    if invocation_of(old) is not None:
        return call_id(old) == call_id(new) and rank(new) >= 0
    for key in ("text", "reasoning"):
        if isinstance(old.get(key), str) and isinstance(new.get(key), str):
            return bool(new[key].startswith(old[key]))
    return _said(old) == _said(new)


def _said(part: Part) -> Part:
    return {key: value for key, value in part.items() if key not in STAMPS}
