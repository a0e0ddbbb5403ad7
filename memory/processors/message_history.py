"""`MessageHistory`: the messages before, and the new ones stored (seed 004)."""

from __future__ import annotations

import logging
from typing import Literal

from memory import schema
from memory.conf import memory_settings
from memory.exceptions import ThreadNotFound
from memory.models import Message
from memory.processors.base import Processor, RequestContext, Storage, logger
from memory.processors.chat_message import INCOMPLETE
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

    def on_input(self, messages: MessageList, context: RequestContext) -> MessageList:
        """Put the history of the thread in front. 2 queries; 1 more where a client sends messages along.

        A thread that does not exist has none. What the list holds already is not added twice: the stored
        copy is the base, however old it is, and what a client knows of its tool calls beyond that is taken
        over.

        Raises:
            ThreadNotOwned: the thread is not the context's resource's.
        """
        manager = Message.objects.db_manager(self.using)
        per_page, sent = self._per_page(context), messages.sent_ids
        limit = memory_settings.MAX_INCLUDES
        for start in range(0, max(len(sent), 1), limit):
            include = [
                {"id": uid, "thread_id": context.thread_id, "with_next_messages": 1}
                for uid in sent[start : start + limit]
            ]
            if per_page == 0 and per_page is not False and not include:
                continue
            try:
                found = manager.recall(
                    context.thread_id, resource_id=context.resource_id, per_page=per_page, include=include
                )
            except ThreadNotFound:
                return messages
            messages.add([row for row in found.chronological() if _is_wanted(row)], "memory")
            per_page = 0
        return messages

    def on_output(self, messages: MessageList, context: RequestContext) -> MessageList:
        """Store the new messages of the user and of the model, in one transaction.

        Left out are system messages and tool calls without a result. A thread that does not exist is made
        for the context's resource. Nothing is stored where the configuration is `read_only`.

        Raises:
            ThreadNotFound: there is no such thread and no resource to make it for; nothing was stored.
            ThreadNotOwned, MessageConflict, RecallError: see `MessageManager.save_messages`.
        """
        if self.config(context).read_only:
            return messages
        new = []
        for message in [*messages.new, *messages.changed]:
            content = drop_incomplete(message.content, keep_pending=self.keep_pending_tool_calls)
            if content["parts"] or not message.parts:
                new.append({"thread_id": context.thread_id, **message.as_dict(), "content": content})
        stored = Message.objects.db_manager(self.using).save_messages(
            new, create_thread=context.resource_id is not None, resource_id=context.resource_id
        )
        for row in stored:
            messages[row.uid].created_at = row.created_at
        return messages

    def _per_page(self, context: RequestContext) -> int | Literal[False]:
        """Messages of history: as the run says, else as this processor does."""
        if {"last_messages", "lastMessages"} & set(context.thread_config or {}):
            return self.config(context).last_messages
        return False if self.last_messages is None else self.last_messages


def _is_wanted(row: schema.Message) -> bool:
    """A neighbour of a message that was sent again matters only as its answer that broke off."""
    return bool(row.recall.sources & {"history", "include"}) or bool(row.metadata.get(INCOMPLETE))
