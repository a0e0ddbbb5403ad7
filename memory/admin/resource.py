"""Owners in the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from memory.admin.acts import ACTS, ActsMixin
from memory.admin.base import MemoryAdminMixin
from memory.admin.display import preformatted, pretty_json
from memory.admin.filters import DateFilter, MetadataFilter
from memory.admin.owners import of_account
from memory.admin.playground import PlaygroundMixin
from memory.admin.titles import shown_threads
from memory.models import Thread

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

    from memory.models import Resource

# Conversations shown on the page of an owner.
RECENT = 10


class ResourceAdminMixin(ActsMixin, PlaygroundMixin, MemoryAdminMixin):
    acts = ACTS["resource"]

    content = frozenset({"shown_metadata", "metadata"})
    owner_paths = ("uid",)
    id_paths = ("uid",)
    memory_lookup = "resource__id__exact"
    unlisted = ("metadata",)

    list_display = ("uid", "user", "created_at", "updated_at")
    list_filter = (MetadataFilter, DateFilter)
    list_select_related = ("user",)
    # The order in which they were made; their dates have no index.
    ordering = ("-pk",)
    search_fields = ("uid",)
    search_help_text = _("An id, or the name of a user account, whole and exact")
    fields = ("uid", "user", "shown_metadata", "created_at", "updated_at")

    def find(self, rows: QuerySet[Resource], term: str) -> QuerySet[Resource]:
        return rows.filter(of_account(term))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        threads = self.rows_of(request, Thread)
        if threads is not None:
            own = threads.filter(resource=context["original"])
            context["threads"] = shown_threads(request, own.order_by("-updated_at", "-pk")[:RECENT])
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description=_("metadata"))
    def shown_metadata(self, row: Resource) -> SafeString:
        return preformatted(pretty_json(row.metadata))
