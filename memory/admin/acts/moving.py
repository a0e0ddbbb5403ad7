"""Moving messages and threads, and cloning threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.admin.acts.base import Act, Outcome, ReasonForm
from memory.ids import uuid7
from memory.models import AdminEvent, Embedding, Message, Resource, Thread
from memory.validation import MAX_ID_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.db.models import QuerySet
    from django.utils.functional import _StrOrPromise

# Threads that are proposed, those in use last.
PROPOSED = 20


class MoveForm(ReasonForm):
    thread = forms.CharField(label=gettext_lazy("Id of the thread"), max_length=MAX_ID_LENGTH, strip=False)

    def __init__(self, data: Any, *, resource: Any, using: str) -> None:
        super().__init__(data)
        self.threads = Thread.objects.using(using).filter(resource=resource)
        self.fields["thread"].widget.attrs |= {"list": "mem-proposed", "size": 60, "autocomplete": "off"}
        self.fields["thread"].help_text = _("A thread of the same resource.")

    def clean_thread(self) -> str:
        uid: str = self.cleaned_data["thread"]
        if not self.threads.filter(uid=uid).exists():
            raise forms.ValidationError(_("This resource has no thread with this id."))
        return uid


class MoveMessage(Act):
    name = "move"
    label = gettext_lazy("Move to another thread")
    button = gettext_lazy("Move")
    permission = "memory.move_message"
    action = AdminEvent.Action.MOVE_MESSAGE
    template = "admin/memory/move.html"

    @classmethod
    def applies(cls, row: Any) -> bool:
        return row.redacted_at is None

    def refusal(self) -> str:
        return "" if self.applies(self.row) else _("This message is redacted. It stays where it is.")

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("The message keeps its id, its date and its vectors, and stands there by its date.")

    def context(self) -> dict[str, Any]:
        resource = self.row.thread.resource
        threads = Thread.objects.filter(resource=resource).exclude(pk=self.row.thread_id)
        found = threads.order_by("-updated_at", "-pk").values_list("uid", flat=True)
        return {"proposed": list(found[:PROPOSED])}

    def form(self, data: Any = None) -> ReasonForm:
        return MoveForm(data, resource=self.row.thread.resource, using=self.using)

    def perform(self, form: Any) -> Outcome:
        uid = form.cleaned_data["thread"]
        if uid == self.row.thread.uid:
            return Outcome(_("The message is in this thread already."), self.home(), messages.WARNING)
        owner = self.row.thread.resource.uid
        moved = Message.objects.update_messages(
            [{"id": self.row.uid, "resource_id": owner, "thread_id": uid}]
        )
        if not moved:
            return self.gone()
        # Of both threads: where it was, and where it is.
        self.record(form, [self.row])
        self.record(form, [moved[0].thread])
        self.rows = moved
        return Outcome(_("The message was moved."), self.home())


class OwnerForm(ReasonForm):
    """Names a resource that the viewer may see."""

    resource = forms.CharField(
        label=gettext_lazy("Id of the resource"), max_length=MAX_ID_LENGTH, strip=False
    )

    def __init__(self, data: Any, *, act: Act, **initial: Any) -> None:
        super().__init__(data, initial=initial)
        self.act = act
        self.fields["resource"].widget.attrs |= {"size": 60, "autocomplete": "off"}

    def clean_resource(self) -> str:
        uid: str = self.cleaned_data["resource"]
        owners = self.act.owners
        known = Resource.objects.using(self.act.using).filter(uid=uid)
        if (owners is not None and uid not in owners) or not known.exists():
            raise forms.ValidationError(_("There is no resource with this id."))
        return uid


class GiveThread(Act):
    """An act that gives what a thread holds to a resource."""

    # A resource of their own would show it to those who may not read here.
    content = True

    def touched(self) -> Mapping[str, QuerySet[Any]]:
        return {
            "messages": Message.objects.using(self.using).filter(thread=self.row),
            "embeddings": Embedding.objects.using(self.using).filter(thread=self.row),
        }


class TransferThread(GiveThread):
    name = "transfer"
    label = gettext_lazy("Give to another resource")
    button = gettext_lazy("Transfer")
    permission = "memory.transfer_thread"
    action = AdminEvent.Action.TRANSFER_THREAD

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("The thread with its messages and its own working memory belongs to that resource then.")
        yield _(
            "The former resource does not see it any more, and what was said there is not recalled for it."
        )

    def form(self, data: Any = None) -> ReasonForm:
        return OwnerForm(data, act=self)

    def perform(self, form: Any) -> Outcome:
        uid = form.cleaned_data["resource"]
        if uid == self.row.resource.uid:
            return Outcome(_("The thread belongs to this resource already."), self.home(), messages.WARNING)
        # Of both owners: whose it was, and whose it is.
        self.record(form, [self.row], counts=self.amounts())
        thread = Thread.objects.transfer_thread(self.row.uid, uid, owners=self.owners)
        self.record(form, [thread], logged=False)
        return Outcome(_("The thread was transferred."), self.home())


class CloneForm(OwnerForm):
    # Made with the page, so that sending it twice makes one clone.
    clone = forms.UUIDField(widget=forms.HiddenInput)


class CloneThread(GiveThread):
    name = "clone"
    label = gettext_lazy("Clone")
    button = gettext_lazy("Clone")
    permission = "memory.clone_thread"
    action = AdminEvent.Action.CLONE_THREAD

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("A new thread gets copies of all messages, vectors and the working memory of this one.")
        yield _("What is edited, redacted or deleted in one of the two later stays in the other.")

    def form(self, data: Any = None) -> ReasonForm:
        return CloneForm(data, act=self, resource=self.row.resource.uid, clone=uuid7())

    def perform(self, form: Any) -> Outcome:
        uid = str(form.cleaned_data["clone"])
        made = self.admin.get_queryset(self.request).using(self.using).filter(uid=uid).first()
        if made is not None:
            text = _("This clone was made already.")
            return Outcome(text, self.url("thread_transcript", made.pk), messages.WARNING)
        result = Thread.objects.clone_thread(
            self.row.uid,
            new_thread_id=uid,
            resource_id=form.cleaned_data["resource"],
            owners=self.owners,
        )
        self.record(form, [self.row], counts={"messages": len(result.messages)})
        self.record(form, [result.thread])
        return Outcome(_("The thread was cloned."), self.url("thread_transcript", result.thread.pk))
