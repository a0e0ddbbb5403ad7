"""`Thread.objects`: the verbs of threads (contract section 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from django.utils import timezone

from memory.asynchronous import async_twin
from memory.exceptions import ThreadNotFound
from memory.managers.base import WritingManager
from memory.managers.cloning import Clone
from memory.managers.deleting import delete_locked
from memory.managers.listing import page_of
from memory.managers.opening import change_thread, open_thread, read_changes, store_note, take_note
from memory.managers.resource import ensure_resource
from memory.managers.support import ThreadSupport
from memory.managers.touching import lock_thread
from memory.querysets import ThreadQuerySet
from memory.recall import CloneResult, ThreadPage, WorkingMemoryConfig
from memory.recall.listing import ThreadListing
from memory.validation import Check, after

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

    from memory.schema import Thread


_Base = WritingManager.from_queryset(ThreadQuerySet)


class ThreadManager(ThreadSupport, _Base["Thread"]):
    """The semantics of threads."""

    def create_thread(
        self,
        resource_id: str,
        *,
        thread_id: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        working_memory: WorkingMemoryConfig | None = None,
        user: AbstractBaseUser | None = None,
    ) -> Thread:
        """A new thread; or, if the owner has it already, that thread with what is given updated.

        Args:
            resource_id: the owner, made if it does not exist.
            thread_id: id of the thread; default a UUIDv7.
            title, metadata: None = not given. On an existing thread metadata is merged.
            working_memory: where it is on, a string at `metadata["workingMemory"]` becomes a version of
                the working memory and is not kept in metadata.
            user: the account that `resource_id` is made for and linked to.

        Raises:
            RecallError: bad input; nothing was written.
            ThreadConflict: the id is taken by another owner.
            ResourceConflict: the resource exists and is not linked to `user`.
        """
        check = Check()
        uid = None if thread_id is None else check.identifier(thread_id, "thread_id")
        check.identifier(resource_id, "resource_id")
        changes = read_changes(check, title, metadata)
        check.finish()
        note = take_note(changes.get("metadata"), working_memory)
        return self.run_write(
            lambda using: open_thread(resource_id, uid, changes, note=note, user=user, using=using)
        )

    def get_thread(
        self, thread_id: str, *, resource_id: str | None = None, owners: Collection[str] | None = None
    ) -> Thread | None:
        """The thread, with its resource; None if it does not exist, is not of `resource_id`, or is of none of
        `owners`. 1 query.

        Raises:
            RecallError: bad input.
        """
        check = Check()
        condition = {"uid": check.identifier(thread_id, "thread_id")}
        if resource_id is not None:
            condition["resource__uid"] = check.identifier(resource_id, "resource_id")
        check.finish()
        return self.of_owners(owners).filter(**condition).select_related("resource").first()

    def list_threads(
        self,
        *,
        resource_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        order_by: Mapping[str, str] | None = None,
        page: int | None = None,
        per_page: int | Literal[False] | None = None,
        owners: Collection[str] | None = None,
    ) -> ThreadPage:
        """Threads of one resource, or of all. 2 queries.

        Args:
            resource_id: only this owner's.
            metadata: keys and scalars that the metadata must hold, in type and value.
            order_by: `{"field": "created_at" | "updated_at", "direction": "ASC" | "DESC"}`; default
                newest first.
            page: number of the page, from 0.
            per_page: threads a page; False = all; default 100.
            owners: only threads of these resources; None = of all.

        Raises:
            RecallError: bad input.
        """
        listing = ThreadListing.read(
            resource_id=resource_id, metadata=metadata, order_by=order_by, page=page, per_page=per_page
        )
        return page_of(self.of_owners(owners), listing)

    def update_thread(
        self,
        thread_id: str,
        *,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        working_memory: WorkingMemoryConfig | None = None,
        replace_metadata: bool = False,
        resource_id: str | None = None,
        owners: Collection[str] | None = None,
    ) -> Thread:
        """The thread with a new title, or with metadata merged key by key.

        Args:
            thread_id: the thread.
            title, metadata: None = stays as it is.
            working_memory: see :meth:`create_thread`.
            replace_metadata: metadata takes the place of what is stored.
            resource_id: the owner the thread must have.
            owners: threads of other resources than these count as missing; None = of none.

        Raises:
            RecallError: bad input; nothing was written.
            ThreadNotFound, ThreadNotOwned: there is no such thread, or it is not of `resource_id`.
        """
        check = Check()
        uid = check.identifier(thread_id, "thread_id")
        changes = read_changes(check, title, metadata)
        check.finish()
        note = take_note(changes.get("metadata"), working_memory)

        def update(using: str) -> Thread:
            thread = lock_thread(using, uid or "", resource_uid=resource_id, owners=owners)
            change_thread(thread, changes, using, replace_metadata=replace_metadata)
            store_note(thread, note, using)
            return thread

        return self.run_write(update)

    def delete_thread(
        self,
        thread_id: str,
        *,
        missing_ok: bool = True,
        resource_id: str | None = None,
        owners: Collection[str] | None = None,
    ) -> None:
        """Delete a thread with its messages, vectors and working memory; the resource's stays.

        The number of queries does not depend on the number of messages.

        Args:
            thread_id: the thread.
            missing_ok: an unknown id is no error.
            resource_id: the owner the thread must have.
            owners: threads of other resources than these count as missing; None = of none.

        Raises:
            RecallError: bad input.
            ThreadNotFound, ThreadNotOwned: there is no such thread, or it is not of `resource_id`.
        """
        check = Check()
        uid = check.identifier(thread_id, "thread_id")
        check.finish()

        def delete(using: str) -> None:
            try:
                thread = lock_thread(using, uid or "", resource_uid=resource_id, owners=owners)
            except ThreadNotFound:
                if missing_ok:
                    return
                raise
            delete_locked([thread], using)

        self.run_write(delete)

    def transfer_thread(
        self,
        thread_id: str,
        resource_id: str,
        *,
        owners: Collection[str] | None = None,
        user: AbstractBaseUser | None = None,
    ) -> Thread:
        """Give a thread and its messages to another resource, made if it does not exist.

        Args:
            thread_id: the thread.
            resource_id: its new owner.
            owners: threads of other resources than these count as missing; None = of none.
            user: the account that `resource_id` is made for and linked to.

        Raises:
            RecallError: bad input; nothing was written.
            ThreadNotFound: there is no such thread.
            ResourceConflict: the resource exists and is not linked to `user`.
        """
        check = Check()
        uid = check.identifier(thread_id, "thread_id")
        check.identifier(resource_id, "resource_id")
        check.finish()

        def transfer(using: str) -> Thread:
            thread = lock_thread(using, uid or "", owners=owners)
            if thread.resource.uid != resource_id:
                thread.resource = ensure_resource(resource_id, using, user=user)
                thread.updated_at = after(timezone.now(), thread.updated_at)
                self.using(using).filter(pk=thread.pk).update(
                    resource_id=thread.resource.pk, updated_at=thread.updated_at
                )
            return thread

        return self.run_write(transfer)

    def clone_thread(
        self,
        source_thread_id: str,
        *,
        new_thread_id: str | None = None,
        resource_id: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        message_limit: int | None = None,
        message_ids: Sequence[str] | None = None,
        start_date: datetime | str | None = None,
        end_date: datetime | str | None = None,
        working_memory: WorkingMemoryConfig | None = None,
        source_resource_id: str | None = None,
        owners: Collection[str] | None = None,
    ) -> CloneResult:
        """Copy a thread with its messages, vectors and working memory, in one transaction.

        Args:
            source_thread_id: the thread to copy.
            new_thread_id: id of the copy; default a UUIDv7.
            resource_id: owner of the copy; default that of the source.
            title: default "Clone of <title>", empty for an untitled source.
            metadata: of the copy, beside `clone` with `sourceThreadId`, `clonedAt` and `lastMessageId`.
            message_limit: the newest so many; None or 0 = all.
            message_ids, start_date, end_date: only these, dates inclusive; they combine by AND.
            working_memory: see :meth:`create_thread`.
            source_resource_id: the owner the source must have.
            owners: sources of other resources than these count as missing; None = of none.

        Raises:
            RecallError: bad input; nothing was written.
            ThreadNotFound, ThreadNotOwned: there is no such source, or it is not of `source_resource_id`.
            ThreadConflict: the new id is taken.
        """
        return Clone(
            source_thread_id,
            new_thread_id=new_thread_id,
            resource_id=resource_id,
            title=title,
            metadata=metadata,
            message_limit=message_limit,
            message_ids=message_ids,
            start_date=start_date,
            end_date=end_date,
            working_memory=working_memory,
            source_resource_id=source_resource_id,
            owners=owners,
            using=self.write_db,
        ).run()

    acreate_thread = async_twin(create_thread)
    aget_thread = async_twin(get_thread)
    alist_threads = async_twin(list_threads)
    aupdate_thread = async_twin(update_thread)
    adelete_thread = async_twin(delete_thread)
    atransfer_thread = async_twin(transfer_thread)
    aclone_thread = async_twin(clone_thread)
