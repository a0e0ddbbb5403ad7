"""Conversations in the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.urls import path
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from memory.admin.acts import ACTS, ActsMixin, DeleteThreads, Reembed
from memory.admin.addresses import conversation_url
from memory.admin.base import MemoryAdminMixin
from memory.admin.display import preformatted, pretty_json, row_link
from memory.admin.filters import ChangeFilter, MetadataFilter, OwnerFilter
from memory.admin.playground import PlaygroundMixin
from memory.admin.titles import with_words_in_title
from memory.admin.transcript import TranscriptMixin
from memory.content.controls import visible

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse, HttpResponseBase
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

    from memory.models import Thread


class ThreadAdminMixin(ActsMixin, PlaygroundMixin, TranscriptMixin, MemoryAdminMixin):
    """A row of the list opens the conversation."""

    acts = ACTS["thread"]
    actions = ("delete_listed", "reembed_listed")

    content = frozenset({"shown_title", "shown_metadata", "title", "metadata"})
    owner_paths = ("resource__uid",)
    id_paths = ("uid", "resource__uid")
    open_lookups = frozenset({"resource__id__exact", "resource__uid__exact"})
    memory_lookup = "thread__id__exact"
    unlisted = ("metadata", "resource__metadata")

    list_display = ("conversation", "shown_title", "resource", "last_message_at", "updated_at")
    list_display_links = None
    list_filter = (OwnerFilter, MetadataFilter, ChangeFilter)
    sortable_by = ("updated_at",)
    ordering = ("-updated_at", "-pk")
    search_fields = ("uid",)
    search_help_text = _("An id of a thread or a resource, whole and exact, or words of the title")
    fields = (
        "uid",
        "resource",
        "shown_title",
        "shown_metadata",
        "created_at",
        "updated_at",
        "last_message_at",
    )

    def get_urls(self) -> list[URLPattern]:
        transcript = path(
            "<path:object_id>/transcript/",
            self.admin_site.admin_view(self.transcript_view),
            name="memory_thread_transcript",
        )
        return [transcript, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Thread]:
        return super().get_queryset(request).select_related("resource")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context["open_url"] = conversation_url(context["original"].pk, self.admin_site.name)
        return super().render_change_form(request, context, *args, **kwargs)

    def find(self, rows: QuerySet[Thread], term: str) -> QuerySet[Thread]:
        return with_words_in_title(rows, term)

    @admin.action(description=_("Delete the selected threads"), permissions=["delete_listed"])
    def delete_listed(self, request: HttpRequest, queryset: Any) -> HttpResponseBase | None:
        return self.act_on_selected(request, queryset, DeleteThreads, "delete_listed")

    @admin.action(description=_("Embed the selected threads again"), permissions=["reembed_listed"])
    def reembed_listed(self, request: HttpRequest, queryset: Any) -> HttpResponseBase | None:
        return self.act_on_selected(request, queryset, Reembed, "reembed_listed")

    def has_delete_listed_permission(self, request: HttpRequest) -> bool:
        return DeleteThreads.is_allowed(request)

    def has_reembed_listed_permission(self, request: HttpRequest) -> bool:
        return Reembed.is_allowed(request)

    @admin.display(description=_("conversation"))
    def conversation(self, row: Thread) -> SafeString:
        return row_link("thread_transcript", row, str(row), self.admin_site.name)

    @admin.display(description=_("title"))
    def shown_title(self, row: Thread) -> SafeString:
        return format_html("<bdi>{}</bdi>", visible(row.title) or "–")

    @admin.display(description=_("metadata"))
    def shown_metadata(self, row: Thread) -> SafeString:
        return preformatted(pretty_json(row.metadata))
