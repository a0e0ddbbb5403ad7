"""What all tests share: the hypothesis profile and the fixtures."""

from __future__ import annotations

import os
import platform
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import django
import hypothesis
import pytest
from django.conf import settings
from django.db import connection
from django.test import TestCase

from tests import queries

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.embedders.hashing import HashEmbedder

hypothesis.settings.register_profile(
    "recall",
    # A database call now and then takes long for reasons of its own.
    deadline=None,
    # CI fails for what was changed, not for what was drawn; at home every run looks somewhere else.
    derandomize=bool(os.environ.get("CI")),
    database=None,
    # The transaction of a test is the frame around all of its examples: they make what they need.
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("recall")


def pytest_report_header() -> str:
    """Say in the first lines of a run what it runs on."""
    vendor = settings.DATABASES["default"]["ENGINE"].rpartition(".")[2]
    return f"recall: {vendor}, Django {django.__version__}, Python {platform.python_version()}"


@pytest.fixture
def is_postgres() -> bool:
    """Whether the default database is PostgreSQL."""
    return connection.vendor == "postgresql"


@pytest.fixture(autouse=True)
def _fresh_embedders() -> None:
    """No test sees what another one had embedded."""
    from memory.embedders import embedders

    embedders.reset()


@pytest.fixture
def embedder() -> HashEmbedder:
    """The embedder of the alias ``default``, with the record of its calls empty."""
    from memory.embedders import embedders

    return cast("HashEmbedder", embedders["default"])


@pytest.fixture
def on_commit() -> Callable[..., AbstractContextManager[list[Callable[[], Any]]]]:
    """``with on_commit(): ...`` runs at its end what the block left for after the commit.

    So a test of what follows a commit, such as embedding, needs only the transaction that is rolled back
    at its end, and no emptying of tables. ``using=`` names another database.
    """
    return partial(TestCase.captureOnCommitCallbacks, execute=True)


@pytest.fixture
def count_queries() -> Callable[..., AbstractContextManager[queries.Statements]]:
    """:func:`tests.queries.count_queries`: ``with count_queries(at_most=3) as statements: ...``."""
    return queries.count_queries
