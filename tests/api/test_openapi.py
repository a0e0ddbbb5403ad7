"""The OpenAPI schema and its page (issue 3, point 5)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import patched_settings
from drf_spectacular.validation import validate_schema

from memory import Memory
from memory.api.openapi.failures import SAMPLES
from memory.api.openapi.texts import TEXTS, text_of
from memory.api.urls import urlpatterns
from memory.models import Resource
from tests.api import Caller

PREFIX = "/api/memory/"
METHODS = ("get", "post", "put", "patch", "delete")
Node = dict[str, Any]


def generate() -> Node:
    schema: Node = SchemaGenerator().get_schema(public=True)
    return schema


@pytest.fixture(scope="module")
def schema() -> Node:
    return generate()


@pytest.fixture
def documented(ada: Caller, thread: Callable[..., str], settings: Any) -> Caller:
    """A limited caller who owns what the examples name."""
    settings.MEMORY = {**settings.MEMORY, "AGENTS": {"default": {"working_memory": {"enabled": True}}}}
    Resource.objects.filter(uid="ada").update(uid="customer-7")
    memory = Memory()
    memory.create_thread("customer-7", thread_id="travel-2026", metadata={"category": "travel"})
    rows = [
        {"id": uid, "thread_id": "travel-2026", "role": "user", "content": "Ramen?"} for uid in ("m-1", "m-2")
    ]
    memory.save_messages(rows)
    return ada


def operations(schema: Node) -> Iterator[tuple[str, Node]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def routes(patterns: list[URLPattern | URLResolver], prefix: str = PREFIX) -> Iterator[tuple[str, Any]]:
    """The paths of the urls as the schema spells them, with the callbacks of their views."""
    for pattern in patterns:
        text = prefix + str(pattern.pattern).removeprefix("^").removesuffix("$").removesuffix("\\Z")
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, text)
        else:
            yield re.sub(r"\(\?P<thread_id>\[\^/\]\+\)", "{threadId}", text), pattern.callback


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_the_schema_is_valid_and_without_warnings(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is the site that chooses the version of OpenAPI."""
    with patched_settings({"OAS_VERSION": version}):
        call_command("spectacular", "--validate", "--fail-on-warn")
    output, errors = capsys.readouterr()
    assert output.startswith(f"openapi: {version}")
    assert errors == ""


def test_every_route_is_there_and_nothing_else(schema: Node) -> None:
    wanted = set()
    for path, callback in routes(urlpatterns):
        for method, action in callback.actions.items():
            if hasattr(getattr(callback.cls, action), "operation") and method in METHODS:
                wanted.add(f"{method.upper()} {path}")
    assert wanted == {name for name, _ in operations(schema)}
    # The one that has no operation answers what is no route.
    without = [
        path
        for path, callback in routes(urlpatterns)
        if not all(
            hasattr(getattr(callback.cls, action), "operation") for action in callback.actions.values()
        )
    ]
    assert without == [PREFIX + ".*"]


def test_names_are_unique_and_tell_the_mirrors_apart(schema: Node) -> None:
    found = {operation["operationId"]: name for name, operation in operations(schema)}
    assert len(found) == sum(1 for _ in operations(schema))
    for name, operation in operations(schema):
        mirror = "/network/" in name
        assert operation["operationId"].startswith("memoryNetwork" if mirror else "memory")
        assert (operation["tags"] == ["memory: network"]) == mirror
        assert operation["summary"]
    assert {"memoryThreadsList", "memoryThreadsClone", "memoryRecall", "memorySaveMessages"} <= set(found)


def test_every_parameter_body_and_answer_has_words_and_an_example(schema: Node) -> None:
    for name, operation in operations(schema):
        for parameter in operation["parameters"]:
            assert parameter["description"], (name, parameter)
            assert "example" in {**parameter, **parameter.get("content", {}).get("application/json", {})}
        contents = [operation["requestBody"]] if "requestBody" in operation else []
        for status, response in operation["responses"].items():
            assert response["description"], (name, status)
            for header in response.get("headers", {}).values():
                assert header["description"], (name, status)
                assert "example" in header
            contents.append(response)
        for described in contents:
            (content,) = described["content"].values()
            assert "example" in content or all(
                e["summary"] and e["value"] for e in content["examples"].values()
            )


@pytest.mark.django_db
def test_the_examples_work_as_they_stand(schema: Node, documented: Caller) -> None:
    """All parameters and the body of each operation at once; the answer has the form that is documented."""
    for name, operation in operations(schema):
        method, path = name.split()
        query = {}
        for parameter in operation["parameters"]:
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", parameter["example"])
            elif "content" in parameter:
                query[parameter["name"]] = json.dumps(parameter["content"]["application/json"]["example"])
            else:
                query[parameter["name"]] = json.dumps(parameter["example"]).strip('"')
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        with transaction.atomic():
            answer = documented.send(method, path.removeprefix(PREFIX), body, **query)
            transaction.set_rollback(True)
        assert answer.status == (200 if "200" in operation["responses"] else 400), (name, answer)
        shape = operation["responses"][str(answer.status)]["content"]["application/json"]["schema"]
        validator = jsonschema.Draft202012Validator({**shape, "components": schema["components"]})
        assert list(validator.iter_errors(answer.body)) == [], name


