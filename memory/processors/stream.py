"""A streamed chat completion, put together chunk by chunk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

from memory.content.json import stable_json
from memory.processors.chat_message import as_mapping
from memory.processors.openai_messages import REASONING

# Texts that come in pieces; a piece of another key replaces the one before.
PIECES = ("content", "refusal", *REASONING)


class Accumulator:
    """The answer so far of a stream of `chat.completion.chunk`s.

    Takes the chunks of the `openai` package or dicts of any compatible server, those included that send a
    call whole, leave out its index, or give every call the same one. Of several choices it is the first.

    Attributes:
        finish_reason: why the model stopped; None while it has not.
        usage: the tokens used, from the chunk that tells them; else None.
    """

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.usage: dict[str, Any] | None = None
        self._fields: dict[str, Any] = {}
        self._calls: list[dict[str, Any]] = []
        # The call at each index of the stream.
        self._places: dict[int, int] = {}

    def add(self, chunk: Any) -> Self:
        """Take in one chunk; one that holds no answer, such as that with the usage, is welcome too."""
        chunk = as_mapping(chunk)
        if not isinstance(chunk, Mapping):
            return self
        if isinstance(chunk.get("usage"), Mapping):
            self.usage = dict(chunk["usage"])
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list | tuple) else ():
            if isinstance(choice, Mapping) and not choice.get("index"):
                self.finish_reason = choice.get("finish_reason") or self.finish_reason
                delta = choice.get("delta") or choice.get("message")
                if isinstance(delta, Mapping):
                    self._take(delta)
        return self

    @property
    def is_complete(self) -> bool:
        """The model has said that it is done."""
        return self.finish_reason is not None

    @property
    def message(self) -> dict[str, Any] | None:
        """The assistant message so far, in the OpenAI format; None while nothing of an answer has come.

        A call whose arguments may still go on is left out: if the stream breaks, it must not be carried out.
        """
        calls = [_copy_call(call) for call in self._calls if self.is_complete or _is_whole(call)]
        if not calls and not any(self._fields.values()):
            return None
        message = {"role": "assistant", "content": None, **self._fields}
        return {**message, "tool_calls": calls} if calls else message

    def _take(self, delta: Mapping[str, Any]) -> None:
        for key, value in delta.items():
            if value is None or key == "role":
                continue
            if key == "tool_calls":
                for call in value if isinstance(value, list | tuple) else ():
                    if isinstance(call, Mapping):
                        self._take_call(call)
            else:
                self._fields[key] = _joined(self._fields.get(key), value, is_piece=key in PIECES)

    def _take_call(self, delta: Mapping[str, Any]) -> None:
        call = self._call_of(delta)
        for key, value in delta.items():
            if key in ("function", "custom") and isinstance(value, Mapping):
                call.setdefault("type", key)
                inner = call.setdefault(key, {"name": "", "arguments" if key == "function" else "input": ""})
                _take_function(inner, value)
            elif value and key not in ("index", "id"):
                call[key] = value

    def _call_of(self, delta: Mapping[str, Any]) -> dict[str, Any]:
        """The call that a piece belongs to: that of its id, of its index, or the last one."""
        identifier, index = delta.get("id"), delta.get("index")
        place: int | None = None
        if isinstance(index, int):
            place = self._places.get(index)
        elif not identifier and self._calls and not _has_name(delta):
            place = len(self._calls) - 1
        if identifier:
            known = [n for n, call in enumerate(self._calls) if call["id"] == identifier]
            if known:
                place = known[-1]
            elif place is not None and self._calls[place]["id"]:
                place = None
        if place is None:
            place = len(self._calls)
            self._calls.append({"id": ""})
        if isinstance(index, int):
            self._places[index] = place
        if identifier:
            self._calls[place]["id"] = identifier
        return self._calls[place]


def _has_name(delta: Mapping[str, Any]) -> bool:
    function = delta.get("function")
    return isinstance(function, Mapping) and bool(function.get("name"))


def _take_function(function: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for key, value in delta.items():
        if value is None or (key == "name" and value == function.get("name")):
            continue  # some servers repeat the name in every chunk
        if key == "arguments" and not isinstance(value, str):
            value = stable_json(value)
        function[key] = _joined(function.get(key), value, is_piece=True)


def _joined(before: Any, piece: Any, *, is_piece: bool) -> Any:
    if isinstance(before, str) and isinstance(piece, str) and is_piece:
        return before + piece
    if isinstance(before, list) and isinstance(piece, list):
        return [*before, *piece]
    if isinstance(before, Mapping) and isinstance(piece, Mapping):
        # An audio answer or a function call of the older kind.
        keys = {**before, **{key: value for key, value in piece.items() if value is not None}}
        texts = ("data", "transcript", "arguments")
        return {
            key: _joined(before.get(key), value, is_piece=key in texts) if key in piece else value
            for key, value in keys.items()
        }
    return piece


def _is_whole(call: Mapping[str, Any]) -> bool:
    """The arguments are a JSON object: no beginning of one is an object itself."""
    function = call.get("function")
    try:
        return isinstance(function, Mapping) and isinstance(json.loads(function["arguments"]), dict)
    except (ValueError, KeyError, RecursionError):
        return False


def _copy_call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {key: dict(value) if isinstance(value, dict) else value for key, value in call.items()}
