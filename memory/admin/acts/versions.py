"""Editing working memories, and bringing back what they were."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils.formats import localize
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.admin.acts.base import Act, Outcome, ReasonForm
from memory.admin.acts.edit import TextsForm, too_long
from memory.admin.display import shortened
from memory.admin.versions import newest_versions
from memory.models import AdminEvent, WorkingMemory
from memory.recall import WorkingMemoryConfig

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.utils.functional import _StrOrPromise

# Versions that can be restored, the newest ones.
OFFERED = 50


class WorkingMemoryAct(Act):
    """An act on the working memory of a resource or a thread."""

    permission = "memory.edit_working_memory"
    content = True

    def store(self, value: str) -> None:
        """A text as the present one, which makes it a version."""
        thread = self.row.thread
        owner = thread or self.row.resource
        WorkingMemory.objects.update_value(
            value,
            config=WorkingMemoryConfig(enabled=True, scope="thread" if thread else "resource"),
            **{"thread_id" if thread else "resource_id": owner.uid},
            owners=self.owners,
        )

    def facts(self) -> list[tuple[_StrOrPromise, Any]]:
        if thread := self.row.thread:
            return [(_("thread"), thread), (_("resource"), thread.resource)]
        return [(_("resource"), self.row.resource)]


class ValueForm(TextsForm):
    def clean(self) -> None:
        super().clean()
        if self.errors or not self.is_changed:
            return
        # An agent with a schema would begin anew with what is no object.
        if _is_object(self.stored[0]) and not _is_object(self.texts[0]):
            raise forms.ValidationError(_("This working memory is a JSON object, and has to stay one."))


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


class EditWorkingMemory(WorkingMemoryAct):
    name = "edit"
    label = gettext_lazy("Edit the value")
    button = gettext_lazy("Save the value")
    action = AdminEvent.Action.EDIT_WORKING_MEMORY

    def refusal(self) -> str:
        return too_long([self.row.value])

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("The value becomes a new version; the former one stays, and can be restored.")
        yield _("Agents have it in mind from their next turn on.")

    def form(self, data: Any = None) -> ReasonForm:
        return ValueForm(data, texts=[self.row.value], labels=[_("Value")])

    def perform(self, form: Any) -> Outcome:
        if not form.is_changed:
            return Outcome(_("The value is as it was."), self.home(), messages.WARNING)
        self.store(form.texts[0])
        self.record(form, [self.row])
        return Outcome(_("The value was changed."), self.home())


class RestoreForm(ReasonForm):
    version = forms.TypedChoiceField(
        label=gettext_lazy("Version"), coerce=int, widget=forms.RadioSelect, choices=()
    )

    def __init__(self, data: Any, *, versions: Iterable[Any]) -> None:
        super().__init__(data)
        field: Any = self.fields["version"]
        field.choices = [
            (version.number, f"{version.number} · {localize(localtime(version.created_at))}")
            for version in versions
        ]


class RestoreWorkingMemory(WorkingMemoryAct):
    name = "restore"
    label = gettext_lazy("Restore a version")
    button = gettext_lazy("Restore")
    action = AdminEvent.Action.RESTORE_WORKING_MEMORY
    template = "admin/memory/restore.html"

    def refusal(self) -> str:
        return "" if self.versions else _("There is no earlier version.")

    @cached_property
    def versions(self) -> list[Any]:
        """Those that came before the present one, the newest first."""
        return list(newest_versions(self.row)[1 : OFFERED + 1])

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("The version becomes the present value again, as a new version. None is lost.")
        if self.versions[-1].number > 1:
            yield _("Versions before number %(number)d are kept, but cannot be restored here.") % {
                "number": self.versions[-1].number
            }

    def context(self) -> dict[str, Any]:
        return {
            "versions": [(version, shortened(version.beginning, version.length)) for version in self.versions]
        }

    def form(self, data: Any = None) -> ReasonForm:
        return RestoreForm(data, versions=self.versions)

    def perform(self, form: Any) -> Outcome:
        number = form.cleaned_data["version"]
        value = next(version.value for version in self.versions if version.number == number)
        if value == self.row.value:
            return Outcome(_("The value is that of this version already."), self.home(), messages.WARNING)
        self.store(value)
        self.record(form, [self.row], counts={"version": number})
        return Outcome(_("Version %(number)d was restored.") % {"number": number}, self.home())
