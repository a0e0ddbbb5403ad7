"""Embedding messages again, and trying once more what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import ImproperlyConfigured
from django.db import router
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from memory.admin.acts.base import Act, Outcome
from memory.admin.paging import capped
from memory.conf import memory_settings
from memory.db.expressions import IsOneOf
from memory.embedding.again import AT_ONCE, Queued, embed_again, retry
from memory.exceptions import SemanticRecallNotConfigured
from memory.models import AdminEvent, Embedding, EmbeddingJob, Message, Thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.db.models import QuerySet
    from django.utils.functional import _StrOrPromise


class EmbeddingAct(Act):
    def outcome(self, queued: Queued) -> Outcome:
        """What became of the jobs."""
        if not queued.jobs:
            return Outcome(_("There is nothing to embed."), self.home(), messages.WARNING)
        if queued.at_once and memory_settings.EMBED == "inline":
            text = ngettext(
                "%(number)d embedding job is open. Work on it has begun.",
                "%(number)d embedding jobs are open. Work on them has begun.",
                queued.jobs,
            )
        else:
            text = ngettext(
                "%(number)d embedding job is open. The command embed_messages will do it.",
                "%(number)d embedding jobs are open. The command embed_messages will do them.",
                queued.jobs,
            )
        return Outcome(text % {"number": queued.jobs}, self.home())


class Reembed(EmbeddingAct):
    name = "reembed"
    label = gettext_lazy("Embed again")
    button = gettext_lazy("Embed again")
    permission = "memory.reembed_message"
    action = AdminEvent.Action.REEMBED_MESSAGE

    @classmethod
    def applies(cls, row: Any) -> bool:
        return not isinstance(row, Message) or bool(row.text)

    def _of_rows(self, message: str) -> IsOneOf:
        """What hangs on the rows, which are threads or messages; `message` leads to the key of one."""
        is_of_thread = self.admin.model is Thread
        return IsOneOf("thread_id" if is_of_thread else message, [row.pk for row in self.rows])

    @property
    def targets(self) -> Any:
        return Message.objects.using(self.using).filter(self._of_rows("pk"))

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("The vectors are deleted, and made anew by the embedder that is configured now.")
        yield _("Until that is done, these messages are not found by meaning.")
        yield _("More than %(number)d messages wait for the command embed_messages.") % {"number": AT_ONCE}

    def touched(self) -> Mapping[str, QuerySet[Any]]:
        return {
            "messages": self.targets.exclude(text=""),
            "embeddings": Embedding.objects.using(self.using).filter(self._of_rows("message_id")),
        }

    def perform(self, form: Any) -> Outcome:
        try:
            queued = embed_again(self.targets, router.db_for_write(Message))
        except (ImproperlyConfigured, SemanticRecallNotConfigured) as error:
            text = _("The messages cannot be embedded: %(error)s") % {"error": error}
            return Outcome(text, self.home(), messages.ERROR)
        if queued.jobs:
            self.record(form, self.rows, counts={"jobs": queued.jobs})
        return self.outcome(queued)


class RetryEmbedding(EmbeddingAct):
    name = "retry"
    label = gettext_lazy("Try again")
    button = gettext_lazy("Try again")
    permission = "memory.retry_embedding"
    action = AdminEvent.Action.RETRY_EMBEDDING

    def sentences(self) -> Iterable[_StrOrPromise]:
        yield _("The jobs are open again, their errors are forgotten, and they are worked off anew.")

    def counts(self) -> Iterable[tuple[_StrOrPromise, str]]:
        yield _("embedding jobs"), capped(len(self.rows))

    def perform(self, form: Any) -> Outcome:
        jobs = EmbeddingJob.objects.filter(IsOneOf("pk", [row.pk for row in self.rows]))
        queued = retry(jobs, router.db_for_write(EmbeddingJob))
        self.record(form, [row for row in self.rows if row.pk in queued.reopened])
        outcome = self.outcome(queued)
        # A job that is done is not there any more.
        return Outcome(outcome.text, self.url("embeddingjob_changelist"), outcome.level)
