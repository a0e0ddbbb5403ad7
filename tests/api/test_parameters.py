"""Query parameters of every kind, on every route that takes one: read as the client library writes them, or
a 400 that names them (issue 3)."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from memory.api.parameters import CountParameter, JSONParameter, Parameter
from tests.api import Answer, Caller
from tests.api.bodies import BAD_TEXT, OWN, WRONG, is_named, refused, takes
from tests.api.routes import ROUTES, Request, Route, distinct, examples, places

pytestmark = [pytest.mark.django_db, pytest.mark.once]

QUERIES = [route for route in distinct(ROUTES) if route.operation.query is not None]
# No whole numbers from 0, as JavaScript coerces text, that a database can count.
NO_NUMBERS = (
    *("-1", "1.5", "1e999", "1e308", "NaN", "Infinity", "0x10", "1_000", "１２", "٣", "null"),
    *("9" * 29, "9" * 400, "true", "soon", "[]", "1 2", "1,5", "--1", "+", ".", "e5"),
)
TEXTS = (
    *("", " ", "-0", "\x00", BAD_TEXT.replace("\ud800", ""), "x" * 513, "x" * 20_000, "undefined"),
    *("{}", '"x"', "{", "[1", "{'a': 1}", "NaN]", '{"a": NaN}', '{"a": 1e999}', "{}{}", "\ufeff{}"),
    *("[" * 5_000, '{"a":' * 900 + "1" + "}" * 900, '{"a": ' + "9" * 5_000 + "}", '{"\\ud800": "\\u0000"}'),
    *("2026-01-01", "2026-13-01", "0001-01-01T00:00:00+14:00", "' OR 1=1 --", "%", "*", "<b>", "🙂"),
)
BRACKETS = ("[a]", "[]", "[", "]", "[a][b]", "[direction]", "[field]", "[0][id]", "[metadata]", "[\x00]")


def fields_of(route: Route) -> list[tuple[tuple[str, ...], Any]]:
    return [(place, field) for place, field in places(route) if place[0] == "query"]


def send(caller: Caller, route: Route, request: Request, *more: tuple[str, str]) -> Answer:
    """A request with parameters that follow those it has, and are encoded here."""
    query = [
        (name, json.dumps(value) if isinstance(value, dict | list) else value)
        for name, value in request.query.items()
        if name not in {key for key, _ in more}
    ]
    text = urlencode([*query, *more], errors="surrogatepass")
    body = b"" if request.body is None else json.dumps(request.body).encode()
    return caller.raw(route.method, f"{route.at('t')}?{text}", body)


@pytest.mark.parametrize("route", QUERIES, ids=str)
def test_any_text_in_every_parameter(guarded: Caller, route: Route) -> None:
    """No text makes the server fail; what is no number or no JSON is named where one is wanted."""
    (example, *_) = examples(route, OWN)
    for place, field in fields_of(route):
        name = place[-1]
        for text in TEXTS + NO_NUMBERS:
            answer = send(guarded, route, example, (name, text))
            if isinstance(field, CountParameter) and text in NO_NUMBERS:
                assert is_named(place, answer), (name, text, answer)
        for text in ("x" * 513, "\x00") if name.endswith("Id") else ():
            assert is_named(place, send(guarded, route, example, (name, text))), (name, text)


@pytest.mark.parametrize("route", QUERIES, ids=str)
def test_any_json_in_every_parameter_of_json(guarded: Caller, route: Route) -> None:
    (example, *_) = examples(route, OWN)
    for place, field in fields_of(route):
        if isinstance(field, JSONParameter):
            for value in WRONG:
                answer = send(guarded, route, example, (place[-1], json.dumps(value)))
                assert takes(field, value) or is_named(place, answer), (place, value, answer)


@pytest.mark.parametrize("route", QUERIES, ids=str)
def test_brackets_in_every_parameter(guarded: Caller, route: Route) -> None:
    """One level is an object where one is wanted; deeper ones and odd ones are no parameters of anything."""
    (example, *_) = examples(route, OWN)
    for place, _ in fields_of(route):
        for bracket in BRACKETS:
            bare = example if place[-1] == "searchQuery" else Request(thread="t", query={}, body=example.body)
            send(guarded, route, bare, (f"{place[-1]}{bracket}", "x"))
            send(guarded, route, example, (f"{place[-1]}{bracket}", "x"), (f"{place[-1]}{bracket}", "y"))


@pytest.mark.parametrize("route", QUERIES, ids=str)
def test_a_parameter_given_twice_is_400(guarded: Caller, route: Route) -> None:
    """`http.md`, section 1. An `orderBy` that is no JSON is ignored, as often as it comes."""
    (example, *_) = examples(route, OWN)
    for place, field in fields_of(route):
        assert isinstance(field, Parameter)
        for text in ("x", "{}", ""):
            answer = send(guarded, route, example, (place[-1], text), (place[-1], text))
            assert is_named(place, answer), (place, text, answer)


def test_too_many_parameters_are_400(guarded: Caller) -> None:
    """More than `DATA_UPLOAD_MAX_NUMBER_FIELDS`."""
    for route in QUERIES:
        (example, *_) = examples(route, OWN)
        many = [(f"p{number}", "x") for number in range(1_001)]
        assert send(guarded, route, example, *many).status == 400, route


def test_query_and_path_that_are_no_utf_8(guarded: Caller) -> None:
    for path in ("threads/%FF%FE", "threads/%ED%A0%80", f"threads/{quote('🙂')}"):
        assert guarded.get(path).status == 404
    for path in ("threads/%00", "threads/a%00b/messages", "threads/%20", f"threads/{'x' * 513}"):
        refused(guarded.get(path), "threadId")
    assert guarded.raw("GET", "threads?resourceId=%FF%00", b"").status == 400
    assert guarded.raw("GET", "threads?resourceId=%FF&%FF=1&=&&;&?", b"").body["threads"] == []
    found = guarded.get("search", resourceId="r", searchQuery="a\x00b")
    assert (found.status, found.body["query"]) == (200, "a\ufffdb")
