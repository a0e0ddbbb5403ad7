"""What a model answers in a turn: whole or streamed, in one step or with calls of tools between them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from asgiref.sync import sync_to_async

from memory.content.cleanup import clean_body, is_empty
from memory.exceptions import RecallError
from memory.processors.chat_message import ChatMessage
from memory.processors.message_list import MessageList
from memory.processors.stream import Accumulator
from memory.processors.tool_calls import ToolCall, drop_incomplete, invocation_of, pending_calls
from memory.validation import Check


class Answering:
    """Takes the answers of a turn into its list, as one message.

    Args:
        messages: the list of the turn.
    """

    def __init__(self, messages: MessageList) -> None:
        self.list = messages
        self._is_complete = True
        self._answer_id: str | None = None
        # An answer that is being streamed, with the id it was given.
        self._streamed: tuple[Accumulator, str | None] | None = None

    def _call_own_tool(self, call: ToolCall) -> Any:
        """The result of a tool of this app; None if it is none."""
        return None

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
        """Pass the chunks of a streamed completion on; when they end, fail or are no longer read, take up
        what has come and close the stream."""
        answer = self._begin(id)
        try:
            for chunk in chunks:
                answer.add(chunk)
                yield chunk
        finally:
            self._take_up(answer)
            if callable(close := getattr(chunks, "close", None)):
                close()

    async def astream(self, chunks: AsyncIterator[Any], *, id: str | None = None) -> AsyncIterator[Any]:
        """Async twin of :meth:`stream`."""
        answer = self._begin(id)
        try:
            async for chunk in chunks:
                answer.add(chunk)
                yield chunk
        finally:
            await sync_to_async(self._take_up)(answer)
            if callable(close := getattr(chunks, "aclose", None) or getattr(chunks, "close", None)):
                await close()

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

    def tool_result(self, call_id: str, result: Any = None, *, error: str | None = None) -> None:
        """What a tool answered: a text, or a value that is sent as JSON; or why it failed.

        Raises:
            RecallError: no call of this id waits for a result.
        """
        if call_id not in {call.id for call in self.tool_calls()}:
            raise RecallError.at("call_id", "must be that of a call that waits for its result")
        invocation = {"state": "result", "toolCallId": call_id, "result": result}
        if error is not None:
            invocation = {"state": "output-error", "toolCallId": call_id, "errorText": error}
        parts = [{"type": "tool-invocation", "toolInvocation": invocation}]
        self.list.add(ChatMessage(role="tool", content={"format": 2, "parts": parts}), "response")

    async def aresponse(self, reply: Any, *, id: str | None = None) -> list[ToolCall]:
        """Async twin of :meth:`response`."""
        if isinstance(reply, AsyncIterator):
            async for _ in self.astream(reply, id=id):
                pass
            return self.tool_calls()
        return await sync_to_async(self.response)(reply, id=id)

    def _begin(self, id: str | None) -> Accumulator:
        _check_id(id)
        self._take_up()
        self._streamed = (Accumulator(), id)
        return self._streamed[0]

    def _take_up(self, answer: Accumulator | None = None) -> None:
        """Take what has come of a streamed answer, once: whoever reads the stream may be stopped between
        two chunks, and then the turn ends before the stream does."""
        if self._streamed is None or answer not in (None, self._streamed[0]):
            return
        (answer, id), self._streamed = self._streamed, None
        if answer.message is not None:
            self._answer(answer.message, id)
        self._is_complete = answer.is_complete

    def _answer(self, message: Any, id: str | None) -> None:
        _check_id(id)
        self._is_complete = True
        self._answer_id = id or self._answer_id
        self.list.add(message, "response")
        for call in self.tool_calls():
            if (result := self._call_own_tool(call)) is not None:
                self.tool_result(call.id, result)

    def _has_answer(self) -> bool:
        """Something is left of the answer without calls that broke off."""
        return any(not is_empty(clean_body(drop_incomplete(m.content))) for m in self.list.response)


def _check_id(id: str | None) -> None:
    check = Check()
    if id is not None:
        check.identifier(id, "id")
    check.finish()
