"""Working memories in the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.utils.formats import localize
from django.utils.html import format_html_join
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from memory.admin.acts import ACTS, ActsMixin
from memory.admin.base import MemoryAdminMixin
from memory.admin.display import preformatted, shortened
from memory.admin.versions import newest_versions

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from memory.models import WorkingMemory

# Versions shown on the page of a working memory, the newest ones.
VERSIONS = 20


class WorkingMemoryAdminMixin(ActsMixin, MemoryAdminMixin):
    acts = ACTS["workingmemory"]

    content = frozenset({"shown_value", "versions", "value"})
    owner_paths = ("resource__uid", "thread__resource__uid")
    id_paths = ("resource__uid", "thread__uid", "thread__resource__uid")
    unlisted = ("value", "resource__metadata", "thread__metadata")

    open_lookups = frozenset({"thread__id__exact", "resource__id__exact"})

    list_display = ("of", "updated_at")
    list_select_related = ("resource", "thread")
    ordering = ("-pk",)
    search_fields = ("resource__uid",)
    search_help_text = _("An id of a resource or a thread, whole and exact")
    fields = ("resource", "thread", "updated_at", "shown_value", "versions")

    @admin.display(description=_("working memory of"))
    def of(self, row: WorkingMemory) -> str:
        owner = row.thread or row.resource
        return f"{owner._meta.verbose_name}: {owner}" if owner else "–"

    @admin.display(description=_("value"))
    def shown_value(self, row: WorkingMemory) -> SafeString:
        return preformatted(shortened(row.value))

    @admin.display(description=_("versions"))
    def versions(self, row: WorkingMemory) -> SafeString:
        return format_html_join(
            "",
            '<details class="mem-fold"><summary>{} · {}</summary>{}</details>',
            (
                (
                    version.number,
                    localize(localtime(version.created_at)),
                    preformatted(shortened(version.beginning, version.length)),
                )
                for version in newest_versions(row)[:VERSIONS]
            ),
        )