def test_every_field_of_a_body_or_an_answer_has_words(schema: Node) -> None:
    shapes = {name: shape for name, shape in schema["components"]["schemas"].items() if "properties" in shape}
    assert {"MemoryThread", "MemoryMessage", "MemoryContent", "MemoryRecallBody", "MemoryError"} <= set(
        shapes
    )
    generated = [name for name in shapes if name not in ("MemoryOptions", "MemoryStrictOptions")]
    for name in generated:
        for field, property_ in shapes[name]["properties"].items():
            assert property_["description"], f"{name}.{field}"


def test_a_field_without_words_is_no_schema() -> None:
    """So none can be added without them."""
    from memory.api.fields import IdField, WireSerializer

    class NewBody(WireSerializer):
        strange_id = IdField()

    with pytest.raises(KeyError, match="strangeId"):
        text_of(NewBody(), "strangeId")


def test_no_words_are_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry is used by some field."""
    used: set[str] = set()

    class Recorded(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            used.add(key)
            return super().get(key, default)

        def __getitem__(self, key: str) -> Any:
            used.add(key)
            return super().__getitem__(key)

    monkeypatch.setattr("memory.api.openapi.texts.TEXTS", Recorded(TEXTS))
    generate()
    assert sorted(TEXTS.keys() - used) == []


def test_every_error_that_a_route_declares_is_answered_so(schema: Node) -> None:
    """Statuses, by name: what the handler makes of the sample is what is documented."""
    for path, callback in routes(urlpatterns):
        for method, action in callback.actions.items():
            declared = getattr(getattr(callback.cls, action), "operation", None)
            if declared is None or method not in METHODS:
                continue
            responses = schema["paths"][path][method]["responses"]
            assert {"400", "401"} <= set(responses)
            assert ("200" in responses) == (declared.answer is not None)
            assert ("413" in responses) == (declared.body is not None)
            assert ("429" in responses) == hasattr(callback.cls, "throttle_scope")
            named = {
                example
                for response in responses.values()
                for example in response["content"]["application/json"].get("examples", {})
            }
            assert {kind.__name__ for kind in declared.raises} <= named
    used = {
        kind
        for _, callback in routes(urlpatterns)
        for action in callback.actions.values()
        for kind in getattr(getattr(getattr(callback.cls, action), "operation", None), "raises", ())
    }
    assert used == set(SAMPLES)


def test_limits_are_those_of_the_settings(settings: Any) -> None:
    settings.MEMORY = {**settings.MEMORY, "HTTP_MAX_PER_PAGE": 7, "MAX_TEXT": 9, "MAX_TOP_K": 3}
    schema = generate()
    parameters = schema["paths"][f"{PREFIX}threads"]["get"]["parameters"]
    assert [one["schema"]["maximum"] for one in parameters if one["name"] == "perPage"] == [7]
    shapes = schema["components"]["schemas"]
    assert shapes["MemoryThreadBody"]["properties"]["title"]["maxLength"] == 9
    search = shapes["MemoryOptions"]["properties"]["semanticRecall"]["anyOf"][1]
    assert search["properties"]["topK"]["maximum"] == 3


def test_components_are_ours_by_name(schema: Node) -> None:
    """The host's own schema may have a `Message` and an enum `Role` of its own."""
    assert [name for name in schema["components"]["schemas"] if not name.startswith("Memory")] == []


def test_anyone_may_read_schema_and_page(client: Client) -> None:
    """They hold no data; a wrong token is no hindrance. The page takes nothing from outside and has no
    script of its own in it."""
    for headers in ({}, {"Authorization": "Token wrong"}):
        answer = client.get("/api/schema/", {"format": "json"}, headers=headers)
        assert answer.status_code == 200
        validate_schema(answer.json())
        page = client.get("/api/docs/", headers=headers)
        assert page.status_code == 200
    text = page.content.decode()
    assert "<script>" not in text
    assert " style=" not in text
    assert "<style" not in text
    sources = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert len(sources) == 5
    for source in sources:
        assert source.startswith("/")
        if source.startswith("/static/"):
            assert finders.find(source.removeprefix("/static/")) is not None
    script = client.get("/api/docs/", {"script": ""})
    assert script["content-type"].startswith("application/javascript")
    assert "//" not in re.sub(r"^\s*//.*", "", script.content.decode(), flags=re.MULTILINE)


def test_without_drf_spectacular_the_api_is_the_same() -> None:
    """It is optional: neither the app nor the urls of the API import it."""
    code = """
import sys
for name in ("drf_spectacular", "drf_spectacular_sidecar"):
    sys.modules[name] = None
from project.settings import test as settings
settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if "spectacular" not in name]
settings.REST_FRAMEWORK.pop("DEFAULT_SCHEMA_CLASS")
import django
django.setup()
import memory.api.urls
from memory.api.base import MemoryViewSet
print(type(MemoryViewSet.schema).__module__)
"""
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "project.settings.test"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("rest_framework.")


@pytest.mark.django_db
def test_a_session_may_write_from_the_page(documented: Caller) -> None:
    """Its script brings the CSRF token along."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(documented.user)
    script = client.get("/api/docs/", {"script": ""}).content.decode()
    (token,) = re.findall(r'request\.headers\["X-CSRFTOKEN"\] = "(\w+)"', script)
    body = json.dumps({"threadId": "travel-2026"})
    for headers, status in (({}, 403), ({"X-CSRFToken": token}, 200)):
        answer = client.post(f"{PREFIX}recall", body, "application/json", headers=headers)
        assert answer.status_code == status
