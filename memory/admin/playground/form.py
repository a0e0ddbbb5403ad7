"""What can be tried out."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext_lazy as _

from memory.admin.display import grouped
from memory.admin.filters import FROM, TO, read_entry
from memory.admin.zones import midnight
from memory.conf import memory_settings

AS_CONFIGURED = _("as the agent has it")


class PlaygroundForm(forms.Form):
    """A query, the agent, and options; what is left blank is as the agent has it.

    Args:
        data: as it was sent.
        in_thread: there is a thread: without one, only all threads of the owner can be searched.
    """

    query = forms.CharField(
        label=_("What the user says"),
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80, "dir": "auto"}),
    )
    agent = forms.ChoiceField(label=_("Agent"), required=False)
    scope = forms.ChoiceField(label=_("Search in"), required=False)
    top_k = forms.IntegerField(label=_("Most hits"), required=False, min_value=1)
    before = forms.IntegerField(label=_("Neighbours before a hit"), required=False, min_value=0)
    after = forms.IntegerField(label=_("Neighbours after a hit"), required=False, min_value=0)
    threshold = forms.FloatField(label=_("Least similarity"), required=False, min_value=0, max_value=1)
    metadata = forms.CharField(
        label=_("Metadata"),
        required=False,
        max_length=1_000,
        help_text=_("key=value, as in the filter of the lists"),
    )
    start = forms.DateField(
        label=FROM,
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    end = forms.DateField(
        label=TO,
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )

    def __init__(self, data: Any = None, *, in_thread: bool) -> None:
        super().__init__(data)
        self.fields["query"].validators.append(MaxLengthValidator(memory_settings.MAX_TEXT))
        agents = list({**memory_settings.AGENTS, "default": {}})
        fields: dict[str, Any] = self.fields
        fields["agent"].choices = [(name, name) for name in agents]
        scopes = [("", AS_CONFIGURED), ("resource", _("all threads of the resource"))]
        fields["scope"].choices = [*scopes, ("thread", _("this thread"))] if in_thread else scopes
        for name in ("top_k", "before", "after", "threshold"):
            fields[name].widget.attrs["placeholder"] = str(AS_CONFIGURED)
        self.in_thread = in_thread

    def clean_metadata(self) -> dict[str, Any]:
        text: str = self.cleaned_data["metadata"]
        return read_entry(text) if text.strip() else {}

    def clean(self) -> None:
        super().clean()
        # Days at the ends of the calendar have no midnight in every zone.
        for name, later in (("start", 0), ("end", 1)):
            if day := self.cleaned_data.get(name):
                try:
                    self.cleaned_data[name] = midnight(day, later)
                except (ValueError, OverflowError):
                    self.add_error(name, _("A date looks like 2026-01-31."))
        window = memory_settings.MAX_WINDOW
        for name, most in (("top_k", memory_settings.MAX_TOP_K), ("before", window), ("after", window)):
            if (self.cleaned_data.get(name) or 0) > most:
                self.add_error(name, _("At most %(most)s.") % {"most": grouped(most)})

    @property
    def agent_name(self) -> str:
        return self.cleaned_data["agent"] or "default"

    @property
    def options(self) -> dict[str, Any]:
        """Options of semantic recall that are not as the agent has them."""
        given = self.cleaned_data
        names = ("scope", "top_k", "threshold")
        options = {name: given[name] for name in names if given[name] not in (None, "")}
        window = {name: given[name] for name in ("before", "after") if given[name] is not None}
        return {**options, "message_range": window} if window else options

    @property
    def wanted(self) -> dict[str, Any]:
        """What the hits have to match, as a recall takes it."""
        given = self.cleaned_data
        wanted: dict[str, Any] = {"metadata": given["metadata"]} if given["metadata"] else {}
        dates = {name: given[name] for name in ("start", "end") if given[name]}
        if dates:
            # The last day is whole: its end is the midnight after it.
            wanted["date_range"] = {**dates, "end_exclusive": "end" in dates}
        return wanted
