"""Every place of a request in which an id can stand, and every form in which it can stand there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from memory.api import fields
from memory.api.cursors import write_cursor
from memory.models import Message
from memory.recall import Position, RecallRequest
from tests.api import message
from tests.api.routes import Own, Request, Route, places

# Texts that are stored or searched and name nothing. Another one has to be added here, or to `_cursors`.
TEXTS = {"title", "workingMemory", "searchQuery", "vectorSearchString"}


def requests(route: Route, example: Request, uid: str, own: Own) -> Iterator[tuple[str, Request]]:
    """An example of a route with the id `uid` in each place once, beside the name of that place.

    Raises:
        LookupError: nobody said in what forms a field holds ids.
    """
    for place, field in places(route):
        name = ".".join(place)
        if field is None:
            yield name, example.with_value(place, uid)
        elif place == ("body", "cursor"):
            yield from _cursors(example, uid)
        else:
            for form, value in forms(field, place[-1], uid, own):
                yield f"{name}{form}", example.with_value(place, value)


def forms(field: Any, name: str, uid: str, own: Own) -> Iterator[tuple[str, Any]]:
    """The values of one field that hold an id, whatever they mean there; alone, and beside the caller's own.

    Raises:
        LookupError: the field is of a class, or a text of a name, that is not known here.
    """
    if isinstance(field, fields.TextField) and name not in TEXTS:
        raise LookupError(f"{name} is a text that nobody has looked at")
    known = next((cls for cls in type(field).__mro__ if cls in FORMS), None)
    if known is None:
        raise LookupError(f"{name} is a {type(field).__name__}: no form is known in which it holds ids")
    return FORMS[known](uid, own)


def _plain(uid: str, own: Own) -> Iterator[tuple[str, Any]]:
    yield "", uid


def _ids(uid: str, own: Own) -> Iterator[tuple[str, Any]]:
    yield "", uid
    yield "[]", [uid]
    yield "[].id", [{"id": uid}]
    yield "[] with own", [own.message, uid]


def _includes(uid: str, own: Own) -> Iterator[tuple[str, Any]]:
    around = {"withPreviousMessages": 2, "withNextMessages": 2}
    yield "[].id", [{"id": uid, **around}]
    yield "[].threadId", [{"id": own.message, "threadId": uid, **around}]
    yield "[].id and threadId", [{"id": uid, "threadId": uid, **around}]
    yield "[].id with own", [{"id": own.message}, {"id": uid, "threadId": own.thread, **around}]


def _messages(uid: str, own: Own) -> Iterator[tuple[str, Any]]:
    first = message("first", own.thread, own.resource)
    yield "[].id", [message(uid, own.thread, own.resource)]
    yield "[].id with own", [first, message(uid, own.thread, own.resource)]
    yield "[].threadId", [message("new", uid, own.resource)]
    yield "[].threadId with own", [first, message("new", uid, own.resource)]
    yield "[].resourceId", [message("new", own.thread, uid)]
    yield "[].resourceId and threadId", [message("new", uid, uid)]
    yield "[].resourceId with own", [first, message("new", "another", uid)]
    yield "[].content", [message("new", own.thread, own.resource, uid, type=uid)]


def _objects(uid: str, own: Own) -> Iterator[tuple[str, Any]]:
    yield "{}", {"threadId": uid, "resourceId": uid, "workingMemory": uid, "clone": uid}


def _filters(uid: str, own: Own) -> Iterator[tuple[str, Any]]:
    yield ".metadata", {"metadata": {"threadId": uid}}
    yield ".threadId", {"threadId": uid, "resourceId": uid}
    yield ".dateRange", {"dateRange": {"start": uid}}


def _orders(uid: str, own: Own) -> Iterator[tuple[str, Any]]:
    yield ".field", {"field": uid}


def _configs(uid: str, own: Own) -> Iterator[tuple[str, Any]]:
    yield ".semanticRecall.indexName", {"semanticRecall": {"indexName": uid}}
    yield ".semanticRecall.scope", {"semanticRecall": {"scope": uid}}
    yield ".semanticRecall.filter", {"semanticRecall": {"filter": {"threadId": uid, "resource_id": uid}}}
    yield ".workingMemory", {"workingMemory": {"enabled": True, "scope": "thread", "template": uid}}
    yield ".threadId", {"semanticRecall": True, "threadId": uid, "resourceId": uid}


def _cursors(example: Request, uid: str) -> Iterator[tuple[str, Request]]:
    """Cursors that this server signed for the thread `uid`, at a place where it has messages."""
    somewhere = Message.objects.newest_first()[0]
    asked = replace(example, body={**(example.body or {}), "perPage": 1})
    asked.body.pop("include", None)  # type: ignore[union-attr]
    recall = RecallRequest.read(thread_id=uid, per_page=1)
    cursor = write_cursor(Position(somewhere.created_at, somewhere.pk), recall)
    asked = asked.with_value(("body", "cursor"), cursor)
    yield "body.cursor", asked
    yield "body.cursor and threadId", asked.with_value(("body", "threadId"), uid)
    yield "body.cursor as text", asked.with_value(("body", "cursor"), uid)


FORMS: dict[type, Callable[[str, Own], Iterator[tuple[str, Any]]]] = {
    fields.IdField: _plain,
    fields.TextField: _plain,
    fields.CountField: _plain,
    fields.FlagField: _plain,
    fields.DateField: _plain,
    fields.IdsField: _ids,
    fields.IncludeField: _includes,
    fields.MessagesField: _messages,
    fields.ObjectField: _objects,
    fields.MetadataFilterField: _objects,
    fields.FilterField: _filters,
    fields.OrderField: _orders,
    fields.ConfigField: _configs,
}
