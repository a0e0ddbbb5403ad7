"""Taking what a message says out of the database, and leaving its place (contract section 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from memory.content.normalise import empty_body
from memory.content.quoting import shows
from memory.db.erasing import Erasing, erasing
from memory.db.expressions import IsOneOf
from memory.db.transactions import run_write
from memory.embedders import embedders
from memory.managers.deleting import delete_embeddings, read_ids
from memory.managers.touching import lock_messages, touch
from memory.querysets import tables
from memory.querysets.words import message_words
from memory.recall import RedactReceipt
from memory.signals import messages_stored
from memory.validation import Check

if TYPE_CHECKING:
    from memory.schema import Message, Thread


class Redaction:
    """One call of `redact_messages`, in one transaction."""

    def __init__(
        self,
        ids: str | Sequence[str | Mapping[str, Any]],
        *,
        resource_id: str | None,
        owners: Collection[str] | None,
        clear_titles: bool,
        using: str,
    ) -> None:
        check = Check()
        self.uids = read_ids(check, ids)
        self.resource_uid = None if resource_id is None else check.identifier(resource_id, "resource_id")
        self.clear_titles = check.boolean(clear_titles, "clear_titles")
        check.finish()
        self.owners = owners
        self.using = using

    def run(self) -> RedactReceipt:
        """What was done."""
        messages = tables.messages(self.using)
        receipt, erased = run_write(self.using, messages.model._meta.db_table, self._redact)
        embedders.forget()
        return RedactReceipt(**receipt, erased=erased)

    def _redact(self) -> tuple[dict[str, Any], Erasing]:
        with erasing(self.using, message_words()) as erased:
            rows = self._locked_rows()
            # Before the texts are gone.
            titled = [thread for thread in {row.thread: None for row in rows} if _is_titled(thread, rows)]
            counts = self._empty(rows)
            if titled and self.clear_titles:
                keys = [thread.pk for thread in titled]
                tables.threads(self.using).filter(IsOneOf("pk", keys)).update(title="")
            touch(self.using, {row.thread for row in rows})
        found = [row.uid for row in rows]
        return {"messages": found, **counts, "titled_threads": [thread.uid for thread in titled]}, erased

    def _locked_rows(self) -> list[Message]:
        """The messages that are to be redacted, with their threads."""
        messages = tables.messages(self.using).with_ids(self.uids).filter(redacted_at=None)
        mine = messages
        if self.owners is not None:
            mine = mine.filter(IsOneOf("thread__resource__uid", list(self.owners)))
        if self.resource_uid is not None:
            mine = mine.filter(thread__resource__uid=self.resource_uid)
        return lock_messages(messages.defer("body", "metadata"), mine, self.using)

    def _empty(self, rows: Sequence[Message]) -> dict[str, int]:
        if not rows:
            return {"embeddings": 0, "jobs": 0}
        keys = [row.pk for row in rows]
        counts = delete_embeddings(keys, self.using)
        emptied = {
            "type": "",
            "body": empty_body(),
            "metadata": {},
            "text": "",
            "redacted_at": timezone.now(),
        }
        # Django's own queryset: this app's would read the rows again to let the vectors follow.
        stored: QuerySet[Message] = QuerySet(tables.messages(self.using).model, using=self.using)
        stored.filter(IsOneOf("pk", keys)).update(**emptied)
        for row in rows:
            for name, value in emptied.items():
                setattr(row, name, value)
        messages_stored.send(sender=stored.model, messages=list(rows), created=False, using=self.using)
        return counts


def find_copies(ids: Any, *, owners: Collection[str] | None, using: str) -> list[Message]:
    """See :meth:`MessageManager.find_copies`."""
    check = Check()
    given = set(read_ids(check, ids))
    check.finish()
    messages = tables.messages(using)
    names, family, fresh = set(given), set[str](), set(given)
    while fresh:
        # Named apart from the condition's other half, so that each uses its own index.
        by_id = messages.filter(IsOneOf("uid", list(fresh)))
        by_origin = messages.exclude(cloned_from="").filter(IsOneOf("cloned_from", list(fresh)))
        pairs = [pair for rows in (by_id, by_origin) for pair in rows.values_list("uid", "cloned_from")]
        family |= {uid for uid, _ in pairs}
        fresh = {name for pair in pairs for name in pair if name} - names
        names |= fresh
    copies = messages.with_ids(family - given).filter(redacted_at=None)
    if owners is not None:
        copies = copies.filter(IsOneOf("thread__resource__uid", list(owners)))
    return list(copies.defer("body", "metadata").select_related("thread__resource").chronological())


def find_titled_threads(ids: Any, *, owners: Collection[str] | None, using: str) -> list[Thread]:
    """See :meth:`MessageManager.find_titled_threads`."""
    check = Check()
    uids = read_ids(check, ids)
    check.finish()
    messages = tables.messages(using).with_ids(uids).filter(~Q(text=""), ~Q(thread__title=""))
    if owners is not None:
        messages = messages.filter(IsOneOf("thread__resource__uid", list(owners)))
    rows = list(messages.defer("body", "metadata").select_related("thread__resource").chronological())
    threads = {row.thread_id: row.thread for row in rows}
    return [thread for thread in threads.values() if _is_titled(thread, rows)]


def _is_titled(thread: Thread, rows: Iterable[Message]) -> bool:
    """The title of a thread shows something that one of its messages says."""
    return any(row.thread_id == thread.pk and shows(thread.title, row.text) for row in rows)
