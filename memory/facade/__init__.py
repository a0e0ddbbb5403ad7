"""`Memory`: what agent code imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from memory.asynchronous import async_twin
from memory.facade import managers
from memory.facade.support import SupportVerbs
from memory.facade.working_memory import WorkingMemoryVerbs
from memory.recall.search import DEFAULT_LIMIT

if TYPE_CHECKING:
    from memory.processors.turn import Turn
    from memory.recall import CloneResult, RecallResult, SearchResult, ThreadPage
    from memory.schema import Message, Thread


class Memory(WorkingMemoryVerbs, SupportVerbs):
    """The memory of one agent: the verbs of the managers with the agent's configuration.

    Args:
        agent: a name in `MEMORY["AGENTS"]`; `default` always exists.
        using: database alias; default what the site's routers say.
        options: merged deep over the agent's configuration (contract section 1).

    Making one reads nothing: settings and models are looked up by the first call. Raised there:
    `ImproperlyConfigured` for an unknown agent or wrong options in the settings, `RecallError` for wrong
    `options`.
    """

    def recall(
        self,
        thread_id: str,
        *,
        resource_id: str | None = None,
        vector_search_string: str | None = None,
        per_page: int | Literal[False] | None = None,
        page: int | None = None,
        include: Sequence[Mapping[str, Any]] | None = None,
        filter: Mapping[str, Any] | None = None,
        order_by: Mapping[str, str] | None = None,
        thread_config: Mapping[str, Any] | None = None,
    ) -> RecallResult:
        """See :meth:`MessageManager.recall`."""
        return managers.messages(self.using).recall(
            thread_id,
            resource_id=resource_id,
            vector_search_string=vector_search_string,
            per_page=per_page,
            page=page,
            include=include,
            filter=filter,
            order_by=order_by,
            thread_config=thread_config,
            defaults=self.layers(),
        )

    def save_messages(
        self,
        messages: Sequence[Mapping[str, Any] | Message],
        *,
        create_thread: bool = False,
        resource_id: str | None = None,
    ) -> list[Message]:
        """See :meth:`MessageManager.save_messages`."""
        return managers.messages(self.using).save_messages(
            messages, create_thread=create_thread, resource_id=resource_id
        )

    def update_messages(self, changes: Sequence[Mapping[str, Any]]) -> list[Message]:
        """See :meth:`MessageManager.update_messages`."""
        return managers.messages(self.using).update_messages(changes)

    def delete_messages(
        self, ids: str | Sequence[str | Mapping[str, Any]], *, resource_id: str | None = None
    ) -> int:
        """See :meth:`MessageManager.delete_messages`."""
        return managers.messages(self.using).delete_messages(ids, resource_id=resource_id)

    def get_messages(self, ids: Sequence[str]) -> list[Message]:
        """See :meth:`MessageManager.get_messages`."""
        return managers.messages(self.using).get_messages(ids)

    def search(
        self,
        query: str,
        *,
        resource_id: str,
        thread_id: str | None = None,
        limit: int = DEFAULT_LIMIT,
        thread_config: Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """See :meth:`MessageManager.search`."""
        return managers.messages(self.using).search(
            query,
            resource_id=resource_id,
            thread_id=thread_id,
            limit=limit,
            thread_config=thread_config,
            defaults=self.layers(),
        )

    def create_thread(
        self,
        resource_id: str,
        *,
        thread_id: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Thread:
        """See :meth:`ThreadManager.create_thread`."""
        return managers.threads(self.using).create_thread(
            resource_id,
            thread_id=thread_id,
            title=title,
            metadata=metadata,
            working_memory=self.config().working_memory,
        )

    def get_thread(self, thread_id: str, *, resource_id: str | None = None) -> Thread | None:
        """See :meth:`ThreadManager.get_thread`."""
        return managers.threads(self.using).get_thread(thread_id, resource_id=resource_id)

    def list_threads(
        self,
        *,
        resource_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        order_by: Mapping[str, str] | None = None,
        page: int | None = None,
        per_page: int | Literal[False] | None = None,
    ) -> ThreadPage:
        """See :meth:`ThreadManager.list_threads`."""
        return managers.threads(self.using).list_threads(
            resource_id=resource_id, metadata=metadata, order_by=order_by, page=page, per_page=per_page
        )

    def update_thread(
        self, thread_id: str, *, title: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> Thread:
        """See :meth:`ThreadManager.update_thread`."""
        return managers.threads(self.using).update_thread(
            thread_id, title=title, metadata=metadata, working_memory=self.config().working_memory
        )

    def delete_thread(self, thread_id: str) -> None:
        """See :meth:`ThreadManager.delete_thread`."""
        managers.threads(self.using).delete_thread(thread_id)

    def transfer_thread(self, thread_id: str, resource_id: str) -> Thread:
        """See :meth:`ThreadManager.transfer_thread`."""
        return managers.threads(self.using).transfer_thread(thread_id, resource_id)

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
    ) -> CloneResult:
        """See :meth:`ThreadManager.clone_thread`."""
        return managers.threads(self.using).clone_thread(
            source_thread_id,
            new_thread_id=new_thread_id,
            resource_id=resource_id,
            title=title,
            metadata=metadata,
            message_limit=message_limit,
            message_ids=message_ids,
            start_date=start_date,
            end_date=end_date,
            working_memory=self.config().working_memory,
        )

    def turn(
        self,
        *,
        thread_id: str | None = None,
        resource_id: str | None = None,
        thread_config: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Turn:
        """One turn of a conversation, for a `with` or `async with` block. See :class:`Turn`, also for
        `options`: `processors`, `max_tokens`, `count`."""
        from memory.processors.turn import Turn

        return Turn(
            self, thread_id=thread_id, resource_id=resource_id, thread_config=thread_config, **options
        )

    arecall = async_twin(recall)
    asave_messages = async_twin(save_messages)
    aupdate_messages = async_twin(update_messages)
    adelete_messages = async_twin(delete_messages)
    aget_messages = async_twin(get_messages)
    asearch = async_twin(search)
    acreate_thread = async_twin(create_thread)
    aget_thread = async_twin(get_thread)
    alist_threads = async_twin(list_threads)
    aupdate_thread = async_twin(update_thread)
    adelete_thread = async_twin(delete_thread)
    atransfer_thread = async_twin(transfer_thread)
    aclone_thread = async_twin(clone_thread)
