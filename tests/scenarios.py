"""Recorded scenarios as JSON files: what is stored, which calls follow, and what each of them answered."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER = Path(__file__).parent / "data" / "oracle"
NAMES: Final = sorted(path.stem for path in (FOLDER / "scenarios").glob("*.json"))


class Undefined:
    """JavaScript's `undefined`: an option is not given; as data it is no JSON."""

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a scenario.

    Attributes:
        name: its label, or its place as `#2`: unique in the scenario.
        method: the verb, in the recorded implementation's words.
        args: what it is given.
        full: whole rows were recorded, not only their ids.
        recorded: the recorded answer, holding `result` or `error`.
    """

    name: str
    method: str
    args: Any
    full: bool
    recorded: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is stored first, and the calls that follow in this order; `dimensions` None = no embedder."""

    dimensions: int | None
    options: Mapping[str, Any]
    threads: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    calls: list[Call]


@cache
def load(name: str) -> Scenario:
    """Read a scenario with its recorded answers."""
    given = expand(_read("scenarios", name))
    recorded = _read("expected", name)["calls"]
    return Scenario(
        dimensions=None if given.get("noVector") else given["embedder"]["dim"],
        options=given.get("options", {}),
        threads=given["threads"],
        messages=given["messages"],
        calls=[
            _call(number, call, answer)
            for number, (call, answer) in enumerate(zip(given["calls"], recorded, strict=True))
        ],
    )


def expand(value: Any) -> Any:
    """`value` with its macros, objects of one key such as `{"$repeat": ["x", 3]}`, replaced."""
    if isinstance(value, list):
        return [item for element in value for item in _elements(element)]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(name, argument)] = value.items()
        if name in MACROS:
            return MACROS[name](argument)
    return {key: expand(entry) for key, entry in value.items()}


def _elements(element: Any) -> Iterator[Any]:
    if isinstance(element, dict) and set(element) == {"$chat"}:
        yield from _chat(**element["$chat"])
    else:
        yield expand(element)


def _chat(
    prefix: str,
    count: int,
    thread: str,
    resource: str,
    start: str,
    text: str = "message number {i}",
    stepMs: int = 60_000,
    pad: int = 3,
) -> Iterator[dict[str, Any]]:
    """A conversation: user and assistant in turn, one message every `stepMs` milliseconds."""
    moment = datetime.fromisoformat(start)
    for number in range(1, count + 1):
        part = {"type": "text", "text": text.replace("{i}", str(number))}
        yield {
            "id": f"{prefix}{number:0{pad}}",
            "threadId": thread,
            "resourceId": resource,
            "role": ("assistant", "user")[number % 2],
            "createdAt": moment,
            "content": {"format": 2, "parts": [part]},
        }
        moment += timedelta(milliseconds=stepMs)


MACROS: Final[dict[str, Callable[[Any], Any]]] = {
    "$date": datetime.fromisoformat,
    "$num": {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.__getitem__,
    "$undef": lambda _: UNDEFINED,
    "$repeat": lambda given: given[0] * given[1],
    "$words": lambda given: " ".join(f"{given[0]}{number}" for number in range(given[1])),
    "$obj": lambda given: {f"k{number}": "x" * given[1] for number in range(given[0])},
}


def _read(folder: str, name: str) -> Any:
    return json.loads((FOLDER / folder / f"{name}.json").read_text(encoding="utf-8"))


def _call(number: int, call: Mapping[str, Any], recorded: Mapping[str, Any]) -> Call:
    if (call["method"], call.get("label")) != (recorded["method"], recorded.get("label")):
        raise ValueError(f"Call {number} is not the one that was recorded at its place.")
    return Call(
        call.get("label", f"#{number}"), call["method"], call["args"], call.get("full", False), recorded
    )
