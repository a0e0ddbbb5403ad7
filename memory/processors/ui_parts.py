"""Parts of a message, between format 2 and the AI SDK's UI messages (version 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memory.processors.tool_calls import DENIED

# What the UI format has no field for travels under this name in the metadata it does have.
OWN = "format2"
# A part without any counterpart travels whole in a data part.
WRAPPER = "data-format2"

UI_STATES = {
    "partial-call": "input-streaming",
    "call": "input-available",
    "result": "output-available",
    "output-error": "output-error",
    # Version 5 has no approvals.
    "approval-requested": "input-available",
    "approval-responded": "input-available",
    "output-denied": "output-error",
}
STATES = {
    "input-streaming": "partial-call",
    "input-available": "call",
    "output-available": "result",
    "output-error": "output-error",
    # The next version's, which a newer client sends.
    "approval-requested": "approval-requested",
    "approval-responded": "approval-responded",
    "output-denied": "output-denied",
}

Part = dict[str, Any]


def from_ui_part(part: Mapping[str, Any]) -> Part:
    """A part of a UI message in format 2."""
    if (
        part["type"] == WRAPPER
        and isinstance(part.get("data"), dict)
        and isinstance(part["data"].get("type"), str)
    ):
        return dict(part["data"])
    return canonical_part(_without_own(part, "providerMetadata", _restore(part)))


def canonical_part(part: Part) -> Part:
    """A part in format 2's own words, where it is written in those of the UI format."""
    if _is_ui_tool(part):
        return _tool_from_ui(part)
    if part["type"] == "reasoning" and "reasoning" not in part and isinstance(part.get("text"), str):
        rest = _rest(part, "type", "text")
        text = part["text"]
        return {"type": "reasoning", "reasoning": text, "details": [{"type": "text", "text": text}], **rest}
    if part["type"] == "source-url":
        names = {"sourceId": "id", "url": "url", "title": "title", "providerMetadata": "providerMetadata"}
        source = {names[key]: value for key, value in part.items() if key in names}
        return {
            "type": "source",
            "source": {"sourceType": "url", **source},
            **_rest(part, "type", *names),
        }
    return part


def to_ui_part(part: Part) -> Part:
    """A part as a UI message holds it; :func:`from_ui_part` gives the same part again."""
    writer = WRITERS.get(part["type"], _unchanged)
    written = writer(part)
    if written is not None and (from_ui_part(written) == part or canonical_part(part) != part):
        return written
    return {"type": WRAPPER, "data": part}


def _unchanged(part: Part) -> Part | None:
    known = part["type"] in ("text", "step-start", "source-document", "source-url", "dynamic-tool")
    return dict(part) if known or part["type"].startswith("data-") or _is_ui_tool(part) else None


def _reasoning_to_ui(part: Part) -> Part | None:
    if "reasoning" not in part:
        return dict(part) if isinstance(part.get("text"), str) else None
    text = _reasoning_text(part)
    rest = _rest(part, "reasoning", "details")
    plain = part["reasoning"] == text and part.get("details") == [{"type": "text", "text": text}]
    own: Part = {} if plain else {key: part[key] for key in ("reasoning", "details") if key in part}
    return _with_own({**rest, "text": text}, "providerMetadata", own)


def _reasoning_text(part: Mapping[str, Any]) -> str:
    if isinstance(part.get("reasoning"), str) and part["reasoning"]:
        return str(part["reasoning"])
    details = part.get("details")
    texts = [d.get("text") for d in details if isinstance(d, dict)] if isinstance(details, list) else []
    return "".join(text for text in texts if isinstance(text, str))


def file_url(part: Mapping[str, Any]) -> str:
    """Where a file part's content is: a web address, or a data URL where the part holds it itself."""
    for key in ("url", "data"):
        value = part.get(key)
        if isinstance(value, str):
            bare = key == "data" and not value.startswith(("data:", "http:", "https:"))
            return f"data:{media_type(part)};base64,{value}" if bare else value
    return ""


def media_type(part: Mapping[str, Any]) -> str:
    """The media type of a file part."""
    value = part.get("mediaType") or part.get("mimeType")
    return value if isinstance(value, str) else "application/octet-stream"


def _file_to_ui(part: Part) -> Part | None:
    written = {**_rest(part, "data", "mimeType"), "url": file_url(part), "mediaType": media_type(part)}
    own: dict[str, Any] = {}
    if "url" not in part and "data" in part:
        own["data"] = "bare" if part["data"] != written["url"] else "url"
    if "mediaType" not in part and "mimeType" in part:
        own["mimeType"] = True
    return _with_own(written, "providerMetadata", own)


def _source_to_ui(part: Part) -> Part | None:
    source = part.get("source")
    if not isinstance(source, dict) or source.get("sourceType") != "url":
        return None
    names = {"id": "sourceId", "url": "url", "title": "title", "providerMetadata": "providerMetadata"}
    found = {names[key]: value for key, value in source.items() if key in names}
    return {"type": "source-url", **found, **_rest(part, "type", "source")}


