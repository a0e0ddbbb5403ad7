"""Exporting threads and owners: a file that is made while it is sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.handlers.asgi import ASGIRequest
from django.http import StreamingHttpResponse
from django.utils import timezone, translation
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.admin.acts.base import Act, ReasonForm
from memory.admin.masks import can_read
from memory.asynchronous import async_iterator_twin
from memory.models import AdminEvent, Message, Resource, Thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from django.db.models import QuerySet
    from django.http import HttpResponseBase
    from django.utils.functional import _StrOrPromise

# By the format: how its files end, and their kind.
FILES = {
    "jsonl": ("jsonl", "application/jsonl"),
    "html": ("html", "text/html"),
    "markdown": ("md", "text/markdown"),
}


class ExportForm(ReasonForm):
    format = forms.ChoiceField(
        label=gettext_lazy("Format"),
        widget=forms.RadioSelect,
        initial="jsonl",
        choices=[
            ("jsonl", gettext_lazy("JSON Lines: everything that is stored")),
            ("html", gettext_lazy("HTML: a transcript to read")),
            ("markdown", gettext_lazy("Markdown: a transcript to read")),
        ],
    )


class Export(Act):
    name = "export"
    label = gettext_lazy("Export")
    button = gettext_lazy("Download")
    permission = "memory.export_resource"
    form_class = ExportForm

    def sentences(self) -> Iterable[_StrOrPromise]:
        if can_read(self.request):
            yield _("The file holds what was said. It is yours to protect.")
        else:
            yield _(
                "You may not see what messages say: texts, titles, metadata and working memory are left out."
            )
        yield _("Transcripts give times in the zone %(zone)s, JSON Lines in UTC.") % {
            "zone": timezone.get_current_timezone_name()
        }

    def pieces(self, **options: Any) -> Iterator[str]:
        """The export of the managers."""
        raise NotImplementedError

    def perform(self, form: Any) -> HttpResponseBase:
        chosen = form.cleaned_data["format"]
        is_transcript = chosen != "jsonl"
        pieces = self.pieces(
            format=chosen,
            masked=not can_read(self.request),
            # The request, and with it the zone and the language, is over when the file is made.
            zone=timezone.get_current_timezone(),
            # A date would make each file of the same data another one.
            exported_at=timezone.now() if is_transcript else None,
            exported_by=str(self.request.user.get_username()) if is_transcript else "",
            owners=self.owners,
        )
        self.record(form, [self.row], counts=self.amounts())
        ending, kind = FILES[chosen]
        sent = Sent(pieces, translation.get_language())
        response = StreamingHttpResponse(
            sent.aiter() if isinstance(self.request, ASGIRequest) else iter(sent),
            content_type=f"{kind}; charset=utf-8",
        )
        # An id may hold anything, and names a file here, whose name may have 255 bytes.
        name = re.sub(r"[^\w.@-]+", "_", str(self.row))[:50]
        file = f"{self.admin.opts.model_name}-{name}.{ending}"
        response["Content-Disposition"] = content_disposition_header(True, file)
        return response


class Sent:
    """Pieces of text that are made in the language of a request which is over by then."""

    def __init__(self, pieces: Iterator[str], language: str | None) -> None:
        self.pieces = pieces
        self.language = language

    def iter(self) -> Iterator[str]:
        while True:
            with translation.override(self.language):
                piece = next(self.pieces, None)
            if piece is None:
                return
            yield piece

    aiter = async_iterator_twin(iter)
    __iter__ = iter


class ExportThread(Export):
    action = AdminEvent.Action.EXPORT_THREAD

    def touched(self) -> Mapping[str, QuerySet[Any]]:
        return {"messages": Message.objects.filter(thread=self.row)}

    def pieces(self, **options: Any) -> Iterator[str]:
        return Thread.objects.export_thread(self.row.uid, **options)


class ExportResource(Export):
    action = AdminEvent.Action.EXPORT_RESOURCE

    def touched(self) -> Mapping[str, QuerySet[Any]]:
        return {
            "threads": Thread.objects.filter(resource=self.row),
            "messages": Message.objects.filter(thread__resource=self.row),
        }

    def pieces(self, **options: Any) -> Iterator[str]:
        return Resource.objects.export_resource(self.row.uid, **options)
