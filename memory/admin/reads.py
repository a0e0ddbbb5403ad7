"""A record of who read and who searched, where the site wants one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory.admin.masks import can_read
from memory.admin.paging import CappedPaginator
from memory.admin.recording import record
from memory.conf import memory_settings
from memory.models import AdminEvent

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

    from memory.schema import Resource, Thread


def log_read(request: HttpRequest, row: Model) -> None:
    """Record that content of `row` was shown, if it was and `MEMORY["ADMIN_LOG_READS"]` is on. 1 query."""
    if not memory_settings.ADMIN_LOG_READS or not can_read(request):
        return
    record(request, AdminEvent.Action.READ, row)


def log_search(request: HttpRequest, results: int) -> None:
    """Record a search likewise. Its words are content, and are not kept."""
    if memory_settings.ADMIN_LOG_READS:
        record(request, AdminEvent.Action.SEARCH, counts={"results": results})


def log_choices(request: HttpRequest, rows: QuerySet[Any]) -> None:
    """Record a search for what a select field offers, likewise."""
    if memory_settings.ADMIN_LOG_READS:
        log_search(request, CappedPaginator(rows, 1).count)


def log_recall(request: HttpRequest, row: Resource | Thread, hits: int) -> None:
    """Record that recall was tried out, likewise."""
    if memory_settings.ADMIN_LOG_READS:
        record(request, AdminEvent.Action.RECALL, row, counts={"hits": hits})
