"""Questions about messages, and bulk writes that the embedding outbox can follow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.db import models

from memory.content.terms import query_terms
from memory.db.expressions import IsOneOf
from memory.db.transactions import write_transaction
from memory.db.words import MatchesWords
from memory.querysets.conditions import beyond, matching
from memory.querysets.windows import Target, window_sql
from memory.signals import messages_stored

if TYPE_CHECKING:
    from memory.recall.filters import MessageFilter
    from memory.recall.keyset import Position
    from memory.schema import Message, Resource, Thread

# Fields whose change the vectors of a message must follow.
FOLLOWED = frozenset({"body", "text", "thread", "thread_id"})


class MessageQuerySet(models.QuerySet["Message"]):
    """A queryset of messages. Every method is one condition or one order; none runs a query, except the
    bulk writes."""

    def in_thread(self, thread: Thread) -> MessageQuerySet:
        return self.filter(thread=thread.pk)

    def in_scope(self, scope: Resource | Thread) -> MessageQuerySet:
        """Those of one thread, or of all threads of one resource."""
        path = "thread" if scope._meta.model_name == "thread" else "thread__resource"
        return self.filter(**{path: scope.pk})

    def beyond(self, place: Message | Position, *, descending: bool) -> MessageQuerySet:
        """What comes after a message, or after a place in the order, by its place and not by counting."""
        return self.filter(beyond(place, descending=descending))

    def with_ids(self, ids: Iterable[str]) -> MessageQuerySet:
        """The messages of these ids, any number of them in one parameter."""
        return self.filter(IsOneOf("uid", list(ids)))

    def matching(self, message_filter: MessageFilter) -> MessageQuerySet:
        return self.filter(matching(message_filter))

    def containing(self, query: str) -> MessageQuerySet:
        """Those whose text has all words of `query`, by the rules of :mod:`memory.content.terms`; none
        where it has no word."""
        return self.filter(MatchesWords("text", query_terms(query)))

    def chronological(self) -> MessageQuerySet:
        """Oldest first; equal timestamps in the order in which they were saved (rule 4)."""
        return self.order_by("created_at", "pk")

    def newest_first(self) -> MessageQuerySet:
        """The exact reverse of :meth:`chronological`."""
        return self.order_by("-created_at", "-pk")

    def locked(self) -> MessageQuerySet:
        """Locked against other writers until the transaction ends; their threads are locked before."""
        return self.select_for_update(no_key=True).order_by("pk")

    def with_context(self, resource: Resource, targets: Sequence[Target]) -> MessageQuerySet:
        """The targets that belong to `resource`, with their neighbours (rule 5): one index walk a target
        and side, whatever the length of the threads."""
        sql, params = window_sql(self.model, self.db, resource.pk, targets)
        windows = models.expressions.RawSQL(sql, params)  # noqa: S611 - made here, values are parameters
        return self.filter(pk__in=windows)

    def bulk_create(
        self,
        objs: Iterable[Message],
        batch_size: int | None = None,
        ignore_conflicts: bool = False,
        update_conflicts: bool = False,
        update_fields: Collection[str] | None = None,
        unique_fields: Collection[str] | None = None,
    ) -> list[Message]:
        """Django's, with derived columns filled and :data:`~memory.signals.messages_stored` sent."""
        messages = list(objs)
        for message in messages:
            message.prepare()
        self._for_write = True
        with write_transaction(self.db, self.model._meta.db_table):
            stored = super().bulk_create(
                messages, batch_size, ignore_conflicts, update_conflicts, update_fields, unique_fields
            )
            if ignore_conflicts or update_conflicts:
                # The instances do not tell which rows were there before.
                self._send(self._fresh().filter(IsOneOf("uid", [message.uid for message in messages])))
            else:
                self._send(stored, created=True)
        return stored

    def bulk_update(
        self, objs: Iterable[Message], fields: Iterable[str], batch_size: int | None = None
    ) -> int:
        """Django's, with derived columns filled; vectors follow through :meth:`update`."""
        messages, fields = list(objs), set(fields)
        if {"body", "metadata"} & fields:
            for message in messages:
                message.prepare()
        if "body" in fields:
            fields.add("text")
        return super().bulk_update(messages, sorted(fields), batch_size)

    def update(self, **kwargs: Any) -> int:
        """Django's, with content made storable and the vectors of the rows following it and a move.

        Raises:
            RecallError: `body` or `metadata` is no content.
            TypeError: `body` is an expression and `text`, which derives from it, is not given.
        """
        values = {name: kwargs[name] for name in ("body", "metadata") if isinstance(kwargs.get(name), dict)}
        if values:
            row = self.model(role="user", **values)
            row.prepare()
            kwargs |= {name: getattr(row, name) for name in values}
            if "body" in values:
                kwargs["text"] = row.text
        if "body" in kwargs and "text" not in kwargs:
            raise TypeError("update(body=<expression>) needs text=, which is derived from it.")
        if not FOLLOWED & set(kwargs):
            return super().update(**kwargs)
        self._for_write = True
        with write_transaction(self.db, self.model._meta.db_table):
            keys = list(self.order_by().values_list("pk", flat=True))
            rows = self._fresh().filter(IsOneOf("pk", keys))
            changed = models.QuerySet.update(rows, **kwargs)
            self._send(rows)
        return changed

    def _fresh(self) -> MessageQuerySet:
        return type(self)(self.model, using=self.db)

    def _send(self, messages: Iterable[Message] | MessageQuerySet, *, created: bool = False) -> None:
        if isinstance(messages, MessageQuerySet):
            messages = messages.select_related("thread")
        messages_stored.send(sender=self.model, messages=list(messages), created=created, using=self.db)
