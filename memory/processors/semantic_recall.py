"""`SemanticRecall`: old messages that are close in meaning to what the user said last (seed 002)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import nullcontext

from django.core.exceptions import ImproperlyConfigured
from django.db import connections, router, transaction

from memory.conf import memory_settings
from memory.embedders import BaseEmbedder, embedders
from memory.exceptions import ConversationMemoryError, ThreadNotFound
from memory.managers.embedding import chunks_for, embed_chunks, usable_embedder
from memory.models import Message
from memory.processors.base import Processor, RequestContext, Storage, logger
from memory.processors.message_list import MessageList
from memory.processors.remembered import TAG, remembered_block
from memory.recall import SemanticRecallConfig
from memory.recall.config import DEFAULT_INDEX, DEFAULT_RANGE, Scope
from memory.validation import Check


class SemanticRecall(Processor):
    """Searches before the model is called, and embeds after.

    Args:
        storage, logger: see :class:`Processor`.
        vector, index_name, embedder: each names the embedding space, an alias in `MEMORY["EMBEDDERS"]`; the
            embedder may also be the one configured there. Default "default".
        top_k: most distinct messages found.
        message_range: neighbours of each, a number or `{"before": n, "after": n}`.
        scope: "resource" searches all threads of the owner, "thread" this one.
        threshold: least similarity, 0 to 1.

    Raises:
        RecallError: a wrong option.
        ImproperlyConfigured: `vector`, `index_name` and `embedder` name different spaces, or the embedder is
            none of the configured ones: vectors that others write could not be compared with its own.
    """

    id = "semantic-recall"
    name = "SemanticRecall"

    def __init__(
        self,
        storage: Storage | str | None = None,
        *,
        vector: str | None = None,
        embedder: BaseEmbedder | str | None = None,
        top_k: int = 4,
        message_range: int | Mapping[str, int] = DEFAULT_RANGE,
        scope: Scope = "resource",
        threshold: float | None = None,
        index_name: str | None = None,
        logger: logging.Logger = logger,
    ) -> None:
        super().__init__(storage, logger=logger)
        self.options = {
            "top_k": top_k,
            "message_range": message_range,
            "scope": scope,
            "threshold": threshold,
            "index_name": _one_space(vector, index_name, embedder),
        }
        check = Check()
        config = SemanticRecallConfig.read(check, self.options, "semantic_recall")
        check.finish()
        self.search = config or SemanticRecallConfig()

    def on_input(self, messages: MessageList, context: RequestContext) -> MessageList:
        """Search for the last text of the user, and add what is found. At most 5 queries.

        Messages of this thread are added as such; those of the owner's other threads, in the scope
        "resource", become one system message. A search that fails is told to the logger and changes
        nothing.

        Raises:
            RecallError: wrong options of the run.
        """
        query = messages.last_user_text()
        config = self.config(context, semantic_recall=self.options)
        if query is None or not query.strip() or config.semantic_recall is None:
            return messages
        manager = Message.objects.db_manager(self.using)
        # A statement that fails must not take the caller's transaction along.
        in_transaction = connections[manager.db].in_atomic_block
        try:
            with transaction.atomic(using=manager.db) if in_transaction else nullcontext():
                found = manager.recall(
                    context.thread_id,
                    resource_id=context.resource_id,
                    vector_search_string=query,
                    per_page=0,
                    defaults=[("options", {"semantic_recall": self.options})],
                    thread_config=context.thread_config,
                )
        except ThreadNotFound:  # the first turn of a conversation
            return messages
        except (ConversationMemoryError, ImproperlyConfigured) as error:
            self.logger.warning("Nothing is recalled: %s", error)
            return messages
        except Exception as error:  # a database or a backend that fails must not stop the conversation
            self.logger.warning("Nothing is recalled: the search failed with %s.", type(error).__name__)
            return messages
        rows = [row for row in found.chronological() if row.redacted_at is None and row.uid not in messages]
        messages.recalled = rows
        if block := remembered_block(row for row in rows if row.thread.uid != context.thread_id):
            messages.add_system(block, tag=TAG)
        return messages.add([row for row in rows if row.thread.uid == context.thread_id], "memory")

    def on_output(self, messages: MessageList, context: RequestContext) -> MessageList:
        """Embed the new texts, before or after they are stored.

        The vectors go into the embedder's cache, and from there to the rows as soon as those are committed:
        vectors always follow their rows. Where another process embeds, or nothing is cached, there is
        nothing to do here. A failing embedder is told to the logger; the rows wait for it.
        """
        if self.config(context).read_only:
            return messages
        if memory_settings.EMBED != "inline" or not memory_settings.EMBEDDING_CACHE:
            return messages
        texts = [message.text for message in messages.new if message.text.strip()]
        using = self.using or router.db_for_write(Message)
        try:
            embedder = usable_embedder(self.search.index_name)
            embed_chunks(embedder, [chunk for text in texts for chunk in chunks_for(embedder, text)], using)
        except ConversationMemoryError as error:
            self.logger.warning("The new messages wait to be embedded: %s", error)
        return messages


def _one_space(vector: str | None, index_name: str | None, embedder: BaseEmbedder | str | None) -> str:
    """The alias of the space that all of these name."""
    if isinstance(embedder, BaseEmbedder):
        alias = next((name for name in embedders if embedders[name] is embedder), None)
        if alias is None:
            raise ImproperlyConfigured(
                "The embedder has to be one of MEMORY['EMBEDDERS'], for example embedders['default']: "
                "messages are embedded by those."
            )
        embedder = alias
    named = {alias for alias in (vector, index_name, embedder) if alias is not None}
    if len(named) > 1:
        raise ImproperlyConfigured(
            f"vector, index_name and embedder name different embedding spaces: {', '.join(sorted(named))}."
        )
    return named.pop() if named else DEFAULT_INDEX
