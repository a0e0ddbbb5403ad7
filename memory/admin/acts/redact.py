"""Redacting a message: what it says goes, its place stays."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils.functional import lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from memory.admin.acts.base import Act, Outcome, ReasonForm
from memory.admin.acts.copies import UNSEEN, Copies, copies_of
from memory.admin.masks import can_read
from memory.admin.paging import capped
from memory.content.controls import visible
from memory.models import AdminEvent, Message, Thread
from memory.recall import LEAVES_DISK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.utils.functional import _StrOrPromise

# Copies and titles that the page shows.
SHOWN = 20


class RedactForm(ReasonForm):
    copies = forms.BooleanField(
        label=gettext_lazy("Redact the copies in other threads too"), required=False, initial=True
    )
    titles = forms.BooleanField(
        label=gettext_lazy("Empty the titles that show a piece of it"), required=False, initial=True
    )

    def __init__(self, data: Any, *, has_copies: bool, has_titles: bool) -> None:
        super().__init__(data)
        for name, is_offered in (("copies", has_copies), ("titles", has_titles)):
            if not is_offered:
                del self.fields[name]


class Redact(Act):
    name = "redact"
    label = gettext_lazy("Redact")
    button = gettext_lazy("Redact for good")
    permission = "memory.redact_message"
    action = AdminEvent.Action.REDACT_MESSAGE
    template = "admin/memory/redact.html"
    is_final = True

    @classmethod
    def applies(cls, row: Any) -> bool:
        return row.redacted_at is None

    def refusal(self) -> str:
        return "" if self.applies(self.row) else _("This message is redacted already.")

    @cached_property
    def copies(self) -> Copies:
        return self._copies()

    def _copies(self) -> Copies:
        return copies_of([self.row.uid], self.owners, self.using)

    @cached_property
    def titled(self) -> list[Any]:
        """Threads with a title that shows a piece of the message, or of a copy of it; for those who may read:
        that there is one tells of both."""
        if not can_read(self.request):
            return []
        ids = [self.row.uid, *(copy.uid for copy in self.copies.seen)]
        rows = Message.objects.db_manager(self.using)
        return rows.find_titled_threads(ids, owners=self.owners)

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("Its text, parts and metadata, its vectors and its words in the index are deleted.")
        yield _("Its place in the thread, its date and its role stay, and say that it was redacted.")
        yield _("Working memories may tell the same. They are not touched.")
        if self.copies.unseen:
            yield UNSEEN

    def context(self) -> dict[str, Any]:
        return {
            "copies": self.copies.seen[:SHOWN],
            "copies_count": capped(len(self.copies.seen)),
            "titled": [(thread, visible(thread.title)) for thread in self.titled[:SHOWN]],
        }

    def form(self, data: Any = None) -> ReasonForm:
        has_titles = bool(self.titled) or not can_read(self.request)
        return RedactForm(data, has_copies=bool(self.copies.seen), has_titles=has_titles)

    def perform(self, form: Any) -> Outcome:
        clear_titles = bool(form.cleaned_data.get("titles"))
        with_copies = bool(form.cleaned_data.get("copies"))
        rows = [self.row, *(self.copies.seen if with_copies else ())]
        redacted, titled, counts = list[Any](), list[str](), Counter[str]()
        while rows:
            receipt = Message.objects.redact_messages(
                [row.uid for row in rows], owners=self.owners, clear_titles=clear_titles
            )
            redacted += [row for row in rows if row.uid in receipt.messages]
            titled += receipt.titled_threads
            counts.update(receipt.counts)
            # Before these threads were locked, one of them may have been cloned.
            rows = self._copies().seen if with_copies else []
        if not redacted:
            return Outcome(_("This message is redacted already."), self.home(), messages.WARNING)
        # That a title showed a piece of it is content too.
        del counts["titled_threads"]
        self.record(form, redacted, counts=counts)
        if clear_titles:
            threads = Thread.objects.using(self.using).filter(uid__in=titled).select_related("resource")
            self.record(form, threads, action=AdminEvent.Action.EDIT_THREAD)

        def said() -> str:
            text = ngettext("%(number)d message redacted.", "%(number)d messages redacted.", len(redacted))
            told = [text % {"number": len(redacted)}, *self._left(form, LEAVES_DISK[receipt.leaves_disk])]
            return " ".join(map(str, told))

        # After the commit: only then is SQLite's log emptied.
        return Outcome(lazy(said, str)(), self.home())

    def _left(self, form: Any, leaves_disk: _StrOrPromise) -> Iterable[_StrOrPromise]:
        """What is left of it: copies and titles that stay, or else when it leaves the disk."""
        stays: list[_StrOrPromise] = []
        if self.copies.seen and not form.cleaned_data.get("copies"):
            stays.append(_("Its copies in other threads stay as they are."))
        if self.copies.unseen:
            stays.append(UNSEEN)
        if "titles" in form.fields and not form.cleaned_data["titles"]:
            stays.append(_("Titles of threads stay as they are."))
        return stays or [leaves_disk]
