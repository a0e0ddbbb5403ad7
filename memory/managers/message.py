"""`Message.objects`: recall, and the verbs that save."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from memory.asynchronous import async_twin
from memory.content.incoming import IncomingMessage, read_messages
from memory.managers.base import WritingManager
from memory.managers.deleting import delete_messages, read_ids
from memory.managers.recall import Recall
from memory.managers.saving import Save, as_given
from memory.managers.search import Search
from memory.managers.support import MessageSupport
from memory.managers.updating import Update
from memory.querysets import MessageQuerySet
from memory.recall import RecallRequest, RecallResult, SearchRequest, SearchResult
from memory.recall.config import Layer
from memory.recall.search import DEFAULT_LIMIT
from memory.validation import Check

if TYPE_CHECKING:
    from memory.schema import Message

_Base = WritingManager.from_queryset(MessageQuerySet)


class MessageManager(MessageSupport, _Base["Message"]):
    """The semantics of messages (contract sections 2 and 3)."""

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
        defaults: Sequence[Layer] = (),
    ) -> RecallResult:
        """Messages of a thread: a page of its history, those named, and those found by meaning.

        Args:
            thread_id: the thread.
            resource_id: its owner; given, the thread must belong to it.
            vector_search_string: what to search, when semantic recall is on.
            per_page: messages a page; False = all; default `last_messages` of the configuration.
            page: number of the page, from 0; page 0 of the default order holds the newest messages.
            include: `{"id", "thread_id"?, "with_previous_messages"?, "with_next_messages"?}` objects.
            filter: `{"date_range"?: {"start"?, "end"?, "start_exclusive"?, "end_exclusive"?},
                "metadata"?: {key: scalar}}`, on history and hits.
            order_by: `{"field": "created_at", "direction": "ASC" | "DESC"}`; default newest first.
            thread_config: options of this call (contract section 1).
            defaults: layers of the configuration below `thread_config`, such as an agent's.

        Returns:
            The result; at most 3 queries for a page, 6 with a search (see :class:`Recall`).

        Raises:
            RecallError: bad input; nothing was queried.
            ThreadNotFound, ThreadNotOwned: `resource_id` was given and the thread is not its.
            SemanticRecallNotConfigured: a search would run and no embedder is usable.
            EmbedderError: the embedder failed.
        """
        request = RecallRequest.read(
            thread_id=thread_id,
            resource_id=resource_id,
            vector_search_string=vector_search_string,
            per_page=per_page,
            page=page,
            include=include,
            filter=filter,
            order_by=order_by,
            layers=[*defaults, ("thread_config", thread_config)],
        )
        return self.answer(request)

    def answer(self, request: RecallRequest, *, owners: Collection[str] | None = None) -> RecallResult:
        """Carry out a recall whose parameters are read already.

        Args:
            request: the parameters.
            owners: the resources that the caller may see; threads and hits of others count as missing.
                None = all.

        Raises:
            RecallError: more messages than `request.max_unpaged` allows.
            ThreadNotFound, ThreadNotOwned, SemanticRecallNotConfigured, EmbedderError: see :meth:`recall`.
        """
        return Recall(request, self.db, owners=owners).run()

    def save_messages(
        self,
        messages: Sequence[Mapping[str, Any] | Message],
        *,
        create_thread: bool = False,
        resource_id: str | None = None,
    ) -> list[Message]:
        """Save messages in one transaction: all or nothing.

        Args:
            messages: dicts, in the wire's names or in snake_case: `id`?, `thread_id`, `resource_id`?,
                `role`, `content`, `created_at`?, `type`?; or unsaved instances.
            create_thread: make a thread that does not exist, for `resource_id` or the messages' own.
            resource_id: the owner the threads must have.

        Returns:
            What is stored, in the order given, each id once. `system` messages and those left without
            content are absent.

        Raises:
            RecallError: bad input; nothing was written.
            ThreadNotFound, ThreadNotOwned: of a named thread.
            MessageConflict: an id lives under another resource.
            ThreadConflict: another owner took the id of a thread that was to be made.
        """
        check = Check()
        owner = None if resource_id is None else check.identifier(resource_id, "resource_id")
        check.boolean(create_thread, "create_thread")
        incoming = read_messages(check, as_given(messages, self.model))
        check.finish()
        return self.store(incoming, create_thread=create_thread, resource_id=owner)

    def store(
        self,
        incoming: Sequence[IncomingMessage],
        *,
        create_thread: bool = False,
        resource_id: str | None = None,
        owners: Collection[str] | None = None,
    ) -> list[Message]:
        """Save messages that are read already, as :meth:`save_messages` does.

        Args:
            owners: the resources that the caller may write to; threads of others count as missing. None =
                all.

        Raises:
            ThreadNotFound, ThreadNotOwned, MessageConflict: see :meth:`save_messages`.
        """
        return Save(
            incoming,
            create_thread=create_thread,
            resource_id=resource_id,
            owners=owners,
            using=self.write_db,
        ).run()

    def update_messages(self, changes: Sequence[Mapping[str, Any]]) -> list[Message]:
        """Merge changes into stored messages, in one transaction.

        Args:
            changes: dicts with `id` and any of `role`, `type`, `thread_id`, `content`. Content is merged
                shallowly, its metadata key by key. Unknown ids are ignored, and so are messages of
                another owner than the `resource_id` of their change.

        Returns:
            The changed messages, in the order given.

        Raises:
            RecallError: bad input; nothing was written.
            ThreadNotFound: a message is to move to a thread that does not exist.
            MessageConflict: a message is to move to a thread of another resource.
        """
        return Update(changes, using=self.write_db).run()

    def delete_messages(
        self,
        ids: str | Sequence[str | Mapping[str, Any]],
        *,
        resource_id: str | None = None,
        owners: Collection[str] | None = None,
        refuse: bool = False,
    ) -> int:
        """Delete messages and their vectors; the `updated_at` of their threads rises.

        Args:
            ids: one id, or ids and `{"id"}` objects. Unknown ids are ignored.
            resource_id: only messages of this owner; others are treated as unknown, or refused.
            owners: messages of other resources than these count as unknown; None = of none.
            refuse: messages of another owner than `resource_id` are an error.

        Returns:
            The number of messages deleted.

        Raises:
            RecallError: bad input; nothing was deleted.
            ThreadNotOwned: `refuse`, and a message is of another owner; nothing was deleted.
        """
        return delete_messages(
            ids, resource_id=resource_id, owners=owners, refuse=refuse, using=self.write_db
        )

    def get_messages(self, ids: Sequence[str]) -> list[Message]:
        """The messages of these ids, oldest first; unknown ids are left out. 1 query.

        Raises:
            RecallError: bad input.
        """
        check = Check()
        uids = read_ids(check, ids)
        check.finish()
        return list(self.with_ids(uids).select_related("thread__resource").chronological()) if uids else []

    def search(
        self,
        query: str,
        *,
        resource_id: str,
        thread_id: str | None = None,
        limit: int = DEFAULT_LIMIT,
        thread_config: Mapping[str, Any] | None = None,
        defaults: Sequence[Layer] = (),
    ) -> SearchResult:
        """The messages of an owner that match a query, newest first.

        Without semantic recall in the configuration: those whose text has all words of the query, by the
        rules of :mod:`memory.content.terms`; in one thread where it is named. With it: the `top_k` most
        similar ones with their neighbours; its `scope` then says where, as over HTTP, and in the scope
        `thread` without a thread the one in use last is searched.

        Args:
            query: words, or what is meant.
            resource_id: the owner.
            thread_id: a thread of this owner.
            limit: most results, 1 to 1,000.
            thread_config: options of this call (contract section 1).
            defaults: layers of the configuration below `thread_config`, such as an agent's.

        Returns:
            The result; at most 4 queries.

        Raises:
            RecallError: bad input; nothing was queried.
            ThreadNotFound: no such thread. In the scope `resource` a thread may be new, as in a recall.
            ThreadNotOwned: the thread belongs to another resource.
            SemanticRecallNotConfigured: semantic recall is on and no embedder is usable.
            EmbedderError: the embedder failed.
        """
        request = SearchRequest.read(
            query=query,
            resource_id=resource_id,
            thread_id=thread_id,
            limit=limit,
            layers=[*defaults, ("thread_config", thread_config)],
        )
        return Search(request, self.db).run()

    arecall = async_twin(recall)
    asave_messages = async_twin(save_messages)
    aupdate_messages = async_twin(update_messages)
    adelete_messages = async_twin(delete_messages)
    asearch = async_twin(search)
    aget_messages = async_twin(get_messages)
