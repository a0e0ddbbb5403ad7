"""Editing the text of a message; its other parts stay as they are."""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.admin.acts.base import Act, Outcome, ReasonForm
from memory.conf import memory_settings
from memory.models import AdminEvent, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.utils.functional import _StrOrPromise


class TextsForm(ReasonForm):
    """A field for each text.

    Args:
        data: as it was sent.
        texts: those that are stored.
        labels: of the fields, one for each text.
    """

    # Names what the texts were when the page was made.
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, data: Any, *, texts: Sequence[str], labels: Sequence[_StrOrPromise]) -> None:
        super().__init__(data, initial={"seen": fingerprint(texts)})
        self.stored = [unix(text) for text in texts]
        for number, (text, label) in enumerate(zip(texts, labels, strict=True), 1):
            self.fields[f"text_{number}"] = forms.CharField(
                label=label,
                initial=text,
                required=False,
                strip=False,
                max_length=memory_settings.MAX_TEXT,
                widget=forms.Textarea(
                    attrs={"rows": min(24, 4 + text.count("\n")), "cols": 80, "dir": "auto"}
                ),
            )
        self.order_fields([name for name in self.fields if name != "reason"])

    @property
    def texts(self) -> list[str]:
        """The texts as they were sent, with the line ends of those that are stored."""
        return [unix(self.cleaned_data[f"text_{number}"]) for number in range(1, len(self.stored) + 1)]

    @property
    def is_changed(self) -> bool:
        return self.texts != self.stored

    def clean(self) -> None:
        super().clean()
        if self.errors:
            return
        # Sending the same page twice finds what it has stored itself.
        if self.is_changed and self.cleaned_data["seen"] != fingerprint(self.stored):
            raise forms.ValidationError(
                _("It was changed by somebody else meanwhile. Open this page again to see how it stands now.")
            )


def unix(text: str) -> str:
    """A text with `\\n` at the ends of its lines: the web's forms send others."""
    return re.sub("\r\n?", "\n", text)


def too_long(texts: Sequence[str]) -> str:
    """Why texts are not to be edited in a form: the site would refuse it; "" where it would not."""
    fields, size = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    # With room for what else a form has.
    is_large = size is not None and sum(len(text.encode()) for text in texts) > size - 20_000
    if is_large or (fields is not None and len(texts) > fields - 20):
        return _("This is too long for a form of this site. It can be changed over the API.")
    return ""


def fingerprint(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(map(unix, texts)).encode()).hexdigest()


class MessageTextForm(TextsForm):
    def clean(self) -> None:
        super().clean()
        if not self.errors and not "".join(self.texts).strip():
            raise forms.ValidationError(_("A message without text: redact or delete it instead."))


class EditText(Act):
    name = "edit-text"
    label = gettext_lazy("Edit the text")
    button = gettext_lazy("Save the text")
    permission = "memory.edit_message_text"
    action = AdminEvent.Action.EDIT_MESSAGE
    content = True

    @classmethod
    def applies(cls, row: Any) -> bool:
        return row.redacted_at is None

    def refusal(self) -> str:
        if not self.applies(self.row):
            return _("This message is redacted. It has no text to edit.")
        try:
            return too_long(self._texts[1])
        except (AttributeError, KeyError, TypeError):
            return _("Its content has a form that cannot be edited here.")

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("The former text is not kept. Tool calls, files and metadata stay as they are.")
        yield _("The message is embedded again, and the words of the new text are found from now on.")
        yield _("Copies of it in cloned threads keep the former text.")

    @cached_property
    def _texts(self) -> tuple[bool, list[str]]:
        """Whether the texts are those of the parts, and the texts: at least one field."""
        parts = self.row.body.get("parts") or []
        found = [part["text"] for part in parts if part.get("type") == "text"]
        mirror = self.row.body.get("content")
        if isinstance(mirror, str) and mirror.strip() and len(found) < 2:
            return False, [mirror]
        return bool(found), found or [""]

    def form(self, data: Any = None) -> ReasonForm:
        texts = self._texts[1]
        labels = [_("Text %(number)d") % {"number": number} for number, _text in enumerate(texts, 1)]
        return MessageTextForm(data, texts=texts, labels=labels if len(texts) > 1 else [_("Text")])

    def perform(self, form: Any) -> Outcome:
        if not form.is_changed:
            return Outcome(_("The text is as it was."), self.home(), messages.WARNING)
        change = {
            "id": self.row.uid,
            "resource_id": self.row.thread.resource.uid,
            "content": self._content(form.texts),
        }
        if not Message.objects.update_messages([change]):
            return self.gone()
        self.record(form, [self.row])
        return Outcome(_("The text was changed."), self.home())

    def _content(self, texts: list[str]) -> dict[str, Any]:
        """What changes of the content."""
        is_of_parts, _stored = self._texts
        parts = self.row.body.get("parts") or []
        if not is_of_parts:
            body: dict[str, Any] = {"format": 2, "parts": [*parts, {"type": "text", "text": texts[0]}]}
            return {"format": 2, "content": texts[0]} if self.row.body.get("content") else body
        left = iter(texts)
        return {
            "format": 2,
            "parts": [{**part, "text": next(left)} if part.get("type") == "text" else part for part in parts],
        }
