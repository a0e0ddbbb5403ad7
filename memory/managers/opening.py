"""A thread for a conversation: made, or the owner's own one updated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils import timezone

from memory.content.json import clean_metadata, merge_metadata
from memory.db.transactions import RowsMoved
from memory.exceptions import ThreadConflict
from memory.managers.resource import ensure_resource
from memory.managers.touching import lock_threads
from memory.managers.versions import store_value
from memory.querysets import tables
from memory.validation import Check, after

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

    from memory.recall import WorkingMemoryConfig
    from memory.recall.config import Scope
    from memory.schema import Thread


def open_thread(
    resource_uid: str,
    uid: str | None,
    changes: Mapping[str, Any],
    *,
    note: Note | None = None,
    user: AbstractBaseUser | None = None,
    using: str,
) -> Thread:
    """The thread `uid` of a resource, with what is given of `title` and `metadata`; both are made if they
    do not exist. Runs in :func:`run_write`.

    Raises:
        ThreadConflict: the id is taken by another owner.
        ResourceConflict: the resource exists and is not linked to `user`, where one is given.
    """
    owner = ensure_resource(resource_uid, using, user=user)
    threads = tables.threads(using)
    if uid is None:
        thread, created = threads.create(resource_id=owner.pk, **changes), True
    else:
        thread, created = threads.get_or_create(uid=uid, defaults={"resource_id": owner.pk, **changes})
    if not created:
        locked = lock_threads(using, keys=[thread.pk])
        if not locked:
            raise RowsMoved
        thread = locked[0]
        if thread.resource_id != owner.pk:
            raise ThreadConflict
        change_thread(thread, changes, using)
    thread.resource = owner
    store_note(thread, note, using)
    return thread


def read_changes(check: Check, title: Any, metadata: Any) -> dict[str, Any]:
    """What is given of title and metadata."""
    changes: dict[str, Any] = {}
    if title is not None:
        changes["title"] = check.text(title, "title")
    if metadata is not None:
        changes["metadata"] = clean_metadata(check, metadata, "metadata")
    return changes


def change_thread(
    thread: Thread, changes: Mapping[str, Any], using: str, *, replace_metadata: bool = False
) -> None:
    """Store changes of a locked thread; metadata is merged key by key, or replaced."""
    thread.title = changes.get("title", thread.title)
    metadata = changes.get("metadata", {})
    if not replace_metadata:
        thread.metadata = merge_metadata(thread.metadata, metadata, "metadata")
    elif "metadata" in changes:
        thread.metadata = metadata
    thread.updated_at = after(timezone.now(), thread.updated_at)
    thread.save(using=using, update_fields=["title", "metadata", "updated_at"])


class Note(NamedTuple):
    """A working memory that came in the metadata of a thread, and the scope in which it is kept."""

    value: str
    scope: Scope


def take_note(metadata: dict[str, Any] | None, config: WorkingMemoryConfig | None) -> Note | None:
    """Take the string at `workingMemory` out of metadata, where working memory is on (section 5)."""
    if not metadata or config is None or not config.enabled:
        return None
    if not isinstance(metadata.get("workingMemory"), str):
        return None
    return Note(metadata.pop("workingMemory"), config.scope)


def store_note(thread: Thread, note: Note | None, using: str) -> None:
    """Make a note a version of the working memory."""
    if note is not None:
        store_value(thread.resource if note.scope == "resource" else thread, lambda _: note.value, using)
