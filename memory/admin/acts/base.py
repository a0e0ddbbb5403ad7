"""What the acts of support staff have in common."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import messages
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from memory.admin.addresses import message_url
from memory.admin.counts import COUNTED
from memory.admin.links import Link
from memory.admin.masks import can_read, hidden, is_allowed
from memory.admin.owners import owners_of
from memory.admin.paging import capped
from memory.admin.recording import record_all, write_log
from memory.content.controls import shows_something, visible
from memory.content.snippet import snippet
from memory.schema import Message, Thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from django.db.models import Model, QuerySet
    from django.http import HttpRequest, HttpResponseBase
    from django.utils.functional import _StrOrPromise

    from memory.admin.base import MemoryAdminMixin
    from memory.admin.owners import Owners

# Most rows of a kind that the page of an act counts.
CAP = 100
GONE = _("It is not there any more. Nothing has been changed.")


class ReasonForm(forms.Form):
    """Why. Forms of acts that have to know more are derived from it."""

    required_css_class = "required"

    reason = forms.CharField(
        label=_("Reason"),
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        help_text=_("Kept for good, with your name and the time. Do not repeat here what a message says."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The reason comes last, also after fields that are made here.
        self.order_fields([name for name in self.fields if name != "reason"])

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if not shows_something(reason):
            raise forms.ValidationError(self.fields["reason"].error_messages["required"], code="required")
        return reason


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an act came to.

    Attributes:
        text: what the viewer is told; a lazy one is made after the commit.
        url: where the viewer goes from there.
        level: one of `django.contrib.messages`: a warning where there was nothing to do.
    """

    text: _StrOrPromise
    url: str
    level: int = messages.SUCCESS


