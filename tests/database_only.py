"""A pytest plugin for the second database of a run: without the tests that ask none and have just run."""

from __future__ import annotations

import pytest

# The fixtures by which pytest-django lets a test in to the database.
FIXTURES = {"db", "transactional_db", "django_db_reset_sequences", "django_db_serialized_rollback"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests with a database; all, where none was asked for that has one."""
    kept, others = [], []
    for item in items:
        asks = item.get_closest_marker("django_db") or FIXTURES & set(getattr(item, "fixturenames", ()))
        (kept if asks else others).append(item)
    if kept and others:
        config.hook.pytest_deselected(items=others)
        items[:] = kept
