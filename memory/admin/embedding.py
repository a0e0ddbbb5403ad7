"""Embedding spaces, vectors and the work that is still to be done, in the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from memory.admin.acts import ACTS, ActsMixin, RetryEmbedding
from memory.admin.base import MemoryAdminMixin
from memory.content.controls import visible

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

    from memory.models import EmbeddingJob


class EmbeddingSpaceAdminMixin(MemoryAdminMixin):
    list_display = ("alias", "model", "dimensions", "state", "created_at")
    ordering = ("-pk",)
    fields = ("alias", "model", "dimensions", "rule", "state", "created_at")


class EmbeddingAdminMixin(MemoryAdminMixin):
    """Vectors are not shown. The hash of a text is content: with it, a guess can be proved."""

    content = frozenset({"text_hash"})
    owner_paths = ("resource__uid",)
    id_paths = ("message__uid", "thread__uid", "resource__uid")
    open_lookups = frozenset({"message__id__exact", "message__uid__exact"})
    unlisted = ("vector", "message__body", "message__metadata", "message__text")

    list_display = ("message", "space", "chunk")
    list_select_related = ("message", "space")
    ordering = ("-pk",)
    search_fields = ("message__uid",)
    search_help_text = _("An id of a message, a thread or a resource, whole and exact")
    fields = ("message", "space", "thread", "resource", "chunk", "text_hash")


class EmbeddingJobAdminMixin(ActsMixin, MemoryAdminMixin):
    """An error may quote what was to be embedded."""

    acts = ACTS["embeddingjob"]
    actions = ("retry_listed",)

    content = frozenset({"shown_error", "error"})
    owner_paths = ("message__thread__resource__uid",)
    id_paths = ("message__uid", "message__thread__uid", "message__thread__resource__uid")
    open_lookups = frozenset({"message__id__exact", "message__uid__exact"})
    unlisted = ("message__body", "message__metadata", "message__text")

    list_display = ("message", "space", "state", "attempts", "shown_error", "available_at")
    list_display_links = ("state",)
    list_filter = ("state",)
    list_select_related = ("message", "space")
    ordering = ("-pk",)
    search_fields = ("message__uid",)
    search_help_text = _("An id of a message, a thread or a resource, whole and exact")
    fields = (
        "message",
        "space",
        "state",
        "attempts",
        "shown_error",
        "available_at",
        "leased_until",
        "created_at",
    )

    @admin.action(description=_("Try the selected jobs again"), permissions=["retry_listed"])
    def retry_listed(self, request: HttpRequest, queryset: Any) -> HttpResponseBase | None:
        return self.act_on_selected(request, queryset, RetryEmbedding, "retry_listed")

    def has_retry_listed_permission(self, request: HttpRequest) -> bool:
        return RetryEmbedding.is_allowed(request)

    @admin.display(description=_("error"))
    def shown_error(self, row: EmbeddingJob) -> str:
        return visible(row.error)