class Act:
    """One thing that staff do, with one row or with rows that were selected in a list.

    An instance serves one request. It says what will happen, and does it.

    Attributes:
        name: in the address of its page.
        label: of its page and the links to it, for one row.
        button: of its form.
        permission: who may do it.
        content: it shows what messages say, and is only for those who may read that.
        action: an `AdminEvent.Action`, recorded for each row.
        form_class: the form of its page.
        atomic: it runs in one transaction; others take care of that themselves.
        is_final: it cannot be undone.
        max_rows: of a list that it takes at once: other writers to SQLite wait meanwhile.
    """

    name: ClassVar[str]
    label: ClassVar[_StrOrPromise]
    button: ClassVar[_StrOrPromise]
    permission: ClassVar[str]
    action: ClassVar[str]
    content: ClassVar[bool] = False
    form_class: ClassVar[type[ReasonForm]] = ReasonForm
    template: ClassVar[str] = "admin/memory/act.html"
    atomic: ClassVar[bool] = True
    is_final: ClassVar[bool] = False
    max_rows: ClassVar[int] = 500

    def __init__(self, admin: MemoryAdminMixin, request: HttpRequest, rows: Sequence[Any]) -> None:
        self.admin = admin
        self.request = request
        self.rows = rows
        self.group = uuid.uuid4()

    @property
    def row(self) -> Any:
        """The row, where there is one."""
        return self.rows[0]

    @property
    def using(self) -> str:
        """Where the rows were read: for an act, the database of its transaction, and no replica of it."""
        using: str = self.row._state.db
        return using

    @property
    def owners(self) -> Owners:
        """What a verb of the managers is told: whose rows the viewer may touch."""
        return owners_of(self.request)

    @classmethod
    def link(cls, model: str) -> Link:
        return Link(f"memory_{model}_{cls.name}", cls.label, cls.permission, cls.content, cls.applies)

    @classmethod
    def is_allowed(cls, request: HttpRequest) -> bool:
        return is_allowed(request, cls.permission, content=cls.content)

    @classmethod
    def applies(cls, row: Any) -> bool:
        """Whether there is anything to do with a row."""
        return True

    def refusal(self) -> str:
        """Why it cannot be done; "" where it can."""
        return ""

    def sentences(self) -> Iterable[_StrOrPromise]:
        """What will happen, a sentence each."""
        return ()

    def touched(self) -> Mapping[str, QuerySet[Any]]:
        """What is touched beside the row, by the names that numbers have in events."""
        return {}

    def counts(self) -> Iterable[tuple[_StrOrPromise, str]]:
        """What the page tells of it, and how much there is."""
        return ((COUNTED[name], counted(rows)) for name, rows in self.touched().items())

    def amounts(self) -> dict[str, int]:
        """How much it is, for the event. 1 query each."""
        return {name: rows.order_by().count() for name, rows in self.touched().items()}

    def context(self) -> dict[str, Any]:
        """What the page shows besides."""
        return {}

    def form(self, data: Any = None) -> ReasonForm:
        return self.form_class(data)

    def perform(self, form: Any) -> Outcome | HttpResponseBase:
        """Do it, with a form that is valid.

        Raises:
            ConversationMemoryError: it cannot be done; shown with the form.
        """
        raise NotImplementedError

    def record(
        self,
        form: ReasonForm,
        rows: Iterable[Model],
        *,
        action: str = "",
        deleted: bool = False,
        logged: bool = True,
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Events, one a row and all of one group, and entries in the admin's log.

        Args:
            form: says why.
            rows: the objects.
            action: default that of this act.
            deleted: the entries are of the kind for rows that are gone.
            logged: False = events only, where the log has an entry on these rows already.
            counts: numbers of the whole act, which stand in its first event.
        """
        rows = list(rows)
        said = {"reason": form.cleaned_data["reason"], "group": self.group}
        for part, numbers in ((rows[:1], counts), (rows[1:], None)):
            if part:
                record_all(self.request, action or self.action, part, counts=numbers, **said)
        if rows and logged:
            write_log(self.request, rows, action or self.action, deleted=deleted)

    def facts(self) -> list[tuple[_StrOrPromise, Any]]:
        """What the row is."""
        return facts_of(self.request, self.row) if len(self.rows) == 1 else []

    def url(self, name: str, *args: Any) -> str:
        return reverse(f"admin:memory_{name}", args=args, current_app=self.admin.admin_site.name)

    def home(self) -> str:
        """The page of the row; of several rows, their list."""
        return home_of(self.request, self.row) if len(self.rows) == 1 else self.list_url

    @property
    def list_url(self) -> str:
        return self.url(f"{self.admin.opts.model_name}_changelist")

    def gone(self) -> Outcome:
        """The row is not there any more."""
        return Outcome(GONE, self.list_url, messages.WARNING)


def home_of(request: HttpRequest, row: Model) -> str:
    """The page on which a row is looked at."""
    app = request.current_app
    if isinstance(row, Message):
        return message_url(row, app)
    name = "thread_transcript" if isinstance(row, Thread) else f"{row._meta.model_name}_change"
    return reverse(f"admin:memory_{name}", args=[row.pk], current_app=app)


def facts_of(request: HttpRequest, row: Any) -> list[tuple[_StrOrPromise, Any]]:
    """What tells a row from others, with content hidden where the viewer may not read it."""
    readable = can_read(request)
    facts: list[tuple[_StrOrPromise, Any]] = [(row._meta.verbose_name, str(row))]
    if isinstance(row, Message):
        said = visible(snippet(row.text, "")) if readable else hidden()
        facts += [(_("thread"), row.thread), (_("resource"), row.thread.resource), (_("text"), said)]
    elif isinstance(row, Thread):
        title = visible(row.title) if readable else hidden()
        facts += [(_("resource"), row.resource), (_("title"), title or "–")]
    return facts


def counted(rows: QuerySet[Any]) -> str:
    """The number of rows as it is shown, "100+" where there are more. 1 query."""
    return capped(rows.order_by()[: CAP + 1].count(), CAP)
