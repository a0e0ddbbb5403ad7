"""Erasing an owner with everything it owns, and the receipt of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django import forms
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.admin.acts.base import CAP, Act, ReasonForm
from memory.admin.counts import ERASED
from memory.admin.display import grouped
from memory.admin.paging import capped
from memory.admin.recording import record, write_log
from memory.content.controls import visible
from memory.models import AdminEvent, Message, Resource, Thread
from memory.recall import LEAVES_DISK
from memory.recall.receipts import hashed_id
from memory.validation import MAX_ID_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpResponseBase
    from django.utils.functional import _StrOrPromise

# An owner with more would keep the browser and a worker waiting: the command is for those.
MAX_MESSAGES = 20_000
MAX_THREADS = 5_000


class EraseForm(ReasonForm):
    typed = forms.CharField(
        label=gettext_lazy("Type the id of the resource to confirm"),
        # A character that does not show is named by up to 8.
        max_length=8 * MAX_ID_LENGTH,
        strip=False,
    )

    def __init__(self, data: Any, *, uid: str) -> None:
        super().__init__(data)
        self.uid = uid
        self.fields["typed"].widget.attrs |= {"autocomplete": "off", "size": 60}

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        # Nobody can type what does not show: it may be typed as the page shows it. Browsers leave line
        # breaks out.
        wanted = {self.uid, visible(self.uid)}
        wanted |= {re.sub(r"[\r\n]", "", text) for text in wanted}
        if not {typed, typed.strip()} & wanted:
            raise forms.ValidationError(_("This is not the id of the resource."))
        return typed


class EraseResource(Act):
    name = "erase"
    label = gettext_lazy("Erase")
    button = gettext_lazy("Erase for good")
    permission = "memory.erase_resource"
    action = AdminEvent.Action.ERASE_RESOURCE
    is_final = True
    # In many transactions: what it has done stays done when it is interrupted.
    atomic = False

    def refusal(self) -> str:
        threads = Thread.objects.filter(resource=self.row.pk)
        messages = Message.objects.filter(thread__resource=self.row.pk)
        too_many_threads = _(
            "This resource has more than %(number)s threads, too many for a page. Erase it with the command "
            "manage.py erase_resource."
        )
        too_many_messages = _(
            "This resource has more than %(number)s messages, too many for a page. Erase it with the command "
            "manage.py erase_resource."
        )
        limits = ((threads, MAX_THREADS, too_many_threads), (messages, MAX_MESSAGES, too_many_messages))
        for rows, most, text in limits:
            if rows.order_by()[: most + 1].count() > most:
                return text % {"number": grouped(most)}
        return ""

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("Its threads, messages, vectors, words in the index and working memories are deleted.")
        yield _("What the log of the admin says about them is blanked, and admin events name them by a hash.")
        yield _("The user account that it is linked to stays.")
        yield _("Should this be interrupted, do it again: it goes on where it stopped.")

    def counts(self) -> Iterable[tuple[_StrOrPromise, str]]:
        for name, number in Resource.objects.count_owned(self.row.uid, cap=CAP).items():
            yield ERASED[name], capped(number, CAP)

    def form(self, data: Any = None) -> ReasonForm:
        return EraseForm(data, uid=self.row.uid)

    def perform(self, form: Any) -> HttpResponseBase:
        details = {"reason": form.cleaned_data["reason"], "group": self.group}
        owned = Resource.objects.count_owned(self.row.uid)
        record(self.request, AdminEvent.Action.BEGIN_ERASE, self.row, counts=owned, **details)
        # Before it, so that the erasure takes the name out of this entry too.
        write_log(self.request, [self.row], self.action, deleted=True)
        events = []

        def finish(counts: dict[str, int]) -> None:
            named = hashed_id(self.row.uid)
            event = record(self.request, self.action, resource_id=named, counts=counts, **details)
            events.append(event)

        receipt = Resource.objects.erase_resource(self.row.uid, finish=finish)
        context = {
            **self.admin.admin_site.each_context(self.request),
            "title": _("Receipt of an erasure"),
            "opts": self.admin.opts,
            "list_url": self.list_url,
            "receipt": receipt,
            "actor": visible(events[-1].actor_name),
            "reason": visible(events[-1].reason),
            "counts": [(label, receipt.counts[name]) for name, label in ERASED.items()],
            "leaves_disk": LEAVES_DISK[receipt.leaves_disk],
        }
        return TemplateResponse(self.request, "admin/memory/receipt.html", context)
