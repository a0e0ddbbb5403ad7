"""Schemathesis: what the schema says is what the API does, whatever is sent (issue 3).

Every request is sent as a caller limited to one owner, and as a member of the staff who may act for all of
them. Each call stands in a savepoint of its own, so that all find the same rows. What is drawn is the same in
every run; `SCHEMATHESIS_EXAMPLES=2000` draws more, `SCHEMATHESIS_SEED=7` something else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import schemathesis
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import override_settings
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase
from rest_framework.authtoken.models import Token
from schemathesis import checks

from memory import Memory
from tests.api import Caller

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# A longer run also goes through the limits of every parameter one by one.
THOROUGH = "SCHEMATHESIS_EXAMPLES" in os.environ
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "8"))
SEED = int(os.environ.get("SCHEMATHESIS_SEED", "1"))
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.unsupported_method,
    checks.allow_header_conformance,
]
# The routes of the client library ignore unknown fields; here they are refused.
STRICT = "POST /api/memory/recall"

# Ids that exist, of both owners, among those that do not.
KNOWN = {
    "threads": ["ada-1", "ada-2", "bob-1"],
    "resources": ["ada", "bob"],
    "messages": ["ada-1-1", "ada-1-2", "bob-1-1"],
    "agents": ["default", "client"],
}
PLACES = {
    "path.threadId": "threads",
    "query.threadId": "threads",
    "query.resourceId": "resources",
    "query.agentId": "agents",
    "body.threadId": "threads",
    "body.newThreadId": "threads",
    "body.resourceId": "resources",
    "body.agentId": "agents",
    "body.messages[*].id": "messages",
    "body.messages[*].threadId": "threads",
    "body.messages[*].resourceId": "resources",
    "body.messageIds[*]": "messages",
    "body.include[*].id": "messages",
    "body.options.messageFilter.messageIds[*]": "messages",
}
# Small limits, so that what is over them is not large; the schema tells them.
MEMORY = {
    **settings.MEMORY,
    "AGENTS": {
        "default": {"semantic_recall": True, "working_memory": {"enabled": True}},
        "client": {"working_memory": {"enabled": True, "scope": "thread"}},
    },
    "HTTP_MAX_BODY": 20_000,
    "HTTP_MAX_PER_PAGE": 50,
    "MAX_INCLUDES": 5,
    "MAX_MESSAGES": 5,
    "MAX_PARTS": 5,
    "MAX_TEXT": 500,
}
CONFIG = schemathesis.Config.from_dict(
    {
        "seed": SEED,
        "dictionaries": {name: {"values": ids} for name, ids in KNOWN.items()},
        "parameters": {place: {"dictionary": name, "probability": 0.8} for place, name in PLACES.items()},
        "generation": {"database": "none", "deterministic": True},
        "phases": {"coverage": {"enabled": THOROUGH}},
    }
)
with override_settings(MEMORY=MEMORY):
    schema = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(public=True), config=CONFIG)
schema.app = get_wsgi_application()


@pytest.fixture(autouse=True)
def limits() -> Iterator[None]:
    with override_settings(MEMORY=MEMORY):
        yield


@pytest.fixture(autouse=True)
def connection_stays() -> Iterator[None]:
    """Requests leave the connection of the test open, as with Django's own test client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def tokens(
    ada: Caller,
    staff: Caller,
    thread: Callable[..., str],
    on_commit: Callable[..., AbstractContextManager[Any]],
) -> list[str]:
    """Those of the two callers. There are threads of two owners, with messages and their vectors, and a
    working memory."""
    with on_commit():
        thread("ada-1", "ada", 3)
        thread("ada-2", "ada", 1)
        thread("bob-1", "bob", 3)
        Memory().update_working_memory("# Profile\n- **Name**: Ada", thread_id="ada-1", resource_id="ada")
    return [Token.objects.create(user=caller.user).key for caller in (ada, staff)]


@schema.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_conformance(case: schemathesis.Case, tokens: list[str]) -> None:
    """Statuses, content types, headers and bodies are those of the schema; never 500."""
    more = [checks.negative_data_rejection] if case.operation.label == STRICT else []
    for token in tokens:
        headers = {"Authorization": f"Token {token}", "Host": "testserver"}
        with transaction.atomic():
            response = case.call(headers=headers)
            transaction.set_rollback(True)
        case.validate_response(response, checks=[*CHECKS, *more], headers=headers)
