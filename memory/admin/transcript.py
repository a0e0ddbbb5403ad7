"""The page on which a conversation is read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory import schema
from memory.admin import conversation
from memory.admin.addresses import conversation_url, message_url, named, naming
from memory.admin.answering import GONE, gone, page, read_only
from memory.admin.conversation import Conversation, EmbeddingState, embedding_states
from memory.admin.display import pretty_json
from memory.admin.links import ShownLink, links_to
from memory.admin.masks import can_read
from memory.admin.parts import Block, blocks_of
from memory.admin.reads import log_read
from memory.admin.rendering import TextRenderer
from memory.admin.zones import midnight
from memory.content.controls import visible
from memory.models import AdminEvent, Message, Thread

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from memory.admin.base import MemoryAdminMixin as _Base
    from memory.querysets import MessageQuerySet
else:
    _Base = object

EMBEDDING_STATES = {
    "embedded": gettext_lazy("embedded"),
    "waiting": gettext_lazy("waiting to be embedded"),
    "failed": gettext_lazy("embedding failed"),
    "none": gettext_lazy("no text to embed"),
    "missing": gettext_lazy("not embedded"),
}


# What an address may name a message for, in this order.
PLACES = {
    "message": conversation.around,
    "before": conversation.before,
    "after": conversation.after,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A message as the page shows it; without content where the viewer may not read it."""

    message: schema.Message
    url: str
    links: list[ShownLink]
    embedding: EmbeddingState
    blocks: list[Block]
    metadata: str
    is_focus: bool
    readable: bool

    @property
    def error(self) -> str:
        """Why it was not embedded; for those who may read content, as it may quote it."""
        return visible(self.embedding.error) if self.readable else ""

    @property
    def embedding_label(self) -> Any:
        return EMBEDDING_STATES[self.embedding.name]


@dataclass(frozen=True, slots=True)
class Day:
    date: date
    entries: list[Entry]


class TranscriptMixin(_Base):
    """The page of a thread."""

    @page
    @read_only
    def transcript_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Messages of a thread, 50 a page. 3 queries for the newest ones and at most 5 for others, beside
        those of the session and the user, whatever the length of the thread.

        `?message=`, `?before=` and `?after=` take the id of a message, or its key with `by=key`;
        `?date=` a day in the viewer's zone, `?position=` "first".
        """
        rows = self.rows_of(request, Message)
        if rows is None or not self.has_view_permission(request):
            raise PermissionDenied
        thread = self.get_object(request, unquote(object_id))
        if thread is None:
            return gone(self, request)
        own = rows.filter(thread=thread)
        shown, note = self._page(request, own)
        if shown is None:
            return self._elsewhere(request, rows, thread)
        log_read(request, thread)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Conversation"),
            "subtitle": str(thread),
            "opts": self.opts,
            "thread": thread,
            "thread_title": visible(thread.title),
            "can_read": can_read(request),
            "links": links_to(request, thread),
            "days": self._days(request, shown, embedding_states(own, shown.messages)),
            "page": shown,
            "older": naming(shown.messages[0], "before") if shown.messages else "",
            "newer": naming(shown.messages[-1], "after") if shown.messages else "",
            "note": note,
            "date": request.GET.get("date", ""),
            "zone": timezone.get_current_timezone_name(),
        }
        return TemplateResponse(request, "admin/memory/transcript.html", context)

    def _page(self, request: HttpRequest, rows: MessageQuerySet) -> tuple[Conversation | None, str]:
        """The page that was asked for, with a note where it is another one; None where a message was asked
        for that this thread has not."""
        for name, build in PLACES.items():
            given, place = named(request, rows, name)
            if given:
                if place is not None:
                    return build(rows, place), ""
                if name == "message":
                    return None, ""
                return conversation.newest(rows), _("The message where this page began is gone.")
        if request.GET.get("position") == "first":
            return conversation.oldest(rows), ""
        if day := request.GET.get("date"):
            try:
                return conversation.since(rows, midnight(date.fromisoformat(day))), ""
            except (ValueError, OverflowError):
                return conversation.newest(rows), _("A date looks like 2026-01-31.")
        return conversation.newest(rows), ""

    def _elsewhere(self, request: HttpRequest, rows: MessageQuerySet, thread: Thread) -> HttpResponse:
        """To where the message is now, or to the end of the thread where it is nowhere."""
        given, found = named(request, rows)
        if found is not None:
            return HttpResponseRedirect(message_url(found, request.current_app))
        text = str(GONE) if request.GET.get("by") == "key" else _missing(given, thread)
        self.message_user(request, text, messages.WARNING)
        return HttpResponseRedirect(conversation_url(thread.pk, request.current_app))

    def _days(
        self, request: HttpRequest, shown: Conversation, states: dict[int, EmbeddingState]
    ) -> list[Day]:
        readable, render = can_read(request), TextRenderer(request.get_host())
        entries = (
            Entry(
                message,
                message_url(message, request.current_app),
                links_to(request, message),
                # One that was deleted a moment ago has no state.
                states.get(message.pk, EmbeddingState("missing")),
                blocks_of(message, render) if readable else [],
                pretty_json(message.metadata) if readable and message.metadata else "",
                message == shown.focus,
                readable,
            )
            for message in shown.messages
        )
        days = groupby(entries, key=lambda entry: timezone.localdate(entry.message.created_at))
        return [Day(date, list(of_day)) for date, of_day in days]


def _missing(uid: str, thread: Thread) -> str:
    """What became of a message that is nowhere: whether the staff deleted it, and when. 1 query."""
    events = AdminEvent.objects.filter(message_uid=uid, action=AdminEvent.Action.DELETE_MESSAGE)
    # Whoever may see the thread may see what was deleted of its owner.
    deleted = events.filter(resource_uid=thread.resource.uid).order_by("-created_at").first()
    if deleted is None:
        return _("There is no message %(id)s.") % {"id": visible(uid)}
    date = localize(timezone.localtime(deleted.created_at))
    return _("The message %(id)s was deleted: %(date)s.") % {"id": visible(uid), "date": date}
