"""Erasing an owner with everything it owns.

The owner's row goes last: as long as it is there, an erasure that was interrupted is not done, and the next
one goes on where it stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connections
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.utils import timezone

from memory.db.erasing import Erasing, erasing, overwriting, vacuum_tables
from memory.db.expressions import IsOneOf
from memory.db.transactions import run_write
from memory.embedders import embedders
from memory.managers.deleting import delete_bare, delete_embeddings, delete_hung_on
from memory.managers.touching import lock_threads
from memory.managers.traces import blank_log, hash_events
from memory.querysets import tables
from memory.querysets.words import message_words
from memory.recall import EraseReceipt
from memory.recall.receipts import hashed_id
from memory.validation import Check

if TYPE_CHECKING:
    from memory.schema import Resource

# What one transaction takes up: bounds memory, and how long other writers to SQLite wait.
THREADS, MESSAGES = 100, 2_000

# What was erased, by the names of the receipt.
Counts = Counter[str]

T = TypeVar("T")


class Erasure:
    """One call of `erase_resource`.

    Threads and their messages go in short transactions, each under the locks that every writer takes: a
    save waits, and then finds no thread. The last transaction locks the owner's row. A thread that was made
    before makes it start again; one that is made after has no owner, is refused by the database, and its
    save makes a new owner.
    """

    def __init__(
        self,
        resource_id: str,
        *,
        vacuum: bool,
        advance: Callable[[int], object] | None,
        finish: Callable[[dict[str, int]], object] | None,
        using: str,
    ) -> None:
        check = Check()
        check.identifier(resource_id, "resource_id")
        if check.boolean(vacuum, "vacuum") and connections[using].in_atomic_block:
            check.fail("vacuum", "must be false inside a transaction")
        check.finish()
        self.uid = resource_id
        self.vacuum = vacuum
        self.advance = advance
        self.finish = finish
        self.using = using
        self.counts: Counts = Counter()

    def run(self) -> EraseReceipt:
        """What was erased."""
        with overwriting(self.using):
            erased = self._erase(tables.resources(self.using).filter(uid=self.uid).first())
        embedders.forget()
        if self.vacuum:
            vacuum_tables(erased, tables.names())
        return EraseReceipt(
            resource_uid=hashed_id(self.uid),
            erased_at=timezone.now(),
            counts=_counted(self.counts),
            leaves_disk=erased.leaves_disk,
        )

    def _erase(self, resource: Resource | None) -> Erasing:
        """Erase everything. Where the row is gone, an erasure that was stopped at its very end may have left
        events, and the log of SQLite."""
        erased = None
        while erased is None:
            self._erase_all_threads(resource)
            self._hash_events()
            erased, counts = self._write(partial(self._erase_row, resource))
            self.counts.update(counts)
        if tables.admin_events(self.using).filter(resource_uid=self.uid).exists():
            # Written down since; once more, because what they said is to leave the disk too.
            with erasing(self.using, message_words()) as erased:
                self._hash_events()
        return erased

    def _hash_events(self) -> None:
        self.counts.update(hash_events("resource_uid", [self.uid], self.using))

    def _erase_all_threads(self, resource: Resource | None) -> None:
        while resource is not None and (keys := self._next_threads(resource)):
            counts = self._write(partial(self._erase_threads, resource, keys))
            self.counts.update(counts)
            if self.advance is not None:
                self.advance(counts["messages"])

    def _write(self, work: Callable[[], T]) -> T:
        return run_write(self.using, tables.resources(self.using).model._meta.db_table, work)

    def _next_threads(self, resource: Resource) -> list[int]:
        threads = tables.threads(self.using).filter(resource=resource.pk).order_by("created_at", "pk")
        return list(threads.values_list("pk", flat=True)[:THREADS])

    def _erase_threads(self, resource: Resource, keys: Sequence[int]) -> Counts:
        """Erase messages of these threads, and the threads where these were all."""
        locked = lock_threads(self.using, keys=keys)
        # One that went to another owner meanwhile is that owner's.
        threads = [thread for thread in locked if thread.resource_id == resource.pk]
        keys = [thread.pk for thread in threads]
        messages = tables.messages(self.using).filter(IsOneOf("thread_id", keys))
        has_words = ExpressionWrapper(~Q(text=""), output_field=BooleanField())
        found = list(messages.values_list("pk", "uid", has_words)[:MESSAGES])
        uids = [uid for _, uid, _ in found]
        copies = tables.messages(self.using).exclude(cloned_from="").exclude(thread__resource=resource.pk)
        counts = Counter(
            copies_left=copies.filter(IsOneOf("cloned_from", uids)).count(),
            words=sum(bool(has_words) for _, _, has_words in found),
        )
        counts.update(self._erase_messages([key for key, _, _ in found]))
        # Events of former owners; those of the owner follow at the end.
        for name, of_name in (("thread_uid", [thread.uid for thread in threads]), ("message_uid", uids)):
            counts.update(hash_events(name, of_name, self.using, apart_from=self.uid))
        if len(found) < MESSAGES:
            counts.update(self._erase_notes("thread_id", keys))
            counts["log_entries"] += blank_log(tables.threads(self.using).model, self.using, keys=keys)
            counts["threads"] = len(keys)
            delete_hung_on(tables.threads(self.using).filter(IsOneOf("pk", keys)))
        return counts

    def _erase_messages(self, keys: Sequence[int]) -> Counts:
        using = self.using
        return Counter(
            **delete_embeddings(keys, using),
            messages=delete_bare(tables.messages(using).filter(IsOneOf("pk", keys))),
            log_entries=blank_log(tables.messages(using).model, using, keys=keys),
        )

    def _erase_notes(self, owner: str, keys: Sequence[int]) -> Counts:
        """Erase the working memories of threads, or of the resource."""
        memories, using = tables.working_memories(self.using).filter(IsOneOf(owner, keys)), self.using
        found = list(memories.values_list("pk", flat=True))
        return Counter(
            versions=tables.versions(using).filter(IsOneOf("working_memory_id", found))._raw_delete(using),
            working_memories=memories._raw_delete(using),
            log_entries=blank_log(memories.model, using, keys=found),
        )

    def _erase_row(self, resource: Resource | None) -> tuple[Erasing | None, Counts]:
        """Erase what is left, the owner's row last; None where a thread was made meanwhile."""
        counts: Counts = Counter()
        with erasing(self.using, message_words()) as erased:
            if resource is not None:
                rows = tables.resources(self.using).filter(pk=resource.pk)
                # Unlike the locks of other writers, this one keeps out the keys that refer to the row.
                if rows.select_for_update().first() is not None:
                    if self._next_threads(resource):
                        return None, counts
                    counts.update(self._erase_notes("resource_id", [resource.pk]))
                    counts["log_entries"] += blank_log(rows.model, self.using, keys=[resource.pk])
                    counts["resources"] = 1
                    delete_hung_on(rows)
            if self.finish is not None:
                self.finish(_counted(self.counts + counts))
        return erased, counts


def _counted(counts: Counts) -> dict[str, int]:
    return {name: counts[name] for name in EraseReceipt.COUNTED}


def count_owned(resource_id: str, *, cap: int, using: str) -> dict[str, int]:
    """See :meth:`ResourceManager.count_owned`."""
    check = Check()
    check.identifier(resource_id, "resource_id")
    check.integer(cap, "cap")
    check.finish()
    # By the owner's key: a join on its id lets PostgreSQL begin with the messages.
    key = tables.resources(using).filter(uid=resource_id).values_list("pk", flat=True).first()
    versions = tables.versions(using)
    counted: dict[str, list[QuerySet[Any]]] = {
        "threads": [tables.threads(using).filter(resource=key)],
        "messages": [tables.messages(using).filter(thread__resource=key)],
        # Not by OR, which would read all of them.
        "versions": [
            versions.filter(working_memory__resource=key),
            versions.filter(working_memory__thread__resource=key),
        ],
    }
    return {
        name: min(sum(rows[: cap + 1].count() for rows in querysets), cap + 1) if key else 0
        for name, querysets in counted.items()
    }
