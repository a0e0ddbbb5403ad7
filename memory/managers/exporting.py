"""Exporting owners and threads, however long, a page of rows at a time.

Pages begin where the one before ended. No cursor of the database stays open while a slow client reads: on
SQLite one would keep the log from being emptied, on PostgreSQL it would be filled with all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import datetime, tzinfo
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from memory.exceptions import ResourceNotFound, ThreadNotFound
from memory.export import FORMATS, Format, Heading
from memory.querysets import tables
from memory.querysets.conditions import beyond
from memory.validation import Check

if TYPE_CHECKING:
    from memory.schema import Resource, Thread, WorkingMemory

M = TypeVar("M", bound=Model)

# Not written where it is used: mypy knows no relation that leads to an abstract model.
NOTE: Any = "working_memory"
# Rows that are read at a time: a message may have megabytes, a version nearly one.
THREADS, MESSAGES, VERSIONS = 100, 25, 25
# Characters that are sent at a time, more only where a row has more.
PIECE = 32_768


class Export:
    """One call of `export_resource` or `export_thread`: parameters are read before anything is sent."""

    def __init__(
        self,
        *,
        owners: Collection[str] | None,
        using: str,
        format: str = "jsonl",
        masked: bool = False,
        zone: tzinfo | None = None,
        exported_at: datetime | None = None,
        exported_by: str = "",
    ) -> None:
        check = Check()
        check.choice(format, "format", FORMATS)
        check.boolean(masked, "masked")
        moment = None if exported_at is None else check.date(exported_at, "exported_at")
        name = check.text(exported_by, "exported_by")
        check.finish()
        self.format = FORMATS[format]
        self.heading: dict[str, Any] = {
            "masked": masked,
            "zone": zone or timezone.get_current_timezone(),
            "exported_at": moment,
            "exported_by": name or "",
        }
        self.owners = owners
        self.using = using

    def of_resource(self, uid: str) -> Iterator[str]:
        """The text of an owner's export.

        Raises:
            RecallError: `uid` is no id.
            ResourceNotFound: there is no such owner.
        """
        check = Check()
        check.identifier(uid, "resource_id")
        check.finish()
        resource = tables.resources(self.using).filter(uid=uid).select_related(NOTE).first()
        if resource is None or (self.owners is not None and uid not in self.owners):
            raise ResourceNotFound(uid)
        form = self.format(Heading(scope="resource", uid=uid, **self.heading))
        return self._pieces(form, self._resource(resource, form))

    def of_thread(self, uid: str) -> Iterator[str]:
        """The text of a thread's export.

        Raises:
            RecallError: `uid` is no id.
            ThreadNotFound: there is no such thread.
        """
        check = Check()
        check.identifier(uid, "thread_id")
        check.finish()
        threads = tables.threads(self.using).of_owners(self.owners)
        thread = threads.filter(uid=uid).select_related("resource", NOTE).first()
        if thread is None:
            raise ThreadNotFound(uid)
        form = self.format(Heading(scope="thread", uid=uid, **self.heading))
        return self._pieces(form, self._thread(thread, form))

    def _pieces(self, form: Format, rows: Iterator[str]) -> Iterator[str]:
        """The texts of rows, short ones together: a server takes each piece by itself."""
        piece, length = list[str](), 0
        for row in chain([form.head()], rows, [form.foot()]):
            piece.append(row)
            length += len(row)
            if length >= PIECE:
                yield "".join(piece)
                piece, length = [], 0
        if length:
            yield "".join(piece)

    def _resource(self, resource: Resource, form: Format) -> Iterator[str]:
        yield form.resource(resource)
        yield from self._notes(resource, form)
        threads = tables.threads(self.using).filter(resource=resource.pk).order_by("created_at", "pk")
        for thread in _read(threads.select_related(NOTE), THREADS, beyond):
            thread.resource = resource
            yield from self._thread(thread, form)

    def _thread(self, thread: Thread, form: Format) -> Iterator[str]:
        yield form.thread(thread)
        yield from self._notes(thread, form)
        messages = tables.messages(self.using).in_thread(thread).chronological()
        for message in _read(messages, MESSAGES, beyond):
            message.thread = thread
            yield form.message(message)

    def _notes(self, owner: Resource | Thread, form: Format) -> Iterator[str]:
        """The working memory of an owner, with its versions."""
        memory: WorkingMemory | None = getattr(owner, "working_memory", None)
        if memory is None or not form.has_working_memory:
            return
        yield form.working_memory(memory, owner)
        versions = tables.versions(self.using).filter(working_memory=memory.pk).order_by("number")
        for version in _read(versions, VERSIONS, lambda last: Q(number__gt=last.number)):
            yield form.version(version, owner)


def _read(rows: QuerySet[M], size: int, behind: Callable[[M], Q]) -> Iterator[M]:
    """Rows in their order, read a page at a time, which begins behind the last row. 1 query a page."""
    page = list(rows[:size])
    while page:
        last, is_full = page[-1], len(page) == size
        page.reverse()
        while page:
            # A row that is done with is let go.
            yield page.pop()
        page = list(rows.filter(behind(last))[:size]) if is_full else []
