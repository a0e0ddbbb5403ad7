"""The tables of this app, by name: whatever stands below the models cannot import them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from django.apps import apps

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

    from memory import schema
    from memory.querysets.embedding import EmbeddingQuerySet
    from memory.querysets.message import MessageQuerySet
    from memory.querysets.thread import ThreadQuerySet


def resources(using: str) -> QuerySet[schema.Resource]:
    rows: QuerySet[schema.Resource] = _rows("Resource", using)
    return rows


def threads(using: str) -> ThreadQuerySet:
    rows: ThreadQuerySet = _rows("Thread", using)
    return rows


def messages(using: str) -> MessageQuerySet:
    rows: MessageQuerySet = _rows("Message", using)
    return rows


def spaces(using: str) -> QuerySet[schema.EmbeddingSpace]:
    rows: QuerySet[schema.EmbeddingSpace] = _rows("EmbeddingSpace", using)
    return rows


def embeddings(using: str) -> EmbeddingQuerySet:
    rows: EmbeddingQuerySet = _rows("Embedding", using)
    return rows


def jobs(using: str) -> QuerySet[schema.EmbeddingJob]:
    rows: QuerySet[schema.EmbeddingJob] = _rows("EmbeddingJob", using)
    return rows


def working_memories(using: str) -> QuerySet[schema.WorkingMemory]:
    rows: QuerySet[schema.WorkingMemory] = _rows("WorkingMemory", using)
    return rows


def versions(using: str) -> QuerySet[schema.WorkingMemoryVersion]:
    rows: QuerySet[schema.WorkingMemoryVersion] = _rows("WorkingMemoryVersion", using)
    return rows


def admin_events(using: str) -> QuerySet[schema.AdminEvent]:
    rows: QuerySet[schema.AdminEvent] = _rows("AdminEvent", using)
    return rows


def names() -> list[str]:
    """The tables of this app."""
    return [model._meta.db_table for model in apps.get_app_config("memory").get_models()]


def _rows(model: str, using: str) -> Any:
    return _model(model)._default_manager.using(using)


@cache
def _model(name: str) -> type[Model]:
    return apps.get_model("memory", name)
