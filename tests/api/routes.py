"""The routes as the URLs tell them, and how to fill a valid request of each.

What holds for every route is tested for every route found here: a new one without an example fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory.api.operations import Operation
from memory.api.urls import UnknownRouteViewSet, urlpatterns
from tests.api import Answer, Caller, message

MIRROR = "network/"
_PARAMETER = re.compile(r"\(\?P<(\w+)>[^)]*\)")


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path; `path` names its parameters as `{thread_id}`."""

    method: str
    path: str
    operation: Operation

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def mirrored(self) -> str:
        """The name of the route that this one is or mirrors."""
        return f"{self.method} {self.path.removeprefix(MIRROR)}"

    @property
    def has_thread(self) -> bool:
        return "{thread_id}" in self.path

    def at(self, thread: str) -> str:
        """The path of a thread."""
        return self.path.replace("{thread_id}", thread)

    @property
    def reads(self) -> bool:
        """Whether it writes nothing, whatever it is sent."""
        return self.method == "GET" or self.path in ("recall", "observational-memory/buffer-status")


def routes(patterns: Iterable[Any] = urlpatterns, prefix: str = "") -> Iterator[Route]:
    """Every method of every path, by what the views of these patterns declare.

    Raises:
        AssertionError: a view declares no operation, and nothing here would know of it.
    """
    for pattern in patterns:
        path = prefix + _PARAMETER.sub(r"{\1}", str(pattern.pattern).strip("^$"))
        if hasattr(pattern, "url_patterns"):
            yield from routes(pattern.url_patterns, path)
            continue
        view = getattr(pattern.callback, "cls", None)
        if view is UnknownRouteViewSet:
            continue
        # The framework adds HEAD beside GET as soon as the view has been asked once.
        for method, action in sorted(getattr(pattern.callback, "actions", {"?": "?"}).items()):
            if method != "head":
                declared = getattr(getattr(view, action, None), "operation", None)
                assert isinstance(declared, Operation), f"{method} {path} declares no operation"
                yield Route(method.upper(), path, declared)


ROUTES = sorted(routes(), key=str)
BODIES = [route for route in ROUTES if route.operation.body is not None]


def distinct(routes: Iterable[Route]) -> list[Route]:
    """Without those that run the same method of a view by a second path."""
    mirrors_first = sorted(routes, key=lambda route: not route.path.startswith(MIRROR))
    return list({id(route.operation): route for route in mirrors_first}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent. Query values that are objects or lists go out as JSON."""

    thread: str
    query: Mapping[str, Any]
    body: Mapping[str, Any] | None = None

    def with_value(self, place: Sequence[str], value: Any) -> Request:
        """The same with a value at a place, such as `("body", "options", "messageLimit")`."""
        part, *steps = place
        if part == "path":
            return replace(self, thread=value)
        changed: dict[str, Any] = {**(getattr(self, part) or {})}
        inner = changed
        for step in steps[:-1]:
            copy = {**inner.get(step, {})}
            inner[step] = copy
            inner = copy
        inner[steps[-1]] = value
        return replace(self, **{part: changed})

    def send(self, caller: Caller, route: Route) -> Answer:
        return caller.send(route.method, route.at(self.thread), self.body, **self.query)


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """Ids of the caller's own: a resource, a thread of it, a message in that."""

    resource: str
    thread: str
    message: str


AGENT = {"agentId": "client"}


def _searches(own: Own) -> Iterator[dict[str, Any]]:
    for config in (False, {"scope": "resource"}, {"scope": "thread"}):
        yield {"searchQuery": "text", "memoryConfig": {"semanticRecall": config}}


def _recalls(own: Own) -> Iterator[dict[str, Any]]:
    yield {"perPage": 1, "include": [{"id": own.message, "withNextMessages": 1}]}
    for scope in ("resource", "thread"):
        yield {"vectorSearchString": "text", "threadConfig": {"semanticRecall": {"scope": scope}}}


def examples(route: Route, own: Own) -> list[Request]:
    """Valid requests of a route, the most telling one first; they name the caller's resource where a route
    has a place for it.

    Raises:
        KeyError: nobody wrote one.
    """
    owner = {"resourceId": own.resource}
    filled: dict[str, list[tuple[dict[str, Any], dict[str, Any] | None]]] = {
        "GET threads": [({**AGENT, **owner, "perPage": 5}, None), ({}, None)],
        "POST threads": [(AGENT, {**owner, "title": "x", "metadata": {"a": 1}})],
        "GET threads/{thread_id}": [({**AGENT, **owner}, None), ({}, None)],
        "PATCH threads/{thread_id}": [
            (AGENT, {**owner, "title": "x", "metadata": {"a": 1}}),
            ({}, {"title": "x"}),
        ],
        "DELETE threads/{thread_id}": [({**AGENT, **owner}, None), ({}, None)],
        "POST threads/{thread_id}/clone": [(AGENT, {**owner, "title": "x", "options": {}}), ({}, {})],
        "POST threads/{thread_id}/transfer": [({}, owner)],
        "GET threads/{thread_id}/messages": [({**AGENT, **owner, "perPage": 5}, None), ({}, None)],
        "POST save-messages": [(AGENT, {"messages": [message("new", own.thread, own.resource)]})],
        "POST messages/delete": [(owner, {"messageIds": [own.message]}), ({}, {"messageIds": own.message})],
        "GET threads/{thread_id}/working-memory": [({**AGENT, **owner}, None)],
        "POST threads/{thread_id}/working-memory": [(AGENT, {**owner, "workingMemory": "w"})],
        "GET search": [({**AGENT, **owner, **more}, None) for more in _searches(own)],
        "POST recall": [({}, {"threadId": own.thread, **owner, **more}) for more in _recalls(own)],
        "GET status": [({**AGENT, **owner}, None)],
        "GET config": [(AGENT, None)],
        "GET observational-memory": [({**AGENT, **owner}, None)],
        "POST observational-memory/buffer-status": [({}, {**AGENT, **owner})],
    }
    return [Request(thread=own.thread, query=query, body=body) for query, body in filled[route.mirrored]]


def places(route: Route) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every place of a route that a client fills, with its field: of the query, then of the body, nested
    ones too. That of the path has none."""
    if route.has_thread:
        yield ("path", "threadId"), None
    for part in ("query", "body"):
        serializer = getattr(route.operation, part)
        if serializer is not None:
            yield from _fields(serializer(), (part,))


def _fields(serializer: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, field in serializer.get_fields().items():
        if hasattr(field, "get_fields"):
            yield from _fields(field, (*place, name))
        else:
            yield (*place, name), field
