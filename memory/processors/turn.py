"""One turn of a conversation: `with Memory("support").turn(...) as turn`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from asgiref.sync import sync_to_async

from memory.asynchronous import async_twin
from memory.exceptions import RecallError
from memory.ids import uuid7
from memory.processors.base import Processor, RequestContext, Storage
from memory.processors.budget import count_tokens, fit
from memory.processors.chat_message import ChatMessage
from memory.processors.message_history import MessageHistory
from memory.processors.message_list import MessageList
from memory.processors.openai_messages import to_openai
from memory.processors.semantic_recall import SemanticRecall
from memory.processors.stream import Accumulator
from memory.processors.titles import title_thread
from memory.processors.tool_calls import ToolCall, invocation_of, pending_calls
from memory.processors.working_memory import WorkingMemory, is_working_memory_tool
from memory.validation import Check

# Key in the metadata of an answer that broke off.
INCOMPLETE = "incomplete"


class Turn:
    """What the user says, what the model is sent, what it answers; stored at the end of the `with` block.

    Args:
        storage: the `Memory` whose agent this is.
        thread_id: the conversation, made by the first turn if it does not exist; None = a new one.
        resource_id: its owner.
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
        self.list = MessageList(thread_id=self.thread_id, resource_id=self.resource_id)
        self._asked: set[str] = set()
        self._working_memory: WorkingMemory | None = None
        self._is_read = False
        self._is_complete = True
        self._answer_id: str | None = None

    def __enter__(self) -> Self:
        """Read the configuration.

        Raises:
            RecallError, ImproperlyConfigured: wrong options.
        """
        history = MessageHistory(self.storage)
        self.config = config = history.config(self.context)
        history.last_messages = config.last_messages
        own: list[Processor] = [history]
        if config.working_memory.enabled:
            self._working_memory = WorkingMemory(self.storage)
            own.insert(0, self._working_memory)
        if (search := config.semantic_recall) is not None:
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
        replaced = {processor.id for processor in self.extra}
        self.processors = [*(p for p in own if p.id not in replaced), *self.extra]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Store the turn."""
        if kind is None or self.list.response:
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
        message: Any = content
        if not isinstance(content, Mapping) or "role" not in content:
            message = {"role": "user", "content": content}
        self.list.add(message if id is None else {**message, "id": id}, "input")
        if id is not None:
            self._asked.add(id)
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
        fixed = to_openai([*self.list.system, *turn])
        kept = fit(fixed, self.list.memory, max_tokens=self.max_tokens, count=self.count)
        wanted = {message.id for message in (*kept, *turn)}
        return to_openai([*self.list.system, *(m for m in self.list.all if m.id in wanted)])

    def tools(self, *own: Mapping[str, Any]) -> Any:
        """The tools for the model: `own`, and that of the working memory where it is on.

        Returns:
            A list; where there are none, what the `openai` package takes for "not given", since its service
            refuses an empty list.
        """
        tools = [dict(tool) for tool in own]
        if self._working_memory is not None:
            tools += self._working_memory.tools(self.context)
        if tools:
            return tools
        try:
            from openai import NOT_GIVEN
        except ImportError:
            return tools
        return NOT_GIVEN

    def response(self, reply: Any, *, id: str | None = None) -> list[ToolCall]:
        """What the model answers.

        Args:
            reply: a completion, its message, a text, or a stream of chunks, which is read to its end here.
            id: of the message that is stored; all answers of a turn are one message.

        Returns:
            The calls of your own tools that wait for :meth:`tool_result`; those of the working memory are
            carried out.

        Raises:
            RecallError: it is none of these.
        """
        if isinstance(reply, Iterator):
            for _ in self.stream(reply, id=id):
                pass
            return self.tool_calls()
        message: Any = {"role": "assistant", "content": reply} if isinstance(reply, str) else reply
        self._answer(message, id)
        return self.tool_calls()

    def stream(self, chunks: Iterator[Any], *, id: str | None = None) -> Iterator[Any]:
        """Pass the chunks of a streamed completion on, and take up what has come when they end, fail or are
        no longer read."""
        answer = Accumulator()
        try:
            for chunk in chunks:
                answer.add(chunk)
                yield chunk
        finally:
            self._take_up(answer, id)

    async def astream(self, chunks: AsyncIterator[Any], *, id: str | None = None) -> AsyncIterator[Any]:
        """Async twin of :meth:`stream`."""
        answer = Accumulator()
        try:
            async for chunk in chunks:
                answer.add(chunk)
                yield chunk
        finally:
            await sync_to_async(self._take_up)(answer, id)

    def needs_model(self) -> bool:
        """Whether the model has to be called: nothing is answered yet, or it has not seen the results of
        its tools."""
        if self.tool_calls():
            return False
        last = self.list.all[-1:]
        if not last or last[0].source != "response":
            return bool(last)
        parts = [part for part in last[0].parts if part["type"] != "step-start"]
        return bool(parts) and invocation_of(parts[-1]) is not None

    def tool_calls(self) -> list[ToolCall]:
        """Calls of the model that have no result yet."""
        return [call for message in self.list.response for call in pending_calls(message.parts)]

    def tool_result(self, call_id: str, result: Any) -> None:
        """What a tool answered: a text, or a value that is sent as JSON.

        Raises:
            RecallError: no call of this id waits for a result.
        """
        if call_id not in {call.id for call in self.tool_calls()}:
            raise RecallError.at("call_id", "must be that of a call that waits for its result")
        invocation = {"state": "result", "toolCallId": call_id, "result": result}
        parts = [{"type": "tool-invocation", "toolInvocation": invocation}]
        self.list.add(ChatMessage(role="tool", content={"format": 2, "parts": parts}), "response")

    amessages = async_twin(messages)
    aresponse = async_twin(response)

    def _take_up(self, answer: Accumulator, id: str | None) -> None:
        if answer.message is not None:
            self._answer(answer.message, id)
        self._is_complete = answer.is_complete

    def _answer(self, message: Any, id: str | None) -> None:
        self._is_complete = True
        self.list.add(message, "response")
        self._answer_id = id or self._answer_id
        answer = self.list.response[-1]
        if self._answer_id not in (None, answer.id):
            self.list.rename(answer.id, self._answer_id)
        for call in self.tool_calls():
            if self._working_memory is not None and is_working_memory_tool(call.name):
                self.tool_result(call.id, self._working_memory.call(call.arguments, self.context))

    def _go_on(self) -> None:
        """Let this turn's answer take the place of one that broke off after the same message."""
        repeated = False
        for message in self.list.memory:
            repeated = repeated or message.id in self._asked
            if repeated and message.metadata.get(INCOMPLETE):
                self._answer_id = message.id
                self.list.remove([message.id])

    def _store(self, *, failed: bool) -> None:
        if self.config.read_only:
            return
        if failed or not self._is_complete:
            for message in self.list.response:
                message.content["metadata"] = {**message.metadata, INCOMPLETE: True}
        for processor in reversed(self.processors):
            processor.process_output_result([], message_list=self.list, request_context=self.context)
        if self.config.generate_title is not None:
            own: list[ChatMessage] = [m for m in self.list.all if m.thread_id in (None, self.thread_id)]
            title_thread(self.thread_id, own, self.config.generate_title, using=self.storage.using)
