"""The versions of a working memory, without what a page does not show of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models.functions import Left, Length

from memory.admin.display import MAX_SHOWN

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from memory.models import WorkingMemory


def newest_versions(row: WorkingMemory) -> QuerySet[Any]:
    """The versions of a working memory, the newest first, each with the `beginning` of its value and the
    `length` of it; the value itself is read where it is asked for."""
    shown = {"beginning": Left("value", MAX_SHOWN + 1), "length": Length("value")}
    return row.versions.using(row._state.db).order_by("-number").annotate(**shown).defer("value")
