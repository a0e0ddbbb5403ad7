"""Working memory: read, replaced, merged; every version is kept (contract section 5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from django.db import models

from memory.asynchronous import async_twin
from memory.content.json import clean_json
from memory.content.merge import merge_working_memory
from memory.exceptions import RecallError, ThreadNotFound, ThreadNotOwned, WorkingMemoryDisabled
from memory.managers.base import WritingManager
from memory.managers.resource import ensure_resource
from memory.managers.touching import lock_threads
from memory.managers.versions import store_value
from memory.querysets import tables
from memory.recall import WorkingMemoryState
from memory.recall.template import is_bare
from memory.validation import Check

if TYPE_CHECKING:
    from memory.recall import WorkingMemoryConfig
    from memory.schema import Thread, WorkingMemoryVersion
    from memory.schema import WorkingMemory as WorkingMemory  # named by the base class

# Most versions that are listed at once: each may be as long as a text can be.
MOST_VERSIONS = 100


class WorkingMemoryManager(WritingManager["WorkingMemory"]):
    """`WorkingMemory.objects`. Which row is meant follows from the configuration's scope."""

    def get_value(
        self, *, config: WorkingMemoryConfig, thread_id: str | None = None, resource_id: str | None = None
    ) -> str | None:
        """The present text; None where working memory is off or empty. At most 2 queries.

        Raises:
            RecallError: the id that the scope needs is missing or no id.
            ThreadNotOwned: the thread is not of `resource_id`.
        """
        return self.get_state(config=config, thread_id=thread_id, resource_id=resource_id).value

    def get_state(
        self,
        *,
        config: WorkingMemoryConfig,
        thread_id: str | None = None,
        resource_id: str | None = None,
        owners: Collection[str] | None = None,
    ) -> WorkingMemoryState:
        """The present text, and whether the thread exists. At most 2 queries.

        Args:
            config: scope and form.
            thread_id, resource_id: the one that the scope needs, and the other to be checked.
            owners: resources other than these, and their threads, count as missing; None = none.

        Raises:
            RecallError, ThreadNotOwned: see :meth:`get_value`.
        """
        _check_ids(config, thread_id, resource_id)
        thread = _owned_thread(thread_id, resource_id, self.db, owners)
        value = None
        if config.enabled and config.scope == "thread" and thread is not None:
            value = self.filter(thread=thread.pk).values_list("value", flat=True).first()
        elif config.enabled and config.scope == "resource" and (owners is None or resource_id in owners):
            value = self.filter(resource__uid=resource_id).values_list("value", flat=True).first()
        return WorkingMemoryState(value=value or None, thread_exists=thread is not None)

    def update_value(
        self,
        value: str | Mapping[str, Any],
        *,
        config: WorkingMemoryConfig,
        thread_id: str | None = None,
        resource_id: str | None = None,
        thread_required: bool = False,
        owners: Collection[str] | None = None,
    ) -> str:
        """Replace the text, or, given a mapping in schema mode, merge it; the new text.

        Args:
            value: a string replaces. A mapping merges deeply: None deletes a key, lists replace.
            config: scope and form.
            thread_id, resource_id: the one that the scope needs; a resource is made if it does not exist.
            thread_required: the thread must exist in resource scope too.
            owners: threads of other resources than these count as missing; None = of none.

        Raises:
            RecallError: bad input; nothing was written.
            ThreadNotFound: thread scope or `thread_required`, and there is no such thread.
            ThreadNotOwned: the thread is not of `resource_id`.
            WorkingMemoryDisabled: working memory is off.
        """
        return self._store(
            _read_change(value, config),
            config=config,
            thread_id=thread_id,
            resource_id=resource_id,
            thread_required=thread_required,
            owners=owners,
        )

    def apply_tool_call(
        self,
        value: str | Mapping[str, Any],
        *,
        config: WorkingMemoryConfig,
        thread_id: str | None = None,
        resource_id: str | None = None,
    ) -> str:
        """:meth:`update_value` on behalf of the model: it may not put the bare template over what is stored.

        Raises:
            RecallError: also for the bare template; nothing was written.
            ThreadNotFound, ThreadNotOwned, WorkingMemoryDisabled: see :meth:`update_value`.
        """
        change = _read_change(value, config)

        def guarded(present: str) -> str:
            new = change(present)
            if is_bare(new, config) and not is_bare(present, config):
                raise RecallError.at("memory", "has nothing filled in: what is stored stays as it is")
            return new

        return self._store(guarded, config=config, thread_id=thread_id, resource_id=resource_id)

    def list_versions(
        self,
        *,
        config: WorkingMemoryConfig,
        thread_id: str | None = None,
        resource_id: str | None = None,
        limit: int = MOST_VERSIONS,
    ) -> list[WorkingMemoryVersion]:
        """The latest versions, the newest first; none where working memory is off. At most 2 queries.

        Raises:
            RecallError, ThreadNotOwned: see :meth:`get_value`.
        """
        check = Check()
        check.integer(limit, "limit", minimum=1, maximum=MOST_VERSIONS)
        check.finish()
        versions = self._versions(config, thread_id, resource_id)
        return [] if versions is None else list(versions.order_by("-number")[:limit])

    def restore_version(
        self,
        number: int,
        *,
        config: WorkingMemoryConfig,
        thread_id: str | None = None,
        resource_id: str | None = None,
    ) -> str:
        """Make an earlier version the present text again, as a new version; the text.

        Raises:
            RecallError: bad input, or there is no such version; nothing was written.
            ThreadNotFound, ThreadNotOwned, WorkingMemoryDisabled: see :meth:`update_value`.
        """
        check = Check()
        check.integer(number, "number", minimum=1)
        check.finish()
        if not config.enabled:
            raise WorkingMemoryDisabled
        versions = self._versions(config, thread_id, resource_id)
        wanted = None if versions is None else versions.filter(number=number).first()
        if wanted is None:
            raise RecallError.at("number", "must be that of a version, see list_versions()")
        return self.update_value(wanted.value, config=config, thread_id=thread_id, resource_id=resource_id)

    def _versions(
        self, config: WorkingMemoryConfig, thread_id: str | None, resource_id: str | None
    ) -> models.QuerySet[WorkingMemoryVersion] | None:
        """All versions; None where there can be none."""
        _check_ids(config, thread_id, resource_id)
        thread = _owned_thread(thread_id, resource_id, self.db, None)
        if not config.enabled or (config.scope == "thread" and thread is None):
            return None
        versions = tables.versions(self.db)
        if config.scope == "thread" and thread is not None:
            return versions.filter(working_memory__thread=thread.pk)
        return versions.filter(working_memory__resource__uid=resource_id)

    def _store(
        self,
        change: Callable[[str], str],
        *,
        config: WorkingMemoryConfig,
        thread_id: str | None,
        resource_id: str | None,
        thread_required: bool = False,
        owners: Collection[str] | None = None,
    ) -> str:
        _check_ids(config, thread_id, resource_id)
        if not config.enabled:
            raise WorkingMemoryDisabled

        def update(using: str) -> str:
            uids = [] if thread_id is None else [thread_id]
            locked = lock_threads(using, uids=uids, owners=owners)
            for thread in locked:
                if resource_id not in (None, thread.resource.uid):
                    raise ThreadNotOwned(thread.uid)
            if not locked and thread_required:
                raise ThreadNotFound(thread_id or "")
            if config.scope == "resource":
                return store_value(ensure_resource(resource_id or "", using), change, using)
            if not locked:
                raise ThreadNotFound(thread_id or "")
            return store_value(locked[0], change, using)

        return self.run_write(update)

    aget_value = async_twin(get_value)
    aupdate_value = async_twin(update_value)
    aapply_tool_call = async_twin(apply_tool_call)
    alist_versions = async_twin(list_versions)
    arestore_version = async_twin(restore_version)


