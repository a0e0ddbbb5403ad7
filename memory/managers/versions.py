"""What a working memory says, changed under a lock, with every version kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.db.models import Max
from django.utils import timezone

from memory.conf import memory_settings
from memory.exceptions import RecallError
from memory.querysets import tables
from memory.validation import after

if TYPE_CHECKING:
    from memory.schema import Resource, Thread


def store_value(owner: Resource | Thread, change: Callable[[str], str], using: str) -> str:
    """Apply `change` to the present text of an owner under a lock, and keep the result as a version.

    Runs in :func:`run_write`. Updates are serialised: none is lost. A text that does not change makes no
    version.

    Raises:
        RecallError: the result is longer than `MAX_TEXT`.
    """
    rows = tables.working_memories(using)
    rows.get_or_create(**_owned_by(owner))
    memory = rows.select_for_update(no_key=True).get(**_owned_by(owner))
    value = change(memory.value)
    if len(value) > memory_settings.MAX_TEXT:
        raise RecallError.at(
            "value", f"must make at most {memory_settings.MAX_TEXT:,} characters, not {len(value):,}"
        )
    if value != memory.value:
        versions = tables.versions(using).filter(working_memory=memory.pk)
        latest = versions.aggregate(number=Max("number"))["number"] or 0
        memory.value = value
        memory.updated_at = after(timezone.now(), memory.updated_at)
        memory.save(using=using, update_fields=["value", "updated_at"])
        tables.versions(using).create(
            working_memory_id=memory.pk, number=latest + 1, value=value, created_at=memory.updated_at
        )
    return value


def copy_value(source: Resource | Thread, target: Resource | Thread, using: str) -> None:
    """The present text of `source` for `target`, where that has none."""
    rows = tables.working_memories(using).filter(**_owned_by(source))
    value = rows.values_list("value", flat=True).first()
    if value:
        store_value(target, lambda present: present or value, using)


def _owned_by(owner: Resource | Thread) -> dict[str, Any]:
    return {f"{owner._meta.model_name}_id": owner.pk}
