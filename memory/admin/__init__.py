"""The tables in the admin, to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from memory.models import (
    Embedding,
    EmbeddingJob,
    EmbeddingSpace,
    Message,
    Resource,
    Thread,
    WorkingMemory,
    WorkingMemoryVersion,
)

if TYPE_CHECKING:
    from django.forms import ModelForm
    from django.http import HttpRequest

    _Admin = admin.ModelAdmin[Any]
    _Inline = admin.TabularInline[WorkingMemoryVersion, WorkingMemory]
else:
    _Admin, _Inline = admin.ModelAdmin, admin.TabularInline


class ReadOnlyAdmin(_Admin):
    """Nothing is added, changed or deleted here: rows are written through the managers."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Resource)
class ResourceAdmin(ReadOnlyAdmin):
    """Only the account can be changed: over HTTP it may touch everything that the resource owns."""

    list_display = ("uid", "user", "created_at", "updated_at")
    search_fields = ("uid",)
    list_select_related = ("user",)
    fields = ("uid", "user", "metadata", "created_at", "updated_at")
    readonly_fields = ("uid", "metadata", "created_at", "updated_at")
    # Neither a list of all users, nor an autocompletion, which the site's admin of users may not offer.
    raw_id_fields = ("user",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super(ReadOnlyAdmin, self).has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Resource, form: ModelForm[Any], change: bool) -> None:
        # The metadata may have been merged with others since the row was read.
        obj.save(update_fields=["user"])


@admin.register(Thread)
class ThreadAdmin(ReadOnlyAdmin):
    list_display = ("uid", "title", "resource", "last_message_at", "updated_at")
    search_fields = ("uid", "title", "resource__uid")
    list_select_related = ("resource",)
    ordering = ("-created_at", "-pk")


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ("uid", "thread", "role", "preview", "created_at")
    search_fields = ("uid", "thread__uid")
    list_filter = ("role",)
    list_select_related = ("thread",)
    ordering = ("-created_at", "-pk")

    @admin.display(description="text")
    def preview(self, message: Message) -> str:
        return message.text[:80]


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ReadOnlyAdmin):
    list_display = ("alias", "model", "dimensions", "state", "created_at")


@admin.register(Embedding)
class EmbeddingAdmin(ReadOnlyAdmin):
    list_display = ("message", "space", "chunk")
    exclude = ("vector",)
    list_select_related = ("message", "space")


@admin.register(EmbeddingJob)
class EmbeddingJobAdmin(ReadOnlyAdmin):
    list_display = ("message", "space", "state", "attempts", "error", "available_at")
    list_filter = ("state",)
    list_select_related = ("message", "space")


class VersionInline(_Inline):
    model = WorkingMemoryVersion
    extra = 0
    fields = ("number", "value", "created_at")
    ordering = ("-number",)


@admin.register(WorkingMemory)
class WorkingMemoryAdmin(ReadOnlyAdmin):
    list_display = ("pk", "resource", "thread", "updated_at")
    list_select_related = ("resource", "thread")
    inlines = (VersionInline,)
