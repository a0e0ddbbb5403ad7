"""Copying a thread (contract sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connections, models, transaction
from django.utils import timezone

from memory.content.dates import wire_date
from memory.content.json import clean_metadata
from memory.db.transactions import run_write
from memory.exceptions import ThreadConflict
from memory.ids import uuid7
from memory.managers.deleting import read_ids
from memory.managers.opening import store_note, take_note
from memory.managers.resource import ensure_resource
from memory.managers.touching import lock_thread
from memory.managers.versions import copy_value
from memory.querysets import tables
from memory.recall import CloneResult, DateRange, MessageFilter
from memory.signals import messages_stored
from memory.validation import Check

if TYPE_CHECKING:
    from memory.recall import WorkingMemoryConfig
    from memory.schema import Message, Resource, Thread


class Clone:
    """One call of `clone_thread`, in one transaction."""

    def __init__(
        self,
        source_thread_id: Any,
        *,
        new_thread_id: Any,
        resource_id: Any,
        title: Any,
        metadata: Any,
        message_limit: Any,
        message_ids: Any,
        start_date: Any,
        end_date: Any,
        working_memory: WorkingMemoryConfig | None,
        source_resource_id: str | None,
        owners: Collection[str] | None,
        using: str,
    ) -> None:
        check = Check()
        self.source_uid = check.identifier(source_thread_id, "source_thread_id")
        self.uid = None if new_thread_id is None else check.identifier(new_thread_id, "new_thread_id")
        self.resource_uid = None if resource_id is None else check.identifier(resource_id, "resource_id")
        self.title = None if title is None else check.text(title, "title")
        self.metadata = {} if metadata is None else clean_metadata(check, metadata, "metadata")
        self.limit = None if message_limit is None else check.integer(message_limit, "message_limit")
        self.message_uids = None if message_ids is None else read_ids(check, message_ids, "message_ids")
        self.filter = MessageFilter(
            date_range=DateRange(
                start=None if start_date is None else check.bound(start_date, "start_date"),
                end=None if end_date is None else check.bound(end_date, "end_date"),
            )
        )
        check.finish()
        self.note = take_note(self.metadata, working_memory)
        self.source_resource_uid = source_resource_id
        self.owners = owners
        self.using = using

    def run(self) -> CloneResult:
        """The copy.

        Raises:
            ThreadNotFound, ThreadNotOwned, ThreadConflict: nothing was written.
        """
        return run_write(self.using, tables.threads(self.using).model._meta.db_table, self._copy)

    def _copy(self) -> CloneResult:
        source = lock_thread(
            self.using, self.source_uid or "", resource_uid=self.source_resource_uid, owners=self.owners
        )
        originals = self._originals(source)
        thread = self._copy_thread(source, originals)
        store_note(thread, self.note, self.using)
        copies = self._copy_messages(originals, thread)
        self._copy_vectors(thread)
        self._copy_working_memory(source, thread)
        if copies:
            messages_stored.send(sender=type(copies[0]), messages=copies, created=False, using=self.using)
        return CloneResult(
            thread=thread,
            messages=copies,
            message_id_map={copy.cloned_from: copy.uid for copy in copies},
        )

    def _originals(self, source: Thread) -> list[Message]:
        """What is copied, oldest first."""
        messages = tables.messages(self.using).in_thread(source).matching(self.filter)
        if self.message_uids is not None:
            messages = messages.with_ids(self.message_uids)
        if not self.limit:
            return list(messages.chronological())
        return list(messages.newest_first()[: self.limit])[::-1]

    def _copy_thread(self, source: Thread, originals: Sequence[Message]) -> Thread:
        now, owner = timezone.now(), self._owner(source)
        origin: dict[str, Any] = {"sourceThreadId": source.uid, "clonedAt": wire_date(now)}
        if originals:
            origin["lastMessageId"] = originals[-1].uid
        title = self.title
        if title is None:
            title = f"Clone of {source.title}" if source.title else ""
        thread = tables.threads(self.using).model(
            uid=self.uid or uuid7(),
            resource_id=owner.pk,
            title=title,
            metadata={**(self.metadata or {}), "clone": origin},
            created_at=now,
            updated_at=now,
            last_message_at=originals[-1].created_at if originals else None,
        )
        thread._state.db = self.using
        thread.resource = owner
        try:
            with transaction.atomic(using=self.using):
                thread.save(using=self.using, force_insert=True)
        except IntegrityError as error:
            raise ThreadConflict from error
        return thread

    def _owner(self, source: Thread) -> Resource:
        if self.resource_uid in (None, source.resource.uid):
            return source.resource
        return ensure_resource(self.resource_uid or "", self.using)

    def _copy_messages(self, originals: Sequence[Message], thread: Thread) -> list[Message]:
        model = tables.messages(self.using).model
        copies = [
            model(
                uid=uuid7(),
                thread_id=thread.pk,
                role=original.role,
                type=original.type,
                body=original.body,
                metadata=original.metadata,
                text=original.text,
                created_at=original.created_at,
                redacted_at=original.redacted_at,
                cloned_from=original.uid,
            )
            for original in originals
        ]
        for copy in copies:
            copy._state.db = self.using
            copy.thread = thread
        # Django's own queryset: the rows are prepared, and the signal waits for their vectors.
        rows: models.QuerySet[Message] = models.QuerySet(model, using=self.using)
        return rows.bulk_create(copies)

    def _copy_vectors(self, thread: Thread) -> None:
        """The vectors of the copies, in one statement: none of them leaves the database."""
        connection = connections[self.using]
        quote = connection.ops.quote_name
        message = quote(tables.messages(self.using).model._meta.db_table)
        embedding = quote(tables.embeddings(self.using).model._meta.db_table)
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {embedding} "
                "(message_id, space_id, thread_id, resource_id, chunk, text_hash, vector) "
                "SELECT copy.id, e.space_id, copy.thread_id, %s, e.chunk, e.text_hash, e.vector "
                f"FROM {message} copy JOIN {message} original ON original.uid = copy.cloned_from "
                f"JOIN {embedding} e ON e.message_id = original.id WHERE copy.thread_id = %s",
                [thread.resource_id, thread.pk],
            )

    def _copy_working_memory(self, source: Thread, thread: Thread) -> None:
        """The thread's own; the resource's only to another resource that has none, which loses nothing."""
        copy_value(source, thread, self.using)
        if source.resource_id != thread.resource_id:
            copy_value(source.resource, thread.resource, self.using)
