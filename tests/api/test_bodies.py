"""Bodies of every kind, on every route that takes one: stored as the contract says, or a 4xx that wrote
nothing (issue 3)."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api import Caller, message
from tests.api.bodies import BAD_TEXT, OWN, WRONG, encoded, fields_of, is_named, raw, refused, takes
from tests.api.routes import BODIES, Route, distinct, examples

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def test_odd_names_are_unknown_ones(guarded: Caller) -> None:
    """Ignored, but for `POST recall`."""
    for route in distinct(BODIES):
        (example, *_) = examples(route, OWN)
        plain = example.send(guarded, route)
        for name in (
            "",
            " ",
            ".",
            "0",
            BAD_TEXT,
            "a.b",
            "x" * 1_000,
            "__proto__",
            "errors",
            "non_field_errors",
        ):
            answer = example.with_value(("body", name), 1).send(guarded, route)
            assert answer.status == (400 if route.path == "recall" else plain.status), (route, name, answer)


@pytest.mark.parametrize("route", distinct(BODIES), ids=str)
def test_wrong_values_in_every_field(guarded: Caller, route: Route) -> None:
    """No field makes the server fail, and one that is given another kind of JSON is named."""
    (example, *_) = examples(route, OWN)
    assert example.send(guarded, route).status == (200 if "observ" not in route.path else 400)
    parents = {place[:2] for place, _ in fields_of(route) if len(place) > 2}
    for value in WRONG:
        for place in parents:
            example.with_value(place, value).send(guarded, route)
        crowded = example
        for place, _ in fields_of(route):
            crowded = crowded.with_value(place, value)
        answer = crowded.send(guarded, route)
        for place, field in fields_of(route):
            if takes(field, value):
                example.with_value(place, value).send(guarded, route)
            else:
                assert is_named(place, answer), (place, value, answer)


def test_wrong_values_in_messages(guarded: Caller) -> None:
    """Each key of a message, and of its content and its parts, with every value: what no issue names is
    stored, or names a thread that is not there."""
    whole = message("m", "t", "r", type="text", createdAt="2026-01-01T00:00:00Z")
    part = {"type": "tool-invocation", "toolInvocation": {"state": "result"}, "text": "x", "zzz": 1}
    text = {"type": "text", "text": "x"}
    keys = ("format", "parts", "content", "metadata", "toolInvocations", "reasoning", "zzz")

    def changed(value: Any) -> Iterator[Any]:
        yield from ({**whole, key: value} for key in whole)
        yield from ({**whole, "content": {"parts": [text], key: value}} for key in keys)
        yield from ({**whole, "content": {"parts": [{**part, key: value}]}} for key in part)
        yield {**whole, "content": {"parts": [text, value]}}
        yield {**whole, "content": {"parts": value, "content": value, "metadata": value}}
        yield value

    statuses = set()
    for wrong in WRONG:
        sent = list(changed(wrong))
        answer = guarded.post("save-messages", {"messages": sent})
        named = {int(field.split(".")[1]) for field in answer.fields if "." in field}
        for shape in (shape for at, shape in enumerate(sent) if at not in named):
            statuses.add(guarded.post("save-messages", {"messages": [shape]}).status)
    assert {200, 404} <= statuses


NO_JSON = {
    "broken": b"{bad",
    "two": b"{} {}",
    "white space": b" \n",
    "single quotes": b"{'a': 1}",
    "NaN": b'{"zzz": NaN}',
    "Infinity": b'{"zzz": Infinity}',
    "-Infinity": b'{"zzz": [{"a": -Infinity}]}',
    "Latin-1": b'{"zzz": "\xe9"}',
    "surrogate bytes": b'{"zzz": "\xed\xa0\x80"}',
    "UTF-8 with a mark": codecs.BOM_UTF8 + b"{}",
    "UTF-16": '{"zzz": 1}'.encode("utf-16"),
    "NUL": b"\x00",
    "gzip": gzip.compress(b"{}"),
    "5,000 digits": b'{"zzz": ' + b"9" * 5_000 + b"}",
    "100,000 lists": b'{"zzz": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100,000 objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "unclosed": b"[" * 100_000,
}


@pytest.mark.smoke
def test_a_body_that_is_no_json_is_400(guarded: Caller) -> None:
    for route in BODIES:
        for name, data in NO_JSON.items():
            headers = {"content-encoding": name} if name == "gzip" else {}
            refused(raw(guarded, route, data, headers=headers), "body")


def test_a_body_that_is_no_object_is_400(guarded: Caller) -> None:
    for route in BODIES:
        for data in (b"null", b"[]", b'"x"', b"5", b"true", b"[{}]", b"-0.0"):
            refused(raw(guarded, route, data), "root")


def test_a_missing_body_is_400_where_one_is_needed(guarded: Caller) -> None:
    for route in BODIES:
        answer = raw(guarded, route, b"")
        if route.operation.body_optional:
            assert answer.status == 200, answer
        else:
            refused(answer, "root")


@pytest.mark.parametrize(
    "content_type",
    [
        *("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
        *("application/xml", "\xff", "application", ";"),
    ],
)
def test_a_body_of_another_type_is_400(guarded: Caller, content_type: str) -> None:
    for route in BODIES:
        for data in encoded(route):
            refused(raw(guarded, route, data, content_type=content_type), "root")


def test_a_form_of_a_session_is_400(ada: Caller) -> None:
    """It is looked at for its CSRF token before."""
    ada.client.force_authenticate(None)
    ada.client.force_login(ada.user)
    for content_type in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        refused(ada.raw("POST", "threads", b'{"resourceId": "ada"}', content_type=content_type), "root")


def test_a_charset_and_json_of_other_types_are_fine(guarded: Caller) -> None:
    for content_type in ("application/json; charset=utf-8", "APPLICATION/JSON"):
        for route in distinct(BODIES):
            for data in encoded(route):
                plain = raw(guarded, route, data)
                assert raw(guarded, route, data, content_type=content_type).status == plain.status


def test_a_body_without_its_length_is_400(guarded: Caller) -> None:
    """It would be taken for a missing one, and a change for no change."""
    for route in BODIES:
        refused(raw(guarded, route, b"", headers={"transfer-encoding": "chunked"}), "root")


def test_a_length_that_is_wrong_is_no_fault_of_the_server(guarded: Caller) -> None:
    for route in BODIES:
        for length in ("-1", "abc", "1", "1.5"):
            answer = raw(guarded, route, next(encoded(route)), headers={"content-length": length})
            assert answer.status == 400 or route.operation.body_optional, (route, length, answer)


def test_of_a_key_given_twice_the_last_counts(guarded: Caller) -> None:
    body = b'{"title": 5, "resourceId": [], "resourceId": "r", "title": "x"}'
    assert guarded.raw("POST", "threads", body).body["title"] == "x"
    refused(guarded.raw("POST", "threads", b'{"resourceId": "r", "resourceId": 5}'), "resourceId")
    assert guarded.raw("POST", "recall", b'{"threadId": 5, "threadId": "t"}').status == 200
