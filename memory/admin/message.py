"""Messages in the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.urls import path
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.admin.acts import ACTS, ActsMixin, DeleteMessages, Reembed
from memory.admin.addresses import message_url
from memory.admin.base import MemoryAdminMixin
from memory.admin.display import preformatted, pretty_json
from memory.admin.filters import DateFilter, EmbeddingFilter, MetadataFilter, OwnerFilter, RedactedFilter
from memory.admin.masks import can_read
from memory.admin.overview import OverviewMixin
from memory.admin.owners import owners_of
from memory.admin.paging import CappedPaginator
from memory.admin.playground import RecalledByMixin
from memory.admin.search import MAX_HITS, SearchMixin, highlighted
from memory.content.controls import visible
from memory.content.snippet import snippet
from memory.db.expressions import IsOneOf
from memory.models import Thread
from memory.querysets.newest import in_hidden, newest_matches

if TYPE_CHECKING:
    from django.core.paginator import Paginator
    from django.http import HttpRequest, HttpResponse, HttpResponseBase
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

    from memory.models import Message


class HitsPaginator(CappedPaginator):
    """What a search by words found, of which there are no more."""

    cap = MAX_HITS


class MessageAdminMixin(ActsMixin, OverviewMixin, RecalledByMixin, SearchMixin, MemoryAdminMixin):
    """A row of the list opens the conversation at the message."""

    acts = ACTS["message"]
    actions = ("delete_listed", "reembed_listed")

    content = frozenset(
        {"excerpt", "shown_text", "shown_body", "shown_metadata", "type", "metadata", "text", "body"}
    )
    id_paths = ("uid", "thread__uid", "thread__resource__uid")
    open_lookups = frozenset({"thread__id__exact", "thread__uid__exact", "thread__resource__id__exact"})
    unlisted = ("body", "metadata", "thread__metadata")

    list_display = ("place", "excerpt", "role", "created_at", "thread")
    list_display_links = None
    list_filter = ("role", OwnerFilter, DateFilter, EmbeddingFilter, RedactedFilter, MetadataFilter)
    list_select_related = ("thread",)
    sortable_by = ("created_at",)
    ordering = ("-created_at", "-pk")
    search_fields = ("uid",)
    search_help_text = _("An id of a message, a thread or a resource, whole and exact, or words of the text")
    fields = (
        "uid",
        "thread",
        "role",
        "type",
        "shown_text",
        "shown_body",
        "shown_metadata",
        "created_at",
        "redacted_at",
        "cloned_from",
    )

    def get_urls(self) -> list[URLPattern]:
        search = path("search/", self.admin_site.admin_view(self.search_view), name="memory_search")
        return [search, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> Any:
        rows: Any = super().get_queryset(request)
        owners = owners_of(request)
        return rows if owners is None else in_hidden(rows, Thread.objects.all().of_owners(owners))

    def find(self, rows: Any, term: str) -> Any:
        """The newest 1,001 messages with all words of `term`."""
        matches = newest_matches(rows, term, MAX_HITS + 1)
        if not matches:
            return rows.none()
        # The dates say it once more, so that the list, sorted by them, is not read from the newest row on.
        dates = (matches[-1][1], matches[0][1])
        return rows.filter(IsOneOf("pk", [key for key, _date in matches]), created_at__range=dates)

    def get_paginator(
        self, request: HttpRequest, queryset: Any, per_page: int, *args: Any, **kwargs: Any
    ) -> Paginator[Any]:
        kind = HitsPaginator if hasattr(request, "_memory_words") else self.paginator
        return kind(queryset, per_page, *args, **kwargs)

    def get_list_display(self, request: HttpRequest) -> Any:
        columns = super().get_list_display(request)
        term = request.GET.get("q", "").strip()
        if not term or not can_read(request):
            return columns

        @admin.display(description=_("text"))
        def excerpt(row: Message) -> SafeString:
            return highlighted(snippet(row.text, term), term)

        return [excerpt if name == "excerpt" else name for name in columns]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context["open_url"] = message_url(context["original"], self.admin_site.name)
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.action(description=_("Delete the selected messages"), permissions=["delete_listed"])
    def delete_listed(self, request: HttpRequest, queryset: Any) -> HttpResponseBase | None:
        return self.act_on_selected(request, queryset, DeleteMessages, "delete_listed")

    @admin.action(description=_("Embed the selected messages again"), permissions=["reembed_listed"])
    def reembed_listed(self, request: HttpRequest, queryset: Any) -> HttpResponseBase | None:
        return self.act_on_selected(request, queryset, Reembed, "reembed_listed")

    def has_delete_listed_permission(self, request: HttpRequest) -> bool:
        return DeleteMessages.is_allowed(request)

    def has_reembed_listed_permission(self, request: HttpRequest) -> bool:
        return Reembed.is_allowed(request)

    @admin.display(description=_("message"))
    def place(self, row: Message) -> SafeString:
        url = message_url(row, self.admin_site.name)
        return format_html('<a href="{0}" title="{1}">{1}</a>', url, row)

    @admin.display(description=_("text"))
    def excerpt(self, row: Message) -> SafeString:
        return format_html("<bdi>{}</bdi>", visible(snippet(row.text, "")))

    @admin.display(description=_("text"))
    def shown_text(self, row: Message) -> SafeString:
        return preformatted(visible(row.text))

    @admin.display(description=pgettext_lazy("of a message", "content"))
    def shown_body(self, row: Message) -> SafeString:
        return preformatted(pretty_json(row.body))

    @admin.display(description=_("metadata"))
    def shown_metadata(self, row: Message) -> SafeString:
        return preformatted(pretty_json(row.metadata))
