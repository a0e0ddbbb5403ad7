"""Tool calls and their results, between the OpenAI format and `tool-invocation` parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from memory.conf import memory_settings
from memory.content.json import clean_json, stable_json
from memory.ids import uuid7
from memory.processors.openai_notes import given_keys, noted, notes_of, with_notes
from memory.processors.tool_calls import DENIED
from memory.validation import Check

# Where a call's arguments stand in a message's content: parts, part, toolInvocation, args.
ARGUMENTS_DEPTH = 5

Part = dict[str, Any]


def read_calls(check: Check, calls: Any, path: str) -> list[Part]:
    """The parts of an assistant message's `tool_calls`."""
    if calls is None:
        return []
    found = []
    for call, at in check.sequence(calls, path, maximum=memory_settings.MAX_PARTS):
        part = _read_call(check, call, at)
        if part is not None:
            found.append(part)
    return found


def _read_call(check: Check, call: Any, path: str) -> Part | None:
    if not isinstance(call, Mapping):
        check.fail(path, "must be an object")
        return None
    kind = call.get("type") or "function"
    key = "custom" if kind == "custom" else "function"
    function = call.get(key)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        check.fail(f"{path}.{key}", "must be an object with a `name`")
        return None
    identifier = call.get("id") or f"call_{uuid7()}"  # some servers give none
    if not isinstance(identifier, str):
        check.fail(f"{path}.id", "must be a string")
        return None
    invocation: Part = {"state": "call", "toolCallId": identifier, "toolName": function["name"]}
    notes: Part = {"rest": given_keys(call, "id", "type", "index", key)}
    if kind != "function":
        notes["type"] = kind
    if key == "custom":
        invocation["args"] = function.get("input")
    else:
        invocation["args"], notes["arguments"] = _read_arguments(function.get("arguments"))
    used = ("name", "input") if key == "custom" else ("name", "arguments", "parsed_arguments")
    notes["function"] = given_keys(function, *used)
    return with_notes({"type": "tool-invocation", "toolInvocation": invocation}, **notes)


def read_function_call(check: Check, call: Any, path: str) -> list[Part]:
    """The part of the older `function_call`, which has no id: its result names the function."""
    if call is None:
        return []
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        check.fail(path, "must be an object with a `name`")
        return []
    arguments, text = _read_arguments(call.get("arguments"))
    invocation = {
        "state": "call",
        "toolCallId": f"call_{uuid7()}",
        "toolName": call["name"],
        "args": arguments,
    }
    part = {"type": "tool-invocation", "toolInvocation": invocation}
    return [with_notes(part, type="function_call", arguments=text)]


def _read_arguments(given: Any) -> tuple[Any, str | None]:
    """Arguments as a document, with the text they came as where writing the document gives another one."""
    if not isinstance(given, str):
        return ({} if given is None else given), None
    arguments = _parse(given)
    return arguments, None if _write(arguments) == given else given


def _parse(text: str) -> Any:
    """The JSON object, list or number in `text`; else the text, which may be any: a model wrote it."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    check = Check()
    cleaned = clean_json(check, value, "", depth=ARGUMENTS_DEPTH)
    return text if check.issues or isinstance(cleaned, str) else cleaned


def _write(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else stable_json(arguments)


def _arguments_text(call: Mapping[str, Any], notes: Mapping[str, Any]) -> str:
    arguments, text = call.get("args", {}), notes.get("arguments")
    # Someone may have changed the arguments since the text was noted.
    if isinstance(text, str) and _write(_parse(text)) == _write(arguments):
        return text
    return _write(arguments)


def is_function_call(part: Part) -> bool:
    """The part came as the older `function_call`, or as the result of one."""
    return notes_of(part).get("type") == "function_call"


def write_call(part: Part, *, extra_fields: bool) -> Part:
    """One entry of `tool_calls`, or the value of `function_call`."""
    call, notes = part["toolInvocation"], notes_of(part)
    kind = notes["type"] if isinstance(notes.get("type"), str) else "function"
    if kind == "function_call":
        return {"name": call["toolName"], "arguments": _arguments_text(call, notes)}
    function: Part = {"name": call["toolName"]}
    if kind == "custom":
        function["input"] = _write(call.get("args"))
    else:
        function["arguments"] = _arguments_text(call, notes)
    key = "custom" if kind == "custom" else "function"
    written = {"id": call["toolCallId"], "type": kind, key: function}
    if extra_fields:
        function = noted(notes, "function") | function
        written = noted(notes, "rest") | written | {key: function}
    return written


def read_result(check: Check, message: Mapping[str, Any], path: str) -> list[Part]:
    """The part of a `tool` message, or of an older `function` message: a result, without its call."""
    invocation: Part = {"state": "result", "result": message.get("content")}
    part: Part = {"type": "tool-invocation", "toolInvocation": invocation}
    if message.get("role") == "function":
        if not isinstance(message.get("name"), str):
            check.fail(f"{path}.name", "must be a string")
        invocation["toolName"] = message.get("name")
        return [with_notes(part, type="function_call")]
    if not isinstance(message.get("tool_call_id"), str):
        check.fail(f"{path}.tool_call_id", "must be a string")
    invocation["toolCallId"] = message.get("tool_call_id")
    if invocation["result"] is None:
        invocation["result"] = ""
    return [part]


def write_result(part: Part) -> Part:
    """The message with the outcome of a finished call."""
    call = part["toolInvocation"]
    content = _outcome(call)
    if is_function_call(part):
        plain = content if isinstance(content, str) else stable_json(content)
        empty = call["state"] == "result" and call.get("result") is None
        return {"role": "function", "name": call["toolName"], "content": None if empty else plain}
    return {"role": "tool", "tool_call_id": call["toolCallId"], "content": content}


def _outcome(call: Mapping[str, Any]) -> str | list[Part]:
    if call["state"] == "output-denied":
        approval = call.get("approval")
        reason = approval.get("reason") if isinstance(approval, dict) else None
        return reason if isinstance(reason, str) and reason else DENIED
    result = call.get("result")
    if call["state"] == "output-error" and isinstance(call.get("errorText"), str):
        result = call["errorText"]
    if isinstance(result, str):
        return result
    return result if _is_text_parts(result) else stable_json(result)


def _is_text_parts(result: Any) -> TypeGuard[list[Part]]:
    return (
        isinstance(result, list)
        and bool(result)
        and all(
            isinstance(p, dict) and p.get("type") == "text" and isinstance(p.get("text"), str) for p in result
        )
    )
