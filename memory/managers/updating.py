"""Changing stored messages (contract section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memory.content.incoming import IncomingChange, read_changes
from memory.content.merge import merge_content
from memory.content.normalise import Content
from memory.db.transactions import run_write
from memory.exceptions import MessageConflict, ThreadNotFound
from memory.managers.saving import store_rows
from memory.managers.touching import attach_threads, lock_threads, touch
from memory.querysets import tables
from memory.validation import Check

if TYPE_CHECKING:
    from memory.schema import Message, Thread


class Update:
    """One call of `update_messages`, in one transaction."""

    def __init__(self, changes: Sequence[Mapping[str, Any]], *, using: str) -> None:
        check = Check()
        self.changes = [change for change in read_changes(check, changes) if not change.is_empty]
        check.finish()
        self.using = using

    def run(self) -> list[Message]:
        """The changed messages, in the order of the changes; unknown ids are left out."""
        if not self.changes:
            return []
        return run_write(self.using, tables.messages(self.using).model._meta.db_table, self._store)

    def _store(self) -> list[Message]:
        messages = tables.messages(self.using).with_ids([change.uid for change in self.changes])
        sources = set(messages.values_list("thread_id", flat=True))
        named = {change.thread_uid for change in self.changes if change.thread_uid is not None}
        locked = lock_threads(self.using, uids=named, keys=sources)
        rows = {row.uid: row for row in messages.locked()}
        attach_threads(rows.values(), locked)
        threads = {thread.uid: thread for thread in locked}
        by_key = {thread.pk: thread for thread in locked}
        left: set[int] = set()
        changed: dict[str, Message] = {}
        for change in self.changes:
            row = rows.get(change.uid)
            if row is None or change.resource_uid not in (None, row.thread.resource.uid):
                continue
            _check_target(change, row, threads)
            changed[row.uid] = row
            if row.redacted_at is None:
                if change.thread_uid is not None and row.thread.uid != change.thread_uid:
                    left.add(row.thread_id)
                    row.thread = threads[change.thread_uid]
                _apply(change, row)
        written = [row for row in changed.values() if row.redacted_at is None]
        store_rows([], written, self.using)
        touched = {row.thread for row in written} | {by_key[key] for key in left}
        touch(self.using, touched, gained=written, lost=left)
        return list(changed.values())


def _check_target(change: IncomingChange, row: Message, threads: Mapping[str, Thread]) -> None:
    """A message stays with its resource, wherever it moves."""
    if change.thread_uid is not None:
        target = threads.get(change.thread_uid)
        if target is None:
            raise ThreadNotFound(change.thread_uid)
        if target.resource_id != row.thread.resource_id:
            raise MessageConflict


def _apply(change: IncomingChange, row: Message) -> None:
    if change.role is not None:
        row.role = change.role
    if change.type is not None:
        row.type = change.type
    if change.content is not None:
        stored = Content(row.body, row.metadata)
        row.set_content(merge_content(stored, change.content, change.named, f"{change.path}.content"))
