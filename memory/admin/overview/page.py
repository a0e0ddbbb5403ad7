"""The page with the numbers and their charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from memory.admin.answering import page, read_only
from memory.admin.display import grouped
from memory.admin.overview import figures
from memory.admin.overview.charts import Bar, columns, rows
from memory.admin.owners import owners_of
from memory.admin.paging import capped
from memory.content.controls import visible
from memory.models import EmbeddingJob, Message, Resource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

    from memory.admin.base import MemoryAdminMixin as _Base
else:
    _Base = object


@dataclass(frozen=True, slots=True)
class Section:
    """A chart with its numbers.

    Attributes:
        name: for the ids of the page.
        heads: of the columns of its table.
        lines: a label, a number as it is shown, and the address of a list with what it counts, "" for none.
        notes: sentences below the chart.
        age: seconds since the numbers were found.
    """

    name: str
    title: str
    chart: SafeString | str
    heads: tuple[str, str]
    lines: Sequence[tuple[str, str, str]]
    notes: Sequence[str]
    age: int


class OverviewMixin(_Base):
    """To be mixed into the admin class of messages."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.overview_view)
        return [path("overview/", view, name="memory_overview"), *super().get_urls()]

    @page
    @read_only
    def overview_view(self, request: HttpRequest) -> HttpResponse:
        """Numbers of the resources that the viewer sees, each kind for those who may see its list. No query
        for what was asked within the past minute, 7 at most else."""
        sections = []
        if self.rows_of(request, Message) is not None:
            sections.append(self._days(request))
        if self.rows_of(request, EmbeddingJob) is not None:
            sections.append(self._backlog(request))
        if self.rows_of(request, Resource) is not None and self.rows_of(request, Message) is not None:
            sections.append(self._owners(request))
        if not sections:
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": _("Overview"),
            "opts": self.opts,
            "sections": sections,
            "zone": timezone.get_current_timezone_name(),
        }
        return TemplateResponse(request, "admin/memory/overview.html", context)

    def _days(self, request: HttpRequest) -> Section:
        # Days are those of a zone.
        name = f"days in {timezone.get_current_timezone_name()}"
        found = figures.kept(name, owners_of(request), figures.messages_per_day)
        messages = reverse("admin:memory_message_changelist", current_app=request.current_app)
        bars = [Bar(date_format(day, "MONTH_DAY_FORMAT"), number) for day, number in found.value]
        total, most = sum(bar.value for bar in bars), max(bars, key=lambda bar: bar.value)
        title = _("Messages per day")
        said = _(
            "Messages of the past %(days)d days: %(total)s. The most on one day: %(most)s, on %(day)s."
        ) % {
            "days": figures.DAYS,
            "total": grouped(total),
            "most": most.text,
            "day": most.label,
        }
        lines = [
            (date_format(day, "DATE_FORMAT"), grouped(number), f"{messages}?from={day}&to={day}")
            for day, number in reversed(found.value)
        ]
        chart = columns("days", title, said, bars)
        return Section("days", title, chart, (_("Day"), _("Messages")), lines, [said], found.age)

    def _backlog(self, request: HttpRequest) -> Section:
        found = figures.kept("backlog", owners_of(request), figures.embedding_backlog)
        backlog, jobs = (
            found.value,
            reverse("admin:memory_embeddingjob_changelist", current_app=request.current_app),
        )
        kinds = [
            (_("waiting"), backlog.waiting, f"{jobs}?state__exact=open"),
            (_("waiting to be tried again"), backlog.failing, f"{jobs}?state__exact=open"),
            (_("failed"), backlog.failed, f"{jobs}?state__exact=failed"),
        ]
        shown = [Bar(label, number, capped(number, figures.CAP)) for label, number, _url in kinds]
        title = _("Embedding")
        if backlog.oldest is None:
            said = _("Nothing waits to be embedded.")
        else:
            said = _("The oldest job that waits is of %(date)s.") % {
                "date": date_format(timezone.localtime(backlog.oldest), "DATETIME_FORMAT")
            }
        lines = [(bar.label, bar.text, url) for bar, (_label, _number, url) in zip(shown, kinds, strict=True)]
        chart = rows("backlog", title, said, shown)
        return Section("backlog", title, chart, (_("State"), _("Embedding jobs")), lines, [said], found.age)

    def _owners(self, request: HttpRequest) -> Section:
        found = figures.kept("owners", owners_of(request), figures.largest_owners)
        bars = [Bar(visible(owner.uid), owner.messages) for owner in found.value]
        title = _("Largest resources")
        said = _("The resources with the most messages.") if bars else _("There is no message yet.")
        lines: list[Any] = [
            (
                bar.label,
                bar.text,
                reverse("admin:memory_resource_change", args=[owner.pk], current_app=request.current_app),
            )
            for bar, owner in zip(bars, found.value, strict=True)
        ]
        chart = rows("owners", title, said, bars) if bars else ""
        return Section("owners", title, chart, (_("Resource"), _("Messages")), lines, [said], found.age)
