"""What each route takes and gives: the views run by it, and the schema describes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from rest_framework.response import Response

if TYPE_CHECKING:
    from rest_framework.request import Request

    from memory.api.base import MemoryViewSet
    from memory.api.fields import WireSerializer

Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one route.

    Attributes:
        answer: the shape of the answer, always of status 200; None = the route only ever ends in an error.
        query, body: what a request may hold; None = nothing is read.
        body_optional: a request without a body counts as an empty object.
        raises: the errors of the verb that this route can end in, beside bad input.
    """

    answer: type[WireSerializer] | None
    query: type[WireSerializer] | None = None
    body: type[WireSerializer] | None = None
    body_optional: bool = False
    raises: tuple[type[Exception], ...] = ()


def operation(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Response]]:
    """Make a method of a view one of a route; `options` are those of :class:`Operation`.

    The method is given the checked values as `query` and `body`, where the operation has them, under their
    snake_case names, and returns what the answer's shape is filled from.
    """
    declared = Operation(**options)

    def decorate(method: Callable[..., Any]) -> Callable[..., Response]:
        @wraps(method)
        def handler(view: MemoryViewSet, request: Request, **path: Any) -> Response:
            values: dict[str, Values] = {}
            if declared.body is not None:
                view.parse_body()
            if declared.query is not None:
                values["query"] = view.read_query(declared.query)
            if declared.body is not None:
                values["body"] = view.read_body(declared.body, optional=declared.body_optional)
            answer = method(view, **values)
            return Response(answer if declared.answer is None else declared.answer(answer).data)

        vars(handler)["operation"] = declared
        return handler

    return decorate
