"""Bodies that are large, deep, or hold what no database stores (contract sections 3 and 7)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api import Caller, message
from tests.api.bodies import BAD_TEXT, OWN, encoded, fields_of, is_named, raw, refused, takes
from tests.api.routes import BODIES, distinct, examples
from tests.bad_input import nested

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# Where any JSON may stand, or some that holds more.
FREE = {"metadata", "messages", "options", "memoryConfig", "threadConfig", "include", "filter", "orderBy"}
LET_IN = {"HTTP_MAX_BODY": 50_000_000, "EMBEDDERS": {}}


@pytest.mark.smoke
def test_too_large_a_body_is_413(guarded: Caller, settings: Any) -> None:
    for route in BODIES:
        (data, *_) = encoded(route, json.dumps("x" * 10_000_000))
        answer = raw(guarded, route, data)
        assert (answer.status, set(answer.body)) == (413, {"error"})
    settings.MEMORY = {**settings.MEMORY, "HTTP_MAX_BODY": 20}
    assert guarded.post("threads", {"resourceId": "r", "title": "x"}).status == 413
    assert guarded.post("threads", {"resourceId": "r"}).status == 200


def test_too_long_a_text_is_named_where_the_site_lets_it_in(guarded: Caller, settings: Any) -> None:
    settings.MEMORY = LET_IN
    for route in distinct(BODIES):
        (example, *_) = examples(route, OWN)
        crowded = example
        texts = [place for place, field in fields_of(route) if takes(field, "text")]
        for place in texts:
            crowded = crowded.with_value(place, "x" * 1_000_001)
        answer = crowded.send(guarded, route)
        assert all(is_named(place, answer) for place in texts), (route, answer.fields)
    text = "x" * 10_000_000
    refused(guarded.post("save-messages", {"messages": [message("m", "t", "r", text)]}), "messages.0.content")
    refused(guarded.post("threads", {"resourceId": "r", "metadata": {"a": text}}), "metadata")


def test_10_000_messages_are_stored_and_no_more(guarded: Caller, settings: Any) -> None:
    settings.MEMORY = LET_IN
    many = [message(f"m{number}", "t", "r", "x") for number in range(10_000)]
    assert len(guarded.post("save-messages", {"messages": many}).body["messages"]) == 10_000
    refused(guarded.post("save-messages", {"messages": [*many, many[0]]}), "messages")
    names = [row["id"] for row in many]
    assert guarded.post("messages/delete", {"messageIds": names}).status == 200
    refused(guarded.post("messages/delete", {"messageIds": [*names, "x"]}), "messageIds")


@pytest.mark.parametrize("depth", [99, 101, 900, 1_000, 20_000])
def test_nesting_is_stored_or_refused(guarded: Caller, depth: int) -> None:
    """Where any JSON may stand, up to 100 levels are kept; nothing deeper is an error of the server."""
    text = '{"a":' * depth + "1" + "}" * depth
    for route in distinct(BODIES):
        (example, *_) = examples(route, OWN)
        for place, _ in fields_of(route):
            if place[1] in FREE:
                data = json.dumps(example.with_value(place, "PLACE").body).replace('"PLACE"', text)
                answer = raw(guarded, route, data.encode())
                if place[-1] == "metadata":
                    assert answer.status == (200 if depth < 101 else 400), (route, place, answer)
        for data in encoded(route, text):
            raw(guarded, route, data)
    shape = json.dumps(message("m", "t", "r")).replace('"format": 2', f'"metadata": {text}')
    answer = guarded.raw("POST", "save-messages", f'{{"messages": [{shape}]}}'.encode())
    assert answer.status == (200 if depth < 101 else 400), answer
    if depth < 101:
        made = guarded.post("threads", {"resourceId": "r", "metadata": nested(depth)})
        assert made.body["metadata"] == nested(depth)


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_numbers_that_no_double_holds_are_400(guarded: Caller, number: str) -> None:
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("threads", {"resourceId": "r", "metadata": {"x": "PLACE"}}),
        ("save-messages", {"messages": [message("m", "t", "r", createdAt="PLACE")]}),
        ("save-messages", {"messages": [{**message("m", "t", "r"), "content": {"parts": [], "x": "PLACE"}}]}),
        ("recall", {"threadId": "t", "perPage": "PLACE"}),
        ("recall", {"threadId": "t", "filter": {"metadata": {"x": "PLACE"}}}),
        ("recall", {"threadId": "t", "filter": {"dateRange": {"start": "PLACE"}}}),
        ("recall", {"threadId": "t", "threadConfig": {"semanticRecall": {"threshold": "PLACE"}}}),
    ]
    for path, body in bodies:
        data = json.dumps(body).replace('"PLACE"', number).encode()
        assert guarded.raw("POST", path, data).status == 400, body


@pytest.mark.smoke
def test_what_cannot_be_stored_is_replaced_in_text_and_refused_in_ids(guarded: Caller) -> None:
    """U+0000 and lone surrogates (contract section 3)."""
    for route in BODIES:
        (example, *_) = examples(route, OWN)
        for place, _ in fields_of(route):
            if place[-1].endswith(("Id", "Ids")):
                answer = example.with_value(place, BAD_TEXT).send(guarded, route)
                assert is_named(place, answer), (place, answer)
    clean = "a\ufffdb\ufffdc"
    made = guarded.post("threads", {"resourceId": "r", "title": BAD_TEXT, "metadata": {BAD_TEXT: BAD_TEXT}})
    assert (made.body["title"], made.body["metadata"]) == (clean, {clean: clean})
    saved = guarded.post("save-messages", {"messages": [message("m", "t", "r", BAD_TEXT)]})
    assert saved.body["messages"][0]["content"]["parts"][0]["text"] == clean
    refused(guarded.post("save-messages", {"messages": [message(BAD_TEXT, "t", "r")]}), "messages.0.id")
    refused(guarded.post("recall", {"threadId": "t", BAD_TEXT: 1}), clean)
    search = {"vectorSearchString": BAD_TEXT, "threadConfig": {"semanticRecall": True}}
    assert guarded.post("recall", {"threadId": "t", **search}).status == 200
