"""One turn of a conversation: `with Memory("support").turn(...) as turn`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from asgiref.sync import sync_to_async

from memory.asynchronous import async_twin
from memory.exceptions import RecallError
from memory.ids import uuid7
from memory.processors.answering import Answering
from memory.processors.base import Processor, RequestContext, Storage
from memory.processors.budget import count_tokens, fit
from memory.processors.chat_message import INCOMPLETE, as_mapping
from memory.processors.message_history import MessageHistory
from memory.processors.message_list import MessageList
from memory.processors.openai_messages import to_openai
from memory.processors.semantic_recall import SemanticRecall
from memory.processors.titles import title_thread
from memory.processors.tool_calls import ToolCall
from memory.processors.working_memory import WorkingMemory, is_working_memory_tool
from memory.recall import MemoryConfig
from memory.validation import Check


class Turn(Answering):
    """What the user says, what the model is sent, what it answers; stored at the end of the `with` block.

    Args:
        storage: the `Memory` whose agent this is.
        thread_id: the conversation, made by the first turn if it does not exist; None = a new one.
        resource_id: its owner; required for a new one.
        thread_config: options of this turn (contract section 1).
        processors: more processors; they see the list after those of this app have filled it, and the
            answer before it is stored. One with the id of ours takes its place.
        max_tokens: most tokens of a prompt; the oldest messages of the history give way. None = no limit.
        count: tokens of a text; default an estimate that is rather too high.

    The turn is stored, all or nothing, when the block ends: if an exception ends it, only if the model had
    begun to answer, and then the answer is marked `incomplete` in its metadata. A turn that gives the user's
    message the same id again goes on from there: the new answer takes the place of the incomplete one.

    Attributes:
        thread_id, resource_id: the conversation.
        list: all messages of the turn and those that were recalled for it.

    Each method that reads or writes has an async twin: `await turn.amessages()`.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        thread_id: str | None = None,
        resource_id: str | None = None,
        thread_config: Mapping[str, Any] | None = None,
        processors: Sequence[Processor] = (),
        max_tokens: int | None = None,
        count: Callable[[str], int] = count_tokens,
    ) -> None:
        check = Check()
        if max_tokens is not None:
            check.integer(max_tokens, "max_tokens", minimum=1)
        if thread_id is None and resource_id is None:
            check.fail("resource_id", "is required: a new conversation needs an owner")
        check.finish()
        self.context = RequestContext(
            thread_id=uuid7() if thread_id is None else thread_id,
            resource_id=resource_id,
            thread_config=thread_config,
        )
        self.thread_id, self.resource_id = self.context.thread_id, self.context.resource_id
        self.storage = storage
        self.extra = processors
        self.max_tokens = max_tokens
        self.count = count
        super().__init__(MessageList(thread_id=self.thread_id, resource_id=self.resource_id))
        self._asked: set[str] = set()
        self._is_read = False

    @cached_property
    def config(self) -> MemoryConfig:
        """The agent's configuration with the options of this turn over it.

        Raises:
            RecallError, ImproperlyConfigured: wrong options.
        """
        return MessageHistory(self.storage).config(self.context)

    @cached_property
    def processors(self) -> list[Processor]:
        """What fills the list, in order: working memory, history, search, then those of the caller."""
        history = MessageHistory(self.storage)
        history.last_messages = self.config.last_messages
        own: list[Processor] = [history]
        if self.config.working_memory.enabled:
            own.insert(0, WorkingMemory(self.storage))
        if (search := self.config.semantic_recall) is not None:
            own.append(
                SemanticRecall(
                    self.storage,
                    top_k=search.top_k,
                    message_range={"before": search.before, "after": search.after},
                    scope=search.scope,
                    threshold=search.threshold,
                    index_name=search.index_name,
                )
            )
        given, known = {processor.id: processor for processor in self.extra}, {p.id for p in own}
        added = [processor for processor in self.extra if processor.id not in known]
        return [*(given.get(processor.id, processor) for processor in own), *added]

    def __enter__(self) -> Self:
        """Read the configuration.

        Raises:
            RecallError, ImproperlyConfigured: wrong options.
        """
        self.processors  # noqa: B018 - made here, so that wrong options are told at once
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Store the turn."""
        self._take_up()
        if kind is None or self._has_answer():
            self._store(failed=kind is not None)

    async def __aenter__(self) -> Self:
        return await sync_to_async(self.__enter__)()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await sync_to_async(self.__exit__)(kind, error, traceback)

    def system(self, text: str) -> None:
        """Instructions of the application, first in the prompt; they are not stored."""
        self.list.add_system(text)

    def user(self, content: Any, *, id: str | None = None) -> None:
        """What the user says.

        Args:
            content: a text, content parts of the OpenAI API, or a whole message in any form that
                :class:`MessageList` takes.
            id: of the message; one that is stored already is not stored again.

        Raises:
            RecallError: it is none of these.
        """
        message: Any = as_mapping(content)
        is_whole = isinstance(message, Mapping) and "role" in message
        if not is_whole and isinstance(message, str | list | tuple | Mapping):
            message = {"role": "user", "content": message}
        if id is not None:
            if not isinstance(message, Mapping):
                raise RecallError.at("id", "must be that of the message itself, where a row is given")
            message = {**message, "id": id}
        self.list.add(message, "input")
        self._asked |= {asked.id for asked in self.list.input}
        if isinstance(message, Mapping) and "id" in message:
            self._asked.add(message["id"])
        self._is_read = False

    def messages(self) -> list[dict[str, Any]]:
        """The prompt, in the form of the OpenAI API: instructions, working memory, what was remembered from
        other conversations, the history and this turn.

        The first call after :meth:`user` reads: at most 2 queries for each of working memory and history,
        and 5 for a search.

        Raises:
            ThreadNotOwned, RecallError: of the thread or its resource.
        """
        if not self._is_read:
            for processor in self.processors:
                processor.process_input([], message_list=self.list, request_context=self.context)
            self._go_on()
            self._is_read = True
        if self.max_tokens is None:
            return to_openai(self.list)
        turn = [message for message in self.list.all if message.source != "memory"]
        fixed = to_openai([*self.list.system, *turn], thread_id=self.thread_id)
        kept = fit(fixed, self.list.memory, max_tokens=self.max_tokens, count=self.count)
        wanted = {message.id for message in (*kept, *turn)}
        prompt = [*self.list.system, *(message for message in self.list.all if message.id in wanted)]
        return to_openai(prompt, thread_id=self.thread_id)

    def tools(self, *own: Mapping[str, Any]) -> Any:
        """The tools for the model: `own`, and that of the working memory where it is on.

        Returns:
            A list; where there are none, what the `openai` package takes for "not given", since its service
            refuses an empty list.
        """
        tools = [dict(tool) for tool in own]
        tools += [tool for own_memory in self._working_memories for tool in own_memory.tools(self.context)]
        if tools:
            return tools
        try:
            from openai import NOT_GIVEN
        except ImportError:
            return tools
        return NOT_GIVEN

    amessages = async_twin(messages)

    def _call_own_tool(self, call: ToolCall) -> Any:
        if not self._working_memories or not is_working_memory_tool(call.name):
            return None
        return self._working_memories[0].call(call.arguments, self.context)

    @property
    def _working_memories(self) -> list[WorkingMemory]:
        return [processor for processor in self.processors if isinstance(processor, WorkingMemory)]

    def _go_on(self) -> None:
        """Let this turn's answer take the place of one that broke off after the same message."""
        repeated = False
        for message in self.list.memory:
            if message.is_user_turn:
                repeated = message.id in self._asked
            elif repeated and message.metadata.get(INCOMPLETE):
                self._answer_id = message.id
                self.list.remove([message.id])

    def _store(self, *, failed: bool) -> None:
        if self.config.read_only:
            return
        answers = self.list.response
        if self._answer_id is not None and answers and answers[-1].id != self._answer_id:
            self.list.remove([self._answer_id]).rename(answers[-1].id, self._answer_id)
        if failed or not self._is_complete:
            for message in self.list.response:
                message.content["metadata"] = {**message.metadata, INCOMPLETE: True}
        for processor in reversed(self.processors):
            # What is stored is embedded after the commit, and never before: no network call may come between
            # an answer and its row.
            if type(processor) is not SemanticRecall:
                processor.process_output_result([], message_list=self.list, request_context=self.context)
        if self.config.generate_title is not None:
            own = [message for message in self.list.all if self.list.is_own(message)]
            title_thread(self.thread_id, own, self.config.generate_title, using=self.storage.using)
