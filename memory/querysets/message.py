"""Questions about messages, and bulk writes that the embedding outbox can follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.db import models

from memory.content.text import text_of
from memory.db.expressions import IsOneOf
from memory.querysets.conditions import matching
from memory.querysets.windows import Target, window_sql
from memory.signals import messages_stored

if TYPE_CHECKING:
    from memory.recall.filters import MessageFilter
    from memory.schema import Message, Resource, Thread

# Fields whose change the vectors of a message must follow.
FOLLOWED = frozenset({"body", "text", "thread", "thread_id"})


class MessageQuerySet(models.QuerySet["Message"]):
    """A queryset of messages. Every method is one condition or one order; none runs a query, except the
    bulk writes."""

    def in_thread(self, thread: Thread) -> MessageQuerySet:
        return self.filter(thread=thread.pk)

    def for_resource(self, resource: Resource) -> MessageQuerySet:
        return self.filter(thread__resource=resource.pk)

    def with_ids(self, ids: Iterable[str]) -> MessageQuerySet:
        """The messages of these ids, any number of them in one parameter."""
        return self.filter(IsOneOf("uid", list(ids)))

    def matching(self, message_filter: MessageFilter) -> MessageQuerySet:
        return self.filter(matching(message_filter))

    def chronological(self) -> MessageQuerySet:
        """Oldest first; equal timestamps in the order in which they were saved (rule 4)."""
        return self.order_by("created_at", "pk")

    def newest_first(self) -> MessageQuerySet:
        """The exact reverse of :meth:`chronological`."""
        return self.order_by("-created_at", "-pk")

    def with_context(self, resource: Resource, targets: Sequence[Target]) -> MessageQuerySet:
        """The targets that belong to `resource`, with their neighbours (rule 5): one index walk a target
        and side, whatever the length of the threads."""
        sql, params = window_sql(self.model, self.db, resource.pk, targets)
        windows = models.expressions.RawSQL(sql, params)  # noqa: S611 - made here, values are parameters
        return self.filter(pk__in=windows)

    def bulk_create(self, objs: Iterable[Message], *args: Any, **kwargs: Any) -> list[Message]:
        """Django's, with derived columns filled and :data:`~memory.signals.messages_stored` sent."""
        messages = list(objs)
        for message in messages:
            message.prepare()
        stored = super().bulk_create(messages, *args, **kwargs)
        if kwargs.get("ignore_conflicts") or kwargs.get("update_conflicts"):
            # The instances do not tell which rows were there before.
            self._send(self._fresh().filter(IsOneOf("uid", [message.uid for message in messages])))
        else:
            self._send(stored, created=True)
        return stored

    def bulk_update(self, objs: Iterable[Message], fields: Iterable[str], *args: Any, **kwargs: Any) -> int:
        """Django's, with derived columns filled; vectors follow through :meth:`update`."""
        messages, fields = list(objs), set(fields)
        if "body" in fields:
            fields.add("text")
            for message in messages:
                message.prepare()
        return super().bulk_update(messages, sorted(fields), *args, **kwargs)

    def update(self, **kwargs: Any) -> int:
        """Django's, with the vectors of the rows following a change of content or thread.

        Raises:
            TypeError: `body` is an expression and `text`, which derives from it, is not given.
        """
        if not FOLLOWED & set(kwargs):
            return super().update(**kwargs)
        if "body" in kwargs and "text" not in kwargs:
            if not isinstance(kwargs["body"], dict):
                raise TypeError("update(body=<expression>) needs text=, which is derived from it.")
            kwargs["text"] = text_of(kwargs["body"])
        keys = list(self.order_by().values_list("pk", flat=True))
        changed = super().update(**kwargs)
        self._send(self._fresh().filter(IsOneOf("pk", keys)))
        return changed

    def _fresh(self) -> MessageQuerySet:
        return type(self)(self.model, using=self.db)

    def _send(self, messages: Iterable[Message] | MessageQuerySet, *, created: bool = False) -> None:
        if isinstance(messages, MessageQuerySet):
            messages = messages.select_related("thread")
        messages_stored.send(sender=self.model, messages=list(messages), created=created, using=self.db)
