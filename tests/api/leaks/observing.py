"""What an answer and the tables show after a request, made comparable between two requests."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.apps import apps
from django.db import models, transaction

from tests.api import Caller
from tests.api.routes import Own, Request, Route

# Stands in everything that Bob has.
SECRET = "4711-secret-0815"

_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CURSOR = re.compile(r'(Cursor": )"[^"]+"')


@dataclass(frozen=True, slots=True)
class World:
    """One caller with its own ids, and what was stored before its requests.

    Attributes:
        bobs: Bob's rows, of all in `stored`.
        since: dates from here on are those of requests, and all count as one.
    """

    caller: Caller
    own: Own
    bobs: frozenset[str]
    stored: dict[str, str]
    since: datetime


@dataclass(frozen=True, slots=True)
class Seen:
    """What a request showed.

    Attributes:
        shown: the body, made comparable.
        rows: what is stored after it, without Bob's rows as they were; made comparable.
        exact: what is stored after it, with its keys.
    """

    status: int
    headers: dict[str, str]
    body: Any
    shown: str
    rows: list[str]
    exact: frozenset[str]

    def __str__(self) -> str:
        return f"{self.status} {self.body}"

    def differs(self, other: Seen) -> str:
        """In what, as far as a caller can see it or another owner's rows can; "" for nothing."""
        for name in ("status", "headers", "shown", "rows"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                if name == "rows":
                    mine, theirs = set(mine) - set(theirs), set(theirs) - set(mine)
                return f"{name}: {mine} instead of {theirs}"
        return ""


def observe(world: World, route: Route, request: Request, uid: str) -> Seen:
    """Send a request that names `uid`, take what it shows, and undo what it wrote.

    After a route that only reads the tables are taken as they were: whoever has sent all of its requests has
    to look, and would see it.
    """
    with transaction.atomic():
        answer = request.send(world.caller, route)
        rows = world.stored if route.reads else tables()
        transaction.set_rollback(not route.reads)
    headers = {name: value for name, value in answer.headers.items() if name != "Content-Length"}
    shown = _CURSOR.sub(r"\1cursor", json.dumps(answer.body))
    return Seen(
        answer.status,
        headers,
        answer.body,
        comparable(shown, uid, world.since),
        sorted(comparable(line, uid, world.since) for exact, line in rows.items() if exact not in world.bobs),
        frozenset(rows),
    )


def comparable(text: str, uid: str, since: datetime) -> str:
    """A text with the one id, with generated ids and with dates of the request replaced."""
    start = since.astimezone(UTC).isoformat()[:19]
    text = _DATE.sub(lambda found: "now" if found[0].replace(" ", "T")[:19] >= start else found[0], text)
    return _UUID.sub("generated", text).replace(uid, "?")


def tables() -> dict[str, str]:
    """Every row of every table of the app: with the keys the database gave it -> without them."""
    found = {}
    for model in apps.get_app_config("memory").get_models():
        keys, names = _columns(model)
        for row in model._default_manager.order_by().values_list(*keys, *names):
            shown = f"{model.__name__} {list(map(str, row[len(keys) :]))}"
            found[f"{row[: len(keys)]} {shown}"] = shown
    return found


@cache
def _columns(model: type[models.Model]) -> tuple[list[str], list[str]]:
    """The columns that hold keys, and all others, with the ids of the rows that the keys name. Vectors
    follow their texts, whose hash is beside them."""
    keys, names = [], []
    for field in model._meta.concrete_fields:
        related: Any = field.related_model
        if field.primary_key or related is not None:
            keys.append(field.attname)
        elif field.name != "vector":
            names.append(field.attname)
        if field.name == "working_memory":
            names += ["working_memory__thread__uid", "working_memory__resource__uid"]
        elif related is not None and hasattr(related, "uid"):
            names.append(f"{field.name}__uid")
    return keys, names
