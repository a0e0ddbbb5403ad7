"""`MessageHistory`: the messages before, and the new ones stored (seed 004)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from memory.exceptions import ThreadNotFound
from memory.models import Message
from memory.processors.base import (
    Processor,
    RequestContext,
    Storage,
    as_answered_list,
    as_list,
    context_of,
    logger,
)
from memory.processors.message_list import MessageList
from memory.processors.tool_calls import drop_incomplete
from memory.validation import Check


class MessageHistory(Processor):
    """Puts the history in front of the prompt, and stores the turn.

    Args:
        storage, logger: see :class:`Processor`.
        last_messages: most messages of history, the newest ones; 0 = none, None or False = all of them.
        keep_pending_tool_calls: store calls that have no result yet: of tools that run in the client.

    Raises:
        RecallError: `last_messages` is no such number.
    """

    id = "message-history"
    name = "MessageHistory"

    def __init__(
        self,
        storage: Storage | str | None = None,
        *,
        last_messages: int | None = None,
        keep_pending_tool_calls: bool = False,
        logger: logging.Logger = logger,
    ) -> None:
        super().__init__(storage, logger=logger)
        check = Check()
        if last_messages is not None:
            check.integer(last_messages, "last_messages", or_false=True)
        check.finish()
        self.last_messages = last_messages
        self.keep_pending_tool_calls = keep_pending_tool_calls

    def process_input(
        self,
        messages: Sequence[Any],
        *,
        message_list: MessageList | None = None,
        abort: Callable[..., Any] | None = None,
        request_context: RequestContext | None = None,
    ) -> MessageList:
        """Put the history of the thread in front. 2 queries; 1 more where a client sends messages along.

        A thread that does not exist has none. What the list holds already is not added twice: the stored
        copy is the base, however old it is, and what a client knows of its tool calls beyond that is taken
        over.

        Raises:
            ThreadNotOwned: the thread is not the context's resource's.
        """
        result = message_list if message_list is not None else as_list(messages, request_context)
        context = context_of(result, request_context)
        if context is None:
            return result
        manager = Message.objects.db_manager(self.using)
        if self.last_messages is False or self.last_messages != 0:
            try:
                history = manager.recall(
                    context.thread_id, resource_id=context.resource_id, per_page=self.last_messages or False
                )
            except ThreadNotFound:
                return result
            result.add(history.chronological(), "memory")
        if sent := result.sent_ids:
            stored = [
                row
                for row in manager.get_messages(sent)
                if row.thread.uid == context.thread_id
                and context.resource_id in (None, row.thread.resource.uid)
            ]
            result.add(stored, "memory")
        return result

    def process_output_result(
        self,
        messages: Sequence[Any],
        *,
        message_list: MessageList | None = None,
        abort: Callable[..., Any] | None = None,
        request_context: RequestContext | None = None,
    ) -> MessageList:
        """Store the new messages of the user and of the model, in one transaction.

        Left out are system messages and tool calls without a result. A thread that does not exist is made
        for the context's resource. Nothing is stored where the configuration is `read_only`.

        Raises:
            ThreadNotFound: there is no such thread and no resource to make it for; nothing was stored.
            ThreadNotOwned, MessageConflict, RecallError: see `MessageManager.save_messages`.
        """
        result = message_list if message_list is not None else as_answered_list(messages, request_context)
        context = context_of(result, request_context)
        if context is None or self.config(context).read_only:
            return result
        new = []
        for message in [*result.new, *result.changed]:
            content = drop_incomplete(message.content, keep_pending=self.keep_pending_tool_calls)
            if content["parts"] or not message.parts:
                new.append({"thread_id": context.thread_id, **message.as_dict(), "content": content})
        stored = Message.objects.db_manager(self.using).save_messages(
            new, create_thread=context.resource_id is not None, resource_id=context.resource_id
        )
        for row in stored:
            result[row.uid].created_at = row.created_at
        return result
