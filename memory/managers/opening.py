"""A thread for a conversation: made, or the owner's own one updated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from memory.content.json import merge_metadata
from memory.exceptions import ThreadConflict
from memory.managers.resource import ensure_resource
from memory.managers.touching import lock_threads
from memory.managers.working_memory import store_value
from memory.querysets import tables
from memory.validation import after

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

    from memory.recall import WorkingMemoryConfig
    from memory.schema import Thread


def open_thread(
    resource_uid: str,
    uid: str | None,
    changes: dict[str, Any],
    *,
    working_memory: WorkingMemoryConfig | None = None,
    user: AbstractBaseUser | None = None,
    using: str,
) -> Thread:
    """The thread `uid` of a resource, with what is given of `title` and `metadata`; both are made if they
    do not exist. A transaction is open.

    Raises:
        ThreadConflict: the id is taken by another owner.
        ResourceConflict: the resource exists and is not linked to `user`, where one is given.
    """
    owner = ensure_resource(resource_uid, using, user=user)
    note = take_working_memory(changes, working_memory)
    threads = tables.threads(using)
    if uid is None:
        thread, created = threads.create(resource_id=owner.pk, **changes), True
    else:
        thread, created = threads.get_or_create(uid=uid, defaults={"resource_id": owner.pk, **changes})
    if not created:
        thread = lock_threads(using, keys=[thread.pk])[0]
        if thread.resource_id != owner.pk:
            raise ThreadConflict
        change_thread(thread, changes, using)
    thread.resource = owner
    store_note(thread, note, working_memory, using)
    return thread


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


def take_working_memory(changes: Mapping[str, Any], config: WorkingMemoryConfig | None) -> str | None:
    """A working memory that came in metadata, taken out of it (contract section 5)."""
    metadata = changes.get("metadata", {})
    if config is None or not config.enabled or not isinstance(metadata.get("workingMemory"), str):
        return None
    note: str = metadata.pop("workingMemory")
    return note


def store_note(thread: Thread, note: str | None, config: WorkingMemoryConfig | None, using: str) -> None:
    """Make what :func:`take_working_memory` took a version, in the configured scope."""
    if note is not None and config is not None:
        owner = thread.resource if config.scope == "resource" else thread
        store_value(owner, lambda _: note, using)
