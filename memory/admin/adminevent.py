"""What the staff did, in the admin: to be read, and never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.db.models import Q
from django.utils.formats import localize
from django.utils.html import format_html, format_html_join
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from memory.admin.addresses import list_url
from memory.admin.base import MemoryAdminMixin
from memory.admin.counts import COUNTED
from memory.admin.filters import DateFilter, FormFilter
from memory.content.controls import visible
from memory.recall.receipts import hashed_id

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from memory.models import AdminEvent


# Longest id that a list shows as a whole; hashes of erased ids are longer.
LONGEST_ID = 40
# Longest reason likewise.
LONGEST_REASON = 120


class ActorFilter(FormFilter):
    """By the name that an actor had; the account may be gone."""

    title = _("actor")
    parameter_name = "actor"
    parameters: ClassVar = {"actor": _("Name of the user account")}

    def condition(self, model: Any) -> Any:
        return Q(actor_name=self.typed["actor"].strip())


class AdminEventAdminMixin(MemoryAdminMixin):
    """Events name rows by their ids, and hold no content."""

    owner_paths = ("resource_uid",)
    id_paths = ("message_uid", "thread_uid", "resource_uid")
    open_lookups = frozenset({"group"})

    list_display = ("created_at", "action", "actor_name", "shown_target", "shown_reason", "act")
    list_filter = ("action", ActorFilter, DateFilter)
    # Newest first, by an index.
    ordering = ("-created_at", "-pk")
    search_fields = ("message_uid",)
    search_help_text = _("An id of a message, a thread or a resource, whole and exact")
    fields = (
        "created_at",
        "action",
        "actor",
        "actor_name",
        "ip",
        "target",
        "resource_uid",
        "thread_uid",
        "message_uid",
        "shown_counts",
        "reason",
        "act",
    )

    def ids_in(self, term: str) -> list[str]:
        """With the hashes that an erasure puts in the place of ids."""
        ids = super().ids_in(term)
        return [*ids, *map(hashed_id, ids)]

    @admin.display(description=_("target"))
    def shown_target(self, row: AdminEvent) -> SafeString | str:
        """To where it is found, if it is still there under its id."""
        uid = row.message_uid or row.thread_uid or row.resource_uid
        text = Truncator(visible(uid)).chars(LONGEST_ID)
        is_erased = not uid or uid == hashed_id(uid)
        url = "" if is_erased else list_url(row.target, self.admin_site.name, q=uid)
        return format_html('<a href="{}">{}</a>', url, text) if url else text

    @admin.display(description=_("reason"))
    def shown_reason(self, row: AdminEvent) -> str:
        return Truncator(visible(row.reason)).chars(LONGEST_REASON)

    @admin.display(description=_("counts"))
    def shown_counts(self, row: AdminEvent) -> SafeString:
        named = ((COUNTED.get(name, name), localize(number)) for name, number in sorted(row.counts.items()))
        return format_html_join("", "{}: {}<br>", named)

    @admin.display(description=_("same act"))
    def act(self, row: AdminEvent) -> SafeString:
        """To the events of all objects of the act."""
        url = list_url("adminevent", self.admin_site.name, group=row.group)
        return format_html('<a href="{}">{}</a>', url, str(row.group)[-8:])
