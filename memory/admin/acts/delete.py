"""Deleting messages and threads."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from memory.admin.acts.base import CAP, Act, Outcome
from memory.admin.acts.copies import UNSEEN, Copies, copies_of
from memory.admin.paging import capped
from memory.db.expressions import IsOneOf
from memory.models import AdminEvent, Embedding, Message, Thread, WorkingMemoryVersion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.db.models import QuerySet
    from django.utils.functional import _StrOrPromise


class Delete(Act):
    name = "delete"
    button = gettext_lazy("Delete for good")
    is_final = True

    @property
    def keys(self) -> list[int]:
        return [row.pk for row in self.rows]


class DeleteMessages(Delete):
    label = gettext_lazy("Delete")
    permission = "memory.delete_message"
    action = AdminEvent.Action.DELETE_MESSAGE

    @cached_property
    def copies(self) -> Copies:
        return copies_of([row.uid for row in self.rows], self.owners, self.using)

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("Messages are deleted with their vectors, and leave no trace in their threads.")
        yield _("To take away what a message says, and leave its place, redact it instead.")
        if self.copies.unseen:
            yield UNSEEN

    def touched(self) -> Mapping[str, QuerySet[Any]]:
        return {
            "messages": Message.objects.using(self.using).filter(IsOneOf("pk", self.keys)),
            "embeddings": Embedding.objects.using(self.using).filter(IsOneOf("message_id", self.keys)),
        }

    def counts(self) -> Iterable[tuple[_StrOrPromise, str]]:
        yield from super().counts()
        yield _("copies in other threads, which stay"), capped(len(self.copies.seen), CAP)

    def perform(self, form: Any) -> Outcome:
        home = self.home() if len(self.rows) > 1 else self.url("thread_transcript", self.row.thread_id)
        told = UNSEEN if self.copies.unseen else ""
        # While the rows still have names that the log can tell.
        self.record(form, self.rows, deleted=True, counts=self.amounts())
        deleted = Message.objects.delete_messages([row.uid for row in self.rows], owners=self.owners)
        text = ngettext("%(number)d message deleted.", "%(number)d messages deleted.", deleted)
        return Outcome(f"{text % {'number': deleted}} {told}".rstrip(), home)


class DeleteThreads(Delete):
    label = gettext_lazy("Delete")
    permission = "memory.delete_thread"
    action = AdminEvent.Action.DELETE_THREAD
    # Each with all of its messages.
    max_rows = 100

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("Threads are deleted with their messages, vectors and working memories.")
        yield _("The working memory of the resource stays.")

    def touched(self) -> Mapping[str, QuerySet[Any]]:
        of_threads = IsOneOf("thread_id", self.keys)
        versions = WorkingMemoryVersion.objects.using(self.using)
        return {
            "threads": Thread.objects.using(self.using).filter(IsOneOf("pk", self.keys)),
            "messages": Message.objects.using(self.using).filter(of_threads),
            "embeddings": Embedding.objects.using(self.using).filter(of_threads),
            "versions": versions.filter(IsOneOf("working_memory__thread_id", self.keys)),
        }

    def perform(self, form: Any) -> Outcome:
        self.record(form, self.rows, deleted=True, counts=self.amounts())
        deleted = len(Thread.objects.delete_threads([row.uid for row in self.rows], owners=self.owners))
        text = ngettext("%(number)d thread deleted.", "%(number)d threads deleted.", deleted)
        return Outcome(text % {"number": deleted}, self.url("thread_changelist"))