def _tool_to_ui(part: Part) -> Part | None:
    call = part.get("toolInvocation")
    if not isinstance(call, dict) or not _is_among(call.get("state"), UI_STATES):
        return None
    state, name = call["state"], call.get("toolName")
    if not isinstance(name, str) or not isinstance(call.get("toolCallId"), str):
        return None
    dynamic = part.get("dynamicTool") is True
    kind: Part = {"type": "dynamic-tool", "toolName": name} if dynamic else {"type": f"tool-{name}"}
    written: Part = {**kind, "toolCallId": call["toolCallId"], "state": UI_STATES[state]}
    if "args" in call:
        written["input"] = call["args"]
    own = _rest(call, "toolCallId", "toolName", "args", "state")
    if state == "result" and "result" in own:
        written["output"] = own.pop("result")
    if state == "output-error" and isinstance(own.get("errorText"), str):
        written["errorText"] = own.pop("errorText")
    if own or STATES[written["state"]] != state:
        own["state"] = state
    if written["state"] == "output-error":
        written.setdefault("errorText", DENIED if state == "output-denied" else "")
    rest = _rest(part, "type", "toolInvocation", "dynamicTool", "providerMetadata")
    if not rest.keys().isdisjoint(written):
        return None
    written |= rest
    if "providerMetadata" in part:
        written["callProviderMetadata"] = part["providerMetadata"]
    return _with_own(written, "callProviderMetadata", own)


def _is_ui_tool(part: Mapping[str, Any]) -> bool:
    return (
        (part["type"] == "dynamic-tool" or part["type"].startswith("tool-"))
        and isinstance(part.get("toolCallId"), str)
        and _is_among(part.get("state"), STATES)
        and "toolInvocation" not in part
    )


def _tool_from_ui(part: Mapping[str, Any]) -> Part:
    own = _rest(_own(part, "callProviderMetadata"), "toolCallId", "toolName", "args")
    call: Part = {"state": STATES[part["state"]], "toolCallId": part["toolCallId"]}
    call["toolName"] = part.get("toolName") if part["type"] == "dynamic-tool" else part["type"][5:]
    for name, key in (("input", "args"), ("output", "result"), ("errorText", "errorText")):
        if name in part:
            call[key] = part[name]
    # A client may have moved the call on since.
    if _is_among(own.get("state"), UI_STATES) and UI_STATES[own["state"]] == part["state"]:
        if call.get("errorText") == (DENIED if own["state"] == "output-denied" else ""):
            del call["errorText"]
        call |= own
    else:
        call |= _rest(own, "state")
    used = ("type", "toolCallId", "state", "input", "output", "errorText", "callProviderMetadata")
    rest = _rest(part, *used)
    read: Part = {"type": "tool-invocation", "toolInvocation": call}
    if part["type"] == "dynamic-tool":
        rest.pop("toolName", None)
        read["dynamicTool"] = True
    stripped = _without_own(part, "callProviderMetadata", {})
    if "callProviderMetadata" in stripped:
        read["providerMetadata"] = stripped["callProviderMetadata"]
    return {**read, **rest}


def _is_among(state: Any, states: Mapping[str, str]) -> bool:
    return isinstance(state, str) and state in states


def _restore(part: Mapping[str, Any]) -> Part:
    """The keys of format 2 that a part of the UI format carries, where they still say the same."""
    own = _own(part, "providerMetadata")
    if part["type"] == "reasoning" and "reasoning" in own and _reasoning_text(own) == part.get("text"):
        return {key: own[key] for key in ("reasoning", "details") if key in own}
    if part["type"] == "file" and isinstance(part.get("url"), str):
        restored: Part = {}
        if own.get("data") == "bare":
            restored["data"] = part["url"].partition(",")[2]
        elif own.get("data") == "url":
            restored["data"] = part["url"]
        if own.get("mimeType") is True:
            restored["mimeType"] = part.get("mediaType")
        return restored
    return {}


def _own(part: Mapping[str, Any], key: str) -> Part:
    providers = part.get(key)
    own = providers.get(OWN) if isinstance(providers, dict) else None
    return dict(own) if isinstance(own, dict) else {}


def _with_own(part: Part, key: str, own: Part) -> Part | None:
    providers = part.get(key, {})
    if not isinstance(providers, dict):
        return None
    return {**part, key: {**providers, OWN: own}} if own else part


def _without_own(part: Mapping[str, Any], key: str, restored: Part) -> Part:
    """`part` without what travelled in its metadata, and with what that restores in its place."""
    replaced = {"reasoning": "text", "data": "url", "mimeType": "mediaType", "details": "text"}
    gone = {replaced[name] for name in restored}
    result = {name: value for name, value in part.items() if name not in gone} | restored
    providers = part.get(key)
    if not isinstance(providers, dict) or OWN not in providers:
        return result
    kept = _rest(providers, OWN)
    return {**result, key: kept} if kept else _rest(result, key)


def _rest(mapping: Mapping[str, Any], *used: str) -> Part:
    return {key: value for key, value in mapping.items() if key not in used}


WRITERS: dict[str, Callable[[Part], Part | None]] = {
    "reasoning": _reasoning_to_ui,
    "file": _file_to_ui,
    "source": _source_to_ui,
    "tool-invocation": lambda part: _tool_to_ui(part) if "toolInvocation" in part else _unchanged(part),
}
