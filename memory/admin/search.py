"""One search over owners, threads and messages, whose results open where the hit is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _

from memory.admin.addresses import message_url
from memory.admin.answering import page, read_only
from memory.admin.filters import typed_ids
from memory.admin.masks import can_read, hidden
from memory.admin.owners import of_account
from memory.admin.paging import capped
from memory.admin.reads import log_search
from memory.admin.titles import ShownThread, shown_threads, with_words_in_title
from memory.content.controls import visible
from memory.content.snippet import snippet
from memory.db.expressions import IsOneOf
from memory.models import Message, Resource, Thread
from memory.querysets.newest import newest_matches

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

    from memory.admin.base import MemoryAdminMixin as _Base

    Find = Callable[[QuerySet[Any]], QuerySet[Any]]
else:
    _Base = object

# Most messages that a search by words looks at, the newest ones.
MAX_HITS = 1_000
# Results shown of each kind.
SHOWN = 20
# Columns that are not read: they may have megabytes.
UNSHOWN: dict[Any, tuple[str, ...]] = {
    Resource: ("metadata",),
    Thread: ("metadata", "resource__metadata"),
    Message: ("body", "metadata", "thread__metadata", "thread__resource__metadata"),
}
# Longest text that is searched.
MAX_LENGTH = 1_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found, with what is shown of it."""

    message: Message
    url: str
    excerpt: SafeString


@dataclass(frozen=True, slots=True)
class Results:
    """What was found of each kind; None where the viewer may not look."""

    resources: list[Resource] | None
    threads: list[ShownThread] | None
    hits: list[Hit] | None
    # The number of messages as it is shown, "1,000+" where there may be more.
    messages: str

    def __len__(self) -> int:
        return sum(len(found or ()) for found in (self.resources, self.threads, self.hits))


class SearchMixin(_Base):
    """The page with the results."""

    @page
    @read_only
    def search_view(self, request: HttpRequest) -> HttpResponse:
        """Everything that has the id `q`, and for viewers of content what has its words. 8 queries at most
        for the rows."""
        term = request.GET.get("q", "").replace("\x00", "")[:MAX_LENGTH]
        # Of an id, spaces at its ends are a part.
        term = term if term.strip() else ""
        results = self._results(request, term)
        if all(found is None for found in (results.resources, results.threads, results.hits)):
            raise PermissionDenied
        if term:
            log_search(request, len(results))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Search"),
            "term": term,
            "results": results,
            "can_read": can_read(request),
            "opts": self.opts,
            "zone": timezone.get_current_timezone_name(),
        }
        return TemplateResponse(request, "admin/memory/search.html", context)

    def _results(self, request: HttpRequest, term: str) -> Results:
        threads = self._found(request, Thread, term, lambda rows: with_words_in_title(rows, term))
        hits, count = self._hits(request, term)
        return Results(
            resources=self._found(request, Resource, term, lambda rows: rows.filter(of_account(term))),
            threads=None if threads is None else shown_threads(request, threads),
            hits=hits,
            messages=count,
        )

    def _found(self, request: HttpRequest, model: type[Any], term: str, find: Find) -> list[Any] | None:
        """The row of the id, then what `find` finds."""
        ids = typed_ids(term)
        rows = self.rows_of(request, model)
        if rows is None or not term:
            return None if rows is None else []
        rows = rows.defer(*UNSHOWN[model])
        found = list(rows.filter(uid__in=ids))
        if can_read(request):
            found += find(rows).exclude(uid__in=ids).order_by("-updated_at", "-pk")[:SHOWN]
        return found

    def _hits(self, request: HttpRequest, term: str) -> tuple[list[Hit] | None, str]:
        rows, readable = self.rows_of(request, Message), can_read(request)
        if rows is None or not term:
            return (None if rows is None else []), "0"
        matches = newest_matches(rows, term, MAX_HITS + 1) if readable else []
        ids = typed_ids(term)
        wanted = rows.filter(Q(uid__in=ids) | Q(IsOneOf("pk", [key for key, _date in matches[:SHOWN]])))
        shown = wanted.select_related("thread__resource").defer(*UNSHOWN[Message])
        found = shown.order_by("-created_at", "-pk")
        # A message of this id stands before those that only name it.
        messages = sorted(found, key=lambda message: message.uid not in ids)
        return [
            Hit(
                message,
                message_url(message, self.admin_site.name),
                highlighted(snippet(message.text, term), term) if readable else hidden(),
            )
            for message in messages
        ], capped(max(len(matches), len(messages)), MAX_HITS)


def highlighted(excerpt: str, term: str) -> SafeString:
    """An excerpt with the words of `term` marked."""
    words = sorted({word for word in re.findall(r"\w+", term) if word}, key=len, reverse=True)[:20]
    if not words:
        return format_html("<bdi>{}</bdi>", visible(excerpt))
    pieces = re.split(f"({'|'.join(map(re.escape, words))})", excerpt, flags=re.IGNORECASE)
    marked = format_html_join(
        "",
        "{}",
        (
            (format_html("<mark>{}</mark>", visible(piece)) if number % 2 else visible(piece),)
            for number, piece in enumerate(pieces)
        ),
    )
    return format_html("<bdi>{}</bdi>", marked)
