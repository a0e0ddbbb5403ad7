"""The working memory of an agent's conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory.asynchronous import async_twin
from memory.exceptions import WorkingMemoryDisabled
from memory.facade import managers
from memory.facade.base import Agent

if TYPE_CHECKING:
    from memory.schema import WorkingMemoryVersion


class WorkingMemoryVerbs(Agent):
    """Part of :class:`memory.Memory`."""

    def get_working_memory(
        self,
        *,
        thread_id: str | None = None,
        resource_id: str | None = None,
        thread_config: Mapping[str, Any] | None = None,
    ) -> str | None:
        """See :meth:`WorkingMemoryManager.get_value`."""
        config = self.config(thread_config).working_memory
        return managers.working_memories(self.using).get_value(
            config=config, thread_id=thread_id, resource_id=resource_id
        )

    def update_working_memory(
        self,
        value: str | Mapping[str, Any],
        *,
        thread_id: str | None = None,
        resource_id: str | None = None,
        thread_config: Mapping[str, Any] | None = None,
    ) -> str:
        """See :meth:`WorkingMemoryManager.update_value`."""
        config = self.config(thread_config).working_memory
        if not config.enabled:
            raise WorkingMemoryDisabled(self.agent)
        return managers.working_memories(self.using).update_value(
            value, config=config, thread_id=thread_id, resource_id=resource_id
        )

    def list_working_memory_versions(
        self,
        *,
        thread_id: str | None = None,
        resource_id: str | None = None,
        thread_config: Mapping[str, Any] | None = None,
    ) -> list[WorkingMemoryVersion]:
        """See :meth:`WorkingMemoryManager.list_versions`."""
        return managers.working_memories(self.using).list_versions(
            config=self.config(thread_config).working_memory, thread_id=thread_id, resource_id=resource_id
        )

    def restore_working_memory(
        self,
        number: int,
        *,
        thread_id: str | None = None,
        resource_id: str | None = None,
        thread_config: Mapping[str, Any] | None = None,
    ) -> str:
        """See :meth:`WorkingMemoryManager.restore_version`."""
        return managers.working_memories(self.using).restore_version(
            number,
            config=self.config(thread_config).working_memory,
            thread_id=thread_id,
            resource_id=resource_id,
        )

    aget_working_memory = async_twin(get_working_memory)
    aupdate_working_memory = async_twin(update_working_memory)
    alist_working_memory_versions = async_twin(list_working_memory_versions)
    arestore_working_memory = async_twin(restore_working_memory)
