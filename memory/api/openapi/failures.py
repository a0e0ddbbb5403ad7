"""The errors of a route, as the schema shows them: the error handler itself makes the examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.db import OperationalError
from rest_framework import exceptions, serializers
from rest_framework.authentication import SessionAuthentication

from memory.api import errors
from memory.api.fields import WireSerializer
from memory.exceptions import (
    EmbedderError,
    Issue,
    MessageConflict,
    ResourceConflict,
    RowsProtected,
    SemanticRecallNotConfigured,
    ThreadConflict,
    ThreadNotFound,
    ThreadNotOwned,
    WorkingMemoryDisabled,
)

if TYPE_CHECKING:
    from memory.api.base import MemoryViewSet
    from memory.api.operations import Operation

SAFE = ("GET", "HEAD")

# One of each error that a route may declare.
SAMPLES: dict[type[Exception], Exception] = {
    type(sample): sample
    for sample in (
        errors.AgentNotFound(),
        errors.ResourceNotFound(),
        ThreadNotFound("travel-2026"),
        ThreadNotOwned("travel-2026"),
        ThreadConflict(),
        MessageConflict(),
        ResourceConflict(),
        RowsProtected(["shop.Ticket"]),
        WorkingMemoryDisabled(),
        SemanticRecallNotConfigured("No embedder is configured: set MEMORY['EMBEDDERS']['default']."),
        EmbedderError("", retry_after=20),
    )
}
# The framework's errors have no words of their own.
WORDS: dict[type[Exception], str] = {
    exceptions.NotAuthenticated: "Nobody is logged in, and no token came along; or it is a wrong one.",
    exceptions.PermissionDenied: "A session writes without the CSRF token, in the header `X-CSRFToken`.",
    OperationalError: "The database is away, or too busy.",
    exceptions.Throttled: "Over the rate that the site allows one caller.",
}
HEADERS: dict[str, dict[str, Any]] = {
    "WWW-Authenticate": {
        "description": "How to authenticate.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": "Seconds to wait.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
}


class IssueShape(WireSerializer):
    """One thing that is wrong."""

    field = serializers.CharField()
    message = serializers.CharField()


class ErrorShape(WireSerializer):
    """Every answer that is not of status 200."""

    error = serializers.CharField()
    issues = IssueShape(many=True, required=False)  # type: ignore[assignment]


def failures(view: MemoryViewSet, method: str, operation: Operation) -> Iterator[Exception]:
    """A sample of each error a route can end in, beside those that any path of the API has: a method that is
    not allowed (405), and a fault of the server (500)."""
    if operation.body is not None:
        yield errors.InvalidInput("request body", [Issue("resourceId", "must not be blank")])
    else:
        yield errors.InvalidInput("query parameters", [Issue("agentId", "must not be blank")])
    if view.get_permissions():
        error = exceptions.NotAuthenticated()
        error.auth_header = view.get_authenticate_header(view.request)  # type: ignore[attr-defined]
        yield error
    with_sessions = any(isinstance(one, SessionAuthentication) for one in view.get_authenticators())
    if with_sessions and method not in SAFE:
        yield exceptions.PermissionDenied("CSRF Failed: CSRF token missing.")
    for kind in operation.raises:
        yield SAMPLES[kind]
    yield OperationalError()
    if operation.body is not None:
        yield errors.BodyTooLarge()
    if getattr(view, "throttle_scope", None):
        yield exceptions.Throttled(wait=30)


def responses(samples: Iterator[Exception], schema: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI's responses, by status; one status may have several reasons."""
    found: dict[str, Any] = {}
    for sample in samples:
        answer = errors.answer_to(sample, {})
        if answer is None:
            raise TypeError(f"{type(sample).__name__} is answered with 500: it is no error to declare.")
        words = _words(type(sample))
        response = found.setdefault(
            str(answer.status_code),
            {"description": [], "content": {"application/json": {"schema": schema, "examples": {}}}},
        )
        response["description"].append(words)
        for name in HEADERS.keys() & answer.headers.keys():
            example = answer.headers[name]
            header = HEADERS[name] | {"example": int(example) if example.isdigit() else example}
            response.setdefault("headers", {})[name] = header
        examples = response["content"]["application/json"]["examples"]
        examples[type(sample).__name__] = {"summary": words, "value": answer.data}
    for response in found.values():
        response["description"] = "\n\n".join(response["description"])
    return found


def _words(kind: type[Exception]) -> str:
    if kind in WORDS:
        return WORDS[kind]
    first, *_ = (kind.__doc__ or "").strip().split("\n\n")
    return " ".join(first.split())
