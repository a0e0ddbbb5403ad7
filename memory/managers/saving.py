"""Storing messages (contract section 3)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils import timezone

from memory.content.incoming import IncomingMessage
from memory.db.transactions import run_write
from memory.exceptions import MessageConflict, ThreadNotFound, ThreadNotOwned
from memory.managers.opening import open_thread
from memory.managers.touching import attach_threads, lock_threads, touch
from memory.querysets import tables
from memory.signals import messages_stored
from memory.validation import after

if TYPE_CHECKING:
    from memory.schema import Message, Thread

UPDATED = ["thread", "role", "type", "body", "metadata", "text"]
BATCH = 500


class Save:
    """One call of `save_messages`, in one transaction.

    Rows are locked in the order threads (by primary key), then messages, here and everywhere else: two
    writers never wait for each other.
    """

    def __init__(
        self,
        incoming: Sequence[IncomingMessage],
        *,
        create_thread: bool,
        resource_id: str | None,
        owners: Collection[str] | None,
        using: str,
    ) -> None:
        self.incoming = incoming
        self.resource_uid = resource_id
        self.create_thread = create_thread
        self.owners = owners
        self.using = using
        self.model = tables.messages(using).model
        self.threads: dict[str, Thread] = {}

    def run(self) -> list[Message]:
        """Store the messages and answer them in order.

        Raises:
            ThreadNotFound, ThreadNotOwned, ThreadConflict, MessageConflict: nothing was written.
        """
        if not self.incoming:
            return []
        return run_write(self.using, self.model._meta.db_table, self._store)

    def _store(self) -> list[Message]:
        uids = [message.uid for message in self.incoming]
        stored = tables.messages(self.using).with_ids(uids)
        sources = set(stored.values_list("thread_id", flat=True))
        locked = self._lock_threads(sources)
        existing = {row.uid: row for row in stored.locked()} if sources else {}
        attach_threads(existing.values(), [*locked, *self.threads.values()])
        self._check_owners(existing)
        return self._write(existing)

    def _lock_threads(self, sources: set[int]) -> list[Thread]:
        """Lock the threads that are named and those that messages leave; make missing ones if asked to.

        Returns:
            All that existed. Only those of `owners` can be written to; an id in another is a conflict.
        """
        named = {message.thread_uid for message in self.incoming}
        locked = lock_threads(self.using, uids=named, keys=sources)
        self.threads = {
            thread.uid: thread
            for thread in locked
            if self.owners is None or thread.resource.uid in self.owners
        }
        missing = {m.thread_uid: m for m in reversed(self.incoming) if m.thread_uid not in self.threads}
        # In one order for all writers, owners first: two of them would wait for each other otherwise.
        for uid, message in sorted(missing.items(), key=lambda item: (self._owner(item[1]), item[0])):
            self.threads[uid] = self._missing_thread(message)
        return locked

    def _owner(self, message: IncomingMessage) -> str:
        """The owner that is named for a message, "" if none is."""
        return message.resource_uid or self.resource_uid or ""

    def _missing_thread(self, message: IncomingMessage) -> Thread:
        owner = self._owner(message)
        if not self.create_thread or not owner:
            raise ThreadNotFound(message.thread_uid)
        return open_thread(owner, message.thread_uid, {}, using=self.using)

    def _check_owners(self, existing: dict[str, Message]) -> None:
        """The owners that were named, then the ids that are taken."""
        for message in self.incoming:
            owner = self.threads[message.thread_uid].resource.uid
            if {message.resource_uid, self.resource_uid} - {None, owner}:
                raise ThreadNotOwned(message.thread_uid)
        for message in self.incoming:
            row = existing.get(message.uid)
            thread = self.threads[message.thread_uid]
            if row is not None and row.thread.resource_id != thread.resource_id:
                raise MessageConflict

    def _write(self, existing: dict[str, Message]) -> list[Message]:
        now: datetime | None = None
        result: list[Message] = []
        new: list[Message] = []
        changed: list[Message] = []
        touched: set[Thread] = set()
        left: set[int] = set()
        for message in self.incoming:
            row = existing.get(message.uid)
            thread = self.threads[message.thread_uid]
            if row is None:
                created_at = message.created_at
                if created_at is None:
                    created_at = now = after(timezone.now(), now)
                row = self.model(uid=message.uid, created_at=created_at)
                row._state.db = self.using
                new.append(row)
            elif row.redacted_at is not None:
                # A redacted message stays redacted: clients send history again.
                result.append(row)
                continue
            elif not _says(row, message, thread):
                changed.append(row)
                if row.thread_id != thread.pk:
                    left.add(row.thread_id)
            row.thread, row.role, row.type = thread, message.role, message.type
            row.metadata = {}
            row.set_content(message.content)
            result.append(row)
            touched.add(thread)
        store_rows(new, changed, self.using)
        touched |= {thread for thread in self.threads.values() if thread.pk in left}
        touch(self.using, touched, gained=(*new, *changed), lost=left)
        return result


def _says(row: Message, message: IncomingMessage, thread: Thread) -> bool:
    """Whether the row holds all of a message already: history that is sent again costs no write."""
    if (row.thread_id, row.role, row.type) != (thread.pk, message.role, message.type):
        return False
    stored, given = [row.body, row.metadata], [message.content.body, message.content.metadata]
    # Not by ==, for which True, 1 and 1.0 are the same.
    return json.dumps(stored, sort_keys=True) == json.dumps(given, sort_keys=True)


def store_rows(new: Sequence[Message], changed: Sequence[Message], using: str) -> None:
    """Insert and update rows that are prepared already, and tell the outbox."""
    model = tables.messages(using).model
    # Django's own queryset: this app's would prepare the rows and send the signal a second time.
    rows: models.QuerySet[Message] = models.QuerySet(model, using=using)
    if new:
        rows.bulk_create(new)
    if changed:
        rows.bulk_update(changed, UPDATED, batch_size=BATCH)
    if new or changed:
        messages_stored.send(sender=model, messages=[*new, *changed], created=not changed, using=using)


def as_given(messages: Sequence[Mapping[str, Any] | Message], model: type[Message]) -> Sequence[Any]:
    """Messages as dicts, whether they were given as those or as unsaved instances."""
    if not isinstance(messages, list | tuple):
        return messages
    return [_as_dict(message) if isinstance(message, model) else message for message in messages]


def _as_dict(message: Message) -> dict[str, Any]:
    """An unsaved instance as the dict that says the same."""
    thread = getattr(message, "thread", None)
    return {
        "id": message.uid,
        "thread_id": None if thread is None else thread.uid,
        "role": message.role,
        "type": message.type or None,
        "content": message.content,
        "created_at": message.created_at,
    }
