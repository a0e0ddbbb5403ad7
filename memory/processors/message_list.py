"""The messages of one run: what was remembered, asked and answered, each once and in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self, get_args

from memory.content.reminders import is_system_reminder
from memory.exceptions import RecallError
from memory.processors.chat_message import ChatMessage, Source
from memory.processors.forms import Incoming, read
from memory.processors.merging import add_step, append, take_outcomes
from memory.processors.openai_calls import is_function_call
from memory.processors.tool_calls import call_id, has_call, invocation_of, is_finished, is_pending, merge_call
from memory.validation import Check

if TYPE_CHECKING:
    from memory.schema import Message

EARLIEST = datetime.min.replace(tzinfo=UTC)


class MessageList:
    """Messages of one thread, with what was recalled from others.

    Args:
        thread_id: the thread of the run; messages without one belong to it.
        resource_id: its owner.

    The order is by date, equal dates in the order in which they were stored or added; messages without a
    date, which they get when they are stored, stand behind all that have one, in the order of adding.
    System messages are kept apart. Nothing here reads or writes a database.

    Attributes:
        recalled: the stored messages that a search brought in, with the reason on each; those of other
            threads stand in a system message, not among the messages.
    """

    def __init__(self, thread_id: str | None = None, resource_id: str | None = None) -> None:
        self.thread_id = thread_id
        self.resource_id = resource_id
        self._messages: dict[str, ChatMessage] = {}
        self._system: list[ChatMessage] = []
        self._tagged: dict[str, ChatMessage] = {}
        self._changed: set[str] = set()
        self._named: set[str] = set()
        self.recalled: Sequence[Message] = ()

    def __iter__(self) -> Iterator[ChatMessage]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self._messages)

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._messages

    def __getitem__(self, message_id: str) -> ChatMessage:
        return self._messages[message_id]

    def add(self, messages: Any, source: Source = "input") -> Self:
        """Take messages in.

        Args:
            messages: one or a list of: a string (said by the user; with source `response` by the
                assistant), a format-2 message as a dict, a stored row, a :class:`ChatMessage`, an OpenAI
                chat message or chat completion (its first choice) as a dict or an object, an AI SDK UI
                message.
            source: `memory` = read or recalled, `input` = asked, `response` = answered, `context` = said
                to the model only.

        An id that is known already is merged. The stored copy is the base, of which a client's copy only
        moves waiting tool calls on, and a response goes on with its parts; an input replaces an input. A
        response that follows one of the same thread without an id of its own becomes its next step, so
        that a turn is one message. A tool result goes to the call it answers, whoever made that.

        Raises:
            RecallError: a message in no known form, or an input or response of another thread or owner;
                nothing was taken in then.
        """
        several = isinstance(messages, list | tuple)
        check = Check()
        check.choice(source, "source", get_args(Source))
        found: list[Incoming] = []
        for index, value in enumerate(messages if several else [messages]):
            path = f"messages[{index}]" if several else "message"
            incoming = read(check, value, path, source)
            if incoming is not None:
                self._check_place(check, incoming.message, path)
                found.append(incoming)
        check.finish()
        for incoming in found:
            self._take(incoming)
        return self

    def add_system(self, text: str, tag: str | None = None) -> Self:
        """Add a system message; the same text once. The text of a tag is replaced where it stands.

        Raises:
            RecallError: `text` is no string.
        """
        if not isinstance(text, str):
            raise RecallError.at("text", "must be a string")
        content = {"format": 2, "parts": [{"type": "text", "text": text}]}
        message = ChatMessage(role="system", content=content, source="context")
        if tag is None:
            self._take_system(message)
        else:
            self._tagged[tag] = message
        return self

    def remove(self, ids: Iterable[str]) -> Self:
        """Take messages out; unknown ids are ignored."""
        for message_id in ids:
            self._messages.pop(message_id, None)
            self._changed.discard(message_id)
        return self

    def rename(self, message_id: str, new_id: str) -> Self:
        """Give a message another id, in its place."""
        renamed = {(new_id if key == message_id else key): value for key, value in self._messages.items()}
        renamed[new_id].id = new_id
        self._messages = renamed
        return self

    @property
    def all(self) -> list[ChatMessage]:
        """All messages in order, without the system messages."""
        return sorted(self._messages.values(), key=_order)

    @property
    def memory(self) -> list[ChatMessage]:
        return self._of("memory")

    @property
    def input(self) -> list[ChatMessage]:
        return self._of("input")

    @property
    def response(self) -> list[ChatMessage]:
        return self._of("response")

    @property
    def context(self) -> list[ChatMessage]:
        return self._of("context")

    @property
    def sent_ids(self) -> list[str]:
        """Ids that input and response brought along: those of messages that may be stored already."""
        return [message.id for message in self.new if message.id in self._named]

    @property
    def new(self) -> list[ChatMessage]:
        """What this run adds to the thread: input and response, in order."""
        return [message for message in self.all if message.source in ("input", "response")]

    @property
    def changed(self) -> list[ChatMessage]:
        """Messages of the source `memory` that an input or response has changed, to be stored again."""
        return [message for message in self.all if message.id in self._changed]

    @property
    def system(self) -> list[ChatMessage]:
        """The system messages: those without a tag, then the tagged ones, each in the order of adding."""
        return [*self._system, *self._tagged.values()]

    def last_user_text(self) -> str | None:
        """What the user said last, the query of a semantic recall (case 44); None = nothing.

        A message without text, such as an image, gives way to the one before it, and a reminder that
        was put into the user's mouth is not asked for either.
        """
        said = (message for message in reversed(self.all) if self.is_own(message) and message.is_user_turn)
        return next((message.text for message in said if message.text and not _is_reminder(message)), None)

    def is_own(self, message: ChatMessage) -> bool:
        """The message is of the list's own thread."""
        return self.thread_id is None or message.thread_id in (None, self.thread_id)

    def _of(self, source: Source) -> list[ChatMessage]:
        return [message for message in self.all if message.source == source]

    def _check_place(self, check: Check, message: ChatMessage, path: str) -> None:
        """An input or response belongs to the list's own thread and owner."""
        for name in ("thread_id", "resource_id"):
            own, given = getattr(self, name), getattr(message, name)
            if given is None:
                setattr(message, name, own)
            elif own is not None and given != own and message.source in ("input", "response"):
                check.fail(f"{path}.{name}", f"must be {own!r}, as for the whole list, not {given!r}")

    def _take(self, incoming: Incoming) -> None:
        message = incoming.message
        if message.role == "system":
            if message.source != "memory":
                self._take_system(message)
            return
        if incoming.named:
            self._named.add(message.id)
        known = self._messages.get(message.id)
        last = self._last() if message.source == "response" and not incoming.named else None
        if known is not None:
            self._merge(known, message)
        elif last is not None and message.role == "assistant" and _is_answer(last, message):
            last.content = add_step(last.content, message.content)
        else:
            self._messages[message.id] = message
        if message.role == "tool" or any(map(is_pending, message.parts)):
            self._settle()

    def _take_system(self, message: ChatMessage) -> None:
        if message.text not in (other.text for other in self._system):
            self._system.append(message)

    def _last(self) -> ChatMessage | None:
        return max(reversed(self._messages.values()), key=_order, default=None)

    def _merge(self, known: ChatMessage, copy: ChatMessage) -> None:
        """Two copies of one message: see :meth:`add`."""
        if copy.source == "context":
            return
        if known.source == "context" or (known.source, copy.source) == ("input", "input"):
            copy.content = take_outcomes(copy.content, known.content)
            self._messages[known.id] = copy
        elif copy.source == "memory" and known.source != "memory":
            self._messages[known.id] = copy
            self._continue(copy, known)
        else:
            self._continue(known, copy)

    def _continue(self, base: ChatMessage, copy: ChatMessage) -> None:
        before = base.content
        if copy.source == "response":
            base.content = append(before, copy.content)
            base.source = "response" if base.source == "input" else base.source
        else:
            base.content = take_outcomes(before, copy.content)
        if base.source == "memory" and copy.source != "memory" and base.content != before:
            self._changed.add(base.id)

    def _settle(self) -> None:
        """Join results that came without their calls to the calls that wait for them."""
        for message in [m for m in self._messages.values() if m.role == "tool"]:
            left = [part for part in message.parts if not self._answer(message, part)]
            if not left and message.parts:
                del self._messages[message.id]
            message.content = {**message.content, "parts": left}

    def _answer(self, message: ChatMessage, result: dict[str, Any]) -> bool:
        """Join one result to the latest call that it can be the answer to; one that comes again is gone."""
        is_known = False
        for other in reversed(self._messages.values()):
            if other is message or other.thread_id != message.thread_id:
                continue
            is_known = is_known or any(is_finished(part) and _answers(result, part) for part in other.parts)
            for place, part in enumerate(other.parts):
                if is_pending(part) and _answers(result, part) and not _is_later(other, message):
                    parts = [*other.parts]
                    parts[place] = merge_call(part, result)
                    other.content = {**other.content, "parts": parts}
                    if other.source == "memory" != message.source:
                        self._changed.add(other.id)
                    return True
        return is_known


def _order(message: ChatMessage) -> tuple[bool, datetime, bool, int]:
    date = message.created_at
    return (date is None, date or EARLIEST, message.row is None, message.row or 0)


def _is_reminder(message: ChatMessage) -> bool:
    return is_system_reminder(message.role, message.content, message.metadata)


def _is_later(one: ChatMessage, other: ChatMessage) -> bool:
    """Both have a date, and that of `one` is the later."""
    return None not in (one.created_at, other.created_at) and _order(one)[:2] > _order(other)[:2]


def _is_answer(last: ChatMessage, message: ChatMessage) -> bool:
    """`last` is what the assistant has said so far in the turn that `message` goes on with."""
    return (last.role, last.source) == ("assistant", "response") and last.thread_id == message.thread_id


def _answers(result: dict[str, Any], part: dict[str, Any]) -> bool:
    call, outcome = invocation_of(part), invocation_of(result)
    if call is None or outcome is None or not has_call(part):
        return False
    if is_function_call(result):
        return is_function_call(part) and call.get("toolName") == outcome.get("toolName")
    return call_id(result) is not None and call_id(result) == call_id(part)
