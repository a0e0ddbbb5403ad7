"""A record of who read and who searched, where the site wants one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.admin.masks import can_read
from memory.admin.recording import record
from memory.conf import memory_settings
from memory.models import AdminEvent

if TYPE_CHECKING:
    from django.http import HttpRequest

    from memory.schema import Message, Resource, Thread


def log_read(request: HttpRequest, row: Resource | Thread | Message) -> None:
    """Record that content of `row` was shown, if it was and `MEMORY["ADMIN_LOG_READS"]` is on. 1 query."""
    if not memory_settings.ADMIN_LOG_READS or not can_read(request):
        return
    record(request, AdminEvent.Action.READ, row)


def log_search(request: HttpRequest, results: int) -> None:
    """Record a search likewise. Its words are content, and are not kept."""
    if memory_settings.ADMIN_LOG_READS:
        record(request, AdminEvent.Action.SEARCH, counts={"results": results})


def log_recall(request: HttpRequest, row: Resource | Thread, hits: int) -> None:
    """Record that recall was tried out, likewise."""
    if memory_settings.ADMIN_LOG_READS:
        record(request, AdminEvent.Action.RECALL, row, counts={"hits": hits})
