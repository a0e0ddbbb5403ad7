"""Errors as the client library expects them: `{"error": text}`, with `issues` where input was bad.

Set on the views of this app only; the site's own exception handler stays what it is.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from memory.conf import memory_settings
from memory.exceptions import (
    EmbedderError,
    Issue,
    MessageConflict,
    RecallError,
    ResourceConflict,
    RowsProtected,
    SemanticRecallNotConfigured,
    ThreadConflict,
    ThreadNotFound,
    ThreadNotOwned,
    WorkingMemoryDisabled,
    WriteConflict,
)
from memory.validation import camel_case, clean_text

logger = logging.getLogger("memory.api")

# What a client is told to wait for a service that did not say it itself, in seconds.
RETRY_AFTER = 10
# The error text names the first few issues; `issues` has them all.
NAMED = 3

STATUSES: dict[type[Exception], int] = {
    ThreadNotFound: status.HTTP_404_NOT_FOUND,
    ThreadNotOwned: status.HTTP_403_FORBIDDEN,
    ThreadConflict: status.HTTP_409_CONFLICT,
    MessageConflict: status.HTTP_409_CONFLICT,
    ResourceConflict: status.HTTP_409_CONFLICT,
    SemanticRecallNotConfigured: status.HTTP_400_BAD_REQUEST,
    WorkingMemoryDisabled: status.HTTP_400_BAD_REQUEST,
}
_INDEX = re.compile(r"\[(\d+)\]")


class InvalidInput(exceptions.APIException):
    """Something is wrong with the query, the body or the path of the request; `issues` has all of it.

    Args:
        where: "query parameters", "request body" or "path".
        issues: all that is wrong there.
    """

    status_code = status.HTTP_400_BAD_REQUEST

    def __init__(self, where: str, issues: Iterable[Issue]) -> None:
        self.where = where
        self.issues = tuple(issues)
        super().__init__(where)


class BodyTooLarge(exceptions.APIException):
    """The body has more bytes than the site allows. It is not read."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE

    def __init__(self) -> None:
        super().__init__(f"The request body must have at most {memory_settings.HTTP_MAX_BODY:,} bytes.")


class ResourceNotFound(exceptions.NotFound):
    """The resource that was named is not the caller's, whether it exists or not."""

    default_detail = "There is no resource with this id."


class AgentNotFound(exceptions.NotFound):
    """The agent that was named is not configured."""

    default_detail = "There is no agent with this name."


def wire_path(path: str, names: Mapping[str, str]) -> str:
    """The path of a parameter of a verb as the request spelled it: `order_by.field` is `orderBy.field`.

    Everything behind the first step is what the caller wrote. Indexes are steps too: `messages.0.role`.

    Args:
        names: where a parameter has another place on this route than its name tells.
    """
    head, *tail = _INDEX.sub(r".\1", path).split(".", 1)
    return ".".join([names.get(head, camel_case(head)), *tail])


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """The answer to an exception of one of our views; None for what is a fault of ours."""
    answer = answer_to(error, getattr(context.get("view"), "renamed", {}))
    if isinstance(error, OperationalError | InterfaceError):
        logger.error("The database failed: %s", error)
    if answer is not None:
        set_rollback()
    return answer


def answer_to(error: Exception, renamed: Mapping[str, str]) -> Response | None:
    """:func:`handle`, without an end to the transaction."""
    match error:
        case RecallError():
            issues = [Issue(wire_path(issue.field, renamed), issue.message) for issue in error.issues]
            return _invalid("Invalid request", issues)
        case InvalidInput():
            return _invalid(f"Invalid {error.where}", error.issues)
        case exceptions.ParseError() | UnreadablePostError():
            return _invalid("Invalid request body", [Issue("body", str(getattr(error, "detail", error)))])
        case RecursionError():
            return _invalid("Invalid request", [Issue("body", "is nested too deeply")])
        case EmbedderError():
            seconds = RETRY_AFTER if error.retry_after is None else max(1, math.ceil(error.retry_after))
            return _unavailable("The embedder failed. Try again later.", seconds)
        case WriteConflict():
            return _unavailable(str(error), 1)
        case RowsProtected():
            # Callers are not told what else the site has.
            return _error(status.HTTP_409_CONFLICT, "Other records of this site hold it.")
        case OperationalError() | InterfaceError():
            return _unavailable("The database cannot be reached. Try again later.", RETRY_AFTER)
        case exceptions.APIException():
            return _of_framework(error)
        case Http404():
            return _error(status.HTTP_404_NOT_FOUND, "Not found.")
        case PermissionDenied():
            return _error(status.HTTP_403_FORBIDDEN, "You may not do this.")
        case RequestDataTooBig():
            return _of_framework(BodyTooLarge())
        case SuspiciousOperation() | BadRequest() | MultiPartParserError():
            return _error(status.HTTP_400_BAD_REQUEST, "Bad request.")
    known = STATUSES.get(type(error))
    return None if known is None else _error(known, str(error))


def _of_framework(error: exceptions.APIException) -> Response:
    headers: dict[str, str] = {}
    code = error.status_code
    if isinstance(error, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        # The framework makes it 403 where the first authenticator, such as sessions, names no scheme.
        code = status.HTTP_401_UNAUTHORIZED
        if scheme := getattr(error, "auth_header", None):
            headers["WWW-Authenticate"] = scheme
    wait = getattr(error, "wait", None)
    if wait is not None:
        headers["Retry-After"] = str(math.ceil(wait))
    return _error(code, str(error.detail), headers)


def _invalid(summary: str, issues: Iterable[Issue]) -> Response:
    shown = [{"field": clean_text(issue.field), "message": clean_text(issue.message)} for issue in issues]
    named = "; ".join(f"{issue['field']} {issue['message']}" for issue in shown[:NAMED])
    more = f"; and {len(shown) - NAMED} more" if len(shown) > NAMED else ""
    text = f"{summary}: {named}{more}"
    body = {"error": text if text.endswith("?") else f"{text}.", "issues": shown}
    return Response(body, status=status.HTTP_400_BAD_REQUEST)


def _unavailable(text: str, seconds: int) -> Response:
    return _error(status.HTTP_503_SERVICE_UNAVAILABLE, text, {"Retry-After": str(seconds)})


def _error(code: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response({"error": clean_text(text)}, status=code, headers=dict(headers or {}))
