"""What tests of bodies and parameters share: wrong values of every kind, and a caller who watches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import transaction

from memory.api import fields
from tests.api import Answer, Caller
from tests.api.routes import Own, Route, examples, places
from tests.bad_input import nested

OWN = Own(resource="r", thread="t", message="t-1")

BAD_TEXT = "a\x00b\ud800c"
WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.5, -0.0, 2**31, 2**63, 2**64, 10**400, -(10**400), 1e300),
    *("", " ", "text", "5", BAD_TEXT, "x" * 513, "\N{GRINNING FACE}", "2026-01-01", "0000-00-00T00:00Z"),
    *([], [1], [None], ["x"], [[]], [{}], [{"id": None}], [{"id": "x", "threadId": []}], [BAD_TEXT]),
    *({}, {"a": 1}, {"a": {"b": [1]}}, {"id": 5}, {"": ""}, {BAD_TEXT: BAD_TEXT}, {"a": 10**400}),
    *({"field": [], "direction": {}}, {"metadata": [], "dateRange": 5}, {"dateRange": {"start": 10**400}}),
    *({"semanticRecall": 5}, {"semanticRecall": {"topK": 10**400, "threshold": "x", "messageRange": []}}),
    *({"workingMemory": []}, {"workingMemory": {"schema": nested(500)}}, {"lastMessages": -1}, nested(500)),
)

# The kinds of JSON that a field takes; null is another matter.
TAKES: dict[type, tuple[type, ...]] = {
    fields.IdField: (str,),
    fields.TextField: (str,),
    fields.FlagField: (bool,),
    fields.CountField: (int, float, bool),
    fields.DateField: (str, int, float),
    fields.ObjectField: (dict,),
    fields.MetadataFilterField: (dict,),
    fields.FilterField: (dict,),
    fields.OrderField: (dict,),
    fields.ConfigField: (dict,),
    fields.IncludeField: (list,),
    fields.MessagesField: (list,),
    fields.IdsField: (str, dict, list),
}


def takes(field: Any, value: Any) -> bool:
    """Whether a field takes values of this kind at all.

    Raises:
        StopIteration: it is of a class that nobody has looked at.
    """
    if value is None:
        return bool(field.allow_null)
    kinds = next(TAKES[cls] for cls in type(field).__mro__ if cls in TAKES)
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


class GuardedCaller(Caller):
    """One whom the server never fails. What a success wrote is undone; what a refusal wrote stays, to be
    seen at the end of a test."""

    def raw(self, *args: Any, **options: Any) -> Answer:
        with transaction.atomic():
            answer = super().raw(*args, **options)
            transaction.set_rollback(answer.status < 400)
        assert answer.status < 500, answer
        assert answer.status < 400 or set(answer.body) <= {"error", "issues"}, answer
        return answer


def fields_of(route: Route) -> list[tuple[tuple[str, ...], Any]]:
    """The places of a body, and their fields."""
    return [(place, field) for place, field in places(route) if place[0] == "body"]


def raw(caller: Caller, route: Route, data: bytes, **options: Any) -> Answer:
    return caller.raw(route.method, route.at("t"), data, **options)


def encoded(route: Route, extra: str = "1") -> Iterator[bytes]:
    """The examples of a route as JSON, with one more member `zzz`."""
    for example in examples(route, OWN):
        yield json.dumps({**(example.body or {}), "zzz": "ZZZ"}).replace('"ZZZ"', extra).encode()


def is_named(place: Sequence[str], answer: Answer) -> bool:
    """Whether an issue is about this place."""
    name = ".".join(place[1:])
    return "issues" in answer.body and any(f"{field}.".startswith(f"{name}.") for field in answer.fields)


def refused(answer: Answer, *names: str, status: int = 400) -> None:
    """The answer is an error whose issues name these fields."""
    assert answer.status == status, answer
    assert set(answer.body) == {"error", "issues"}
    assert isinstance(answer.body["error"], str)
    assert sorted(answer.fields) == sorted(names), answer