def _owned_thread(
    thread_id: str | None, resource_id: str | None, using: str, owners: Collection[str] | None
) -> Thread | None:
    """The thread, if it is named and one of the owners has it; it must be of the resource, if that is
    named."""
    if thread_id is None:
        return None
    threads = tables.threads(using).of_owners(owners).filter(uid=thread_id)
    thread = threads.select_related("resource").first()
    if thread is not None and resource_id not in (None, thread.resource.uid):
        raise ThreadNotOwned(thread_id)
    return thread


def _check_ids(config: WorkingMemoryConfig, thread_id: Any, resource_id: Any) -> None:
    check = Check()
    for name, value in (("thread_id", thread_id), ("resource_id", resource_id)):
        if value is not None:
            check.identifier(value, name)
        elif name == f"{config.scope}_id" and config.enabled:
            check.fail(name, f"is required: the working memory has the scope {config.scope!r}")
    check.finish()


def _read_change(value: Any, config: WorkingMemoryConfig) -> Callable[[str], str]:
    """What is to happen to the present text."""
    check = Check()
    if isinstance(value, Mapping):
        if config.schema is None:
            check.fail("value", "must be a string: only working memory with a schema merges objects")
        update = clean_json(check, value, "value")
        check.finish()
        return lambda present: merge_working_memory(present, update)
    text = check.text(value, "value")
    check.finish()
    return lambda _: text or ""
