"""A new route, or a new field of a route, without a leak test fails the suite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import path
from rest_framework import serializers as framework
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.api import answers, fields, parameters
from memory.api.base import MemoryViewSet
from memory.api.operations import operation
from tests.api.leaks.places import requests
from tests.api.routes import ROUTES, Own, Route, examples, routes

OWN = Own(resource="r", thread="t", message="m")


def new_route(url: str, **declared: Any) -> Route:
    class NewViewSet(MemoryViewSet):
        @operation(answer=answers.ResultShape, **declared)
        def list(self, **values: Any) -> Any:
            raise NotImplementedError

    (found,) = routes([path(url, NewViewSet.as_view({"get": "list"}))])
    return found


@pytest.mark.django_db
def test_every_route_and_every_field_has_its_requests(thread: Callable[..., str]) -> None:
    thread("t", "r", 1)
    for route in ROUTES:
        for example in examples(route, OWN):
            assert dict(requests(route, example, "?", OWN)), route


def test_the_routes_are_those_of_the_documentation() -> None:
    assert len(ROUTES) == 27
    assert {"POST recall", "GET search", "DELETE network/threads/{thread_id}"} <= set(map(str, ROUTES))


def test_a_new_route_needs_an_example() -> None:
    route = new_route("resources")
    with pytest.raises(KeyError, match="GET resources"):
        examples(route, OWN)


def test_a_view_that_declares_nothing_is_found() -> None:
    class PlainView(APIView):
        def get(self, request: Any) -> Response:
            return Response({})

    with pytest.raises(AssertionError, match="declares no operation"):
        list(routes([path("plain", PlainView.as_view())]))


@pytest.mark.parametrize(
    ("field", "fault"),
    [
        (framework.CharField(), "CharField: no form is known"),
        (type("PeopleField", (fields.CheckedField,), {})(), "PeopleField: no form is known"),
        (fields.TextField(), "is a text that nobody has looked at"),
        (parameters.TextParameter(), "is a text that nobody has looked at"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_a_new_field_needs_a_form(field: Any, fault: str) -> None:
    inner = type("Inner", (fields.WireSerializer,), {"about_whom": field})
    outer = type("Outer", (fields.WireSerializer,), {"about_whom": field, "options": inner()})
    for serializer in (inner, outer):
        route = new_route("status", query=serializer)
        (example, *_) = examples(route, OWN)
        with pytest.raises(LookupError, match=f"aboutWhom is a.*{fault}|aboutWhom {fault}"):
            list(requests(route, example, "?", OWN))


def test_a_new_field_of_a_known_class_is_filled() -> None:
    inner = type("Inner", (fields.WireSerializer,), {"person_id": fields.IdField()})
    route = new_route("status", query=type("Outer", (fields.WireSerializer,), {"options": inner()}))
    (example, *_) = examples(route, OWN)
    ((place, request),) = requests(route, example, "?", OWN)
    assert (place, request.query["options"]) == ("query.options.personId", {"personId": "?"})
