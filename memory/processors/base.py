"""What a processor is: a step before and after each call of a model (seeds 002, 004)."""

from __future__ import annotations

import logging
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from memory.asynchronous import async_twin
from memory.processors.message_list import MessageList
from memory.recall import MemoryConfig
from memory.validation import Check

if TYPE_CHECKING:
    from memory.recall.config import Layer

logger = logging.getLogger("memory.processors")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """Which conversation a run is about.

    Attributes:
        thread_id: the thread; it may not exist yet.
        resource_id: its owner, by which it is made where it does not exist.
        thread_config: options of this run (contract section 1), such as `read_only`.

    Raises:
        RecallError: an id that is none.
    """

    thread_id: str
    resource_id: str | None = None
    thread_config: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check = Check()
        check.identifier(self.thread_id, "thread_id")
        if self.resource_id is not None:
            check.identifier(self.resource_id, "resource_id")
        check.finish()


class Storage(Protocol):
    """What a processor needs of a `Memory`."""

    using: str | None

    def layers(self) -> list[Layer]: ...


class Processor(ABC):
    """A processor: a subclass gives `id`, `name` and :meth:`on_input`, :meth:`on_output` or both, which
    change the list and return it.

    Args:
        storage: a `Memory`, or a database alias; None = the defaults of the site.
        logger: where failures that do not stop a run are told; default `memory.processors`.

    One instance serves any number of runs at the same time: what belongs to a run stands in its list and
    its context.
    """

    id: ClassVar[str]
    name: ClassVar[str]

    def __init__(self, storage: Storage | str | None = None, *, logger: logging.Logger = logger) -> None:
        self.storage = storage
        self.logger = logger

    @property
    def using(self) -> str | None:
        """The database alias; None = what the site's routers say."""
        return self.storage if self.storage is None or isinstance(self.storage, str) else self.storage.using

    def config(self, context: RequestContext, **options: Any) -> MemoryConfig:
        """The agent's configuration, with options of the processor and then those of the run over it.

        Raises:
            RecallError, ImproperlyConfigured: wrong options.
        """
        layers = [] if self.storage is None or isinstance(self.storage, str) else self.storage.layers()
        return MemoryConfig.of(*layers, ("options", options), ("thread_config", context.thread_config))

    def process_input(
        self,
        messages: Sequence[Any],
        *,
        message_list: MessageList | None = None,
        abort: Callable[..., Any] | None = None,
        request_context: RequestContext | None = None,
    ) -> MessageList:
        """Before the model is called; see :meth:`on_input` of the processor.

        Args:
            messages: the new messages, in any form that a list takes; not read where a list is given.
            message_list: the list of the run.
            abort: would stop the run; none of this app's processors calls it.
            request_context: the conversation; default that of the list. Without one nothing happens.
        """
        result = message_list if message_list is not None else as_list(messages, request_context)
        context = context_of(result, request_context)
        return result if context is None else self.on_input(result, context)

    def process_output_result(
        self,
        messages: Sequence[Any],
        *,
        message_list: MessageList | None = None,
        abort: Callable[..., Any] | None = None,
        request_context: RequestContext | None = None,
    ) -> MessageList:
        """After the model has answered; see :meth:`on_output` of the processor. Arguments as for
        :meth:`process_input`; of `messages` those of the role `user` count as input, all others as the
        model's response."""
        result = message_list if message_list is not None else as_answered_list(messages, request_context)
        context = context_of(result, request_context)
        return result if context is None else self.on_output(result, context)

    def on_input(self, messages: MessageList, context: RequestContext) -> MessageList:
        """What this processor does to the list of a run before the model is called."""
        return messages

    def on_output(self, messages: MessageList, context: RequestContext) -> MessageList:
        """What it does after the model has answered."""
        return messages

    aprocess_input = async_twin(process_input)
    aprocess_output_result = async_twin(process_output_result)


def as_list(messages: Sequence[Any], context: RequestContext | None) -> MessageList:
    """A list of input."""
    return _new_list(context).add(list(messages), "input")


def as_answered_list(messages: Sequence[Any], context: RequestContext | None) -> MessageList:
    """A list of what was asked and what was answered."""
    given = _new_list(context).add(list(messages), "input").all
    answered = _new_list(context)
    for message in given:
        answered.add(message, "input" if message.role in ("user", "signal") else "response")
    return answered


def context_of(message_list: MessageList, given: RequestContext | None) -> RequestContext | None:
    """The conversation: as given, else that of the list; None = there is none."""
    if given is not None:
        return given
    if message_list.thread_id is None:
        return None
    return RequestContext(thread_id=message_list.thread_id, resource_id=message_list.resource_id)


def _new_list(context: RequestContext | None) -> MessageList:
    if context is None:
        return MessageList()
    return MessageList(thread_id=context.thread_id, resource_id=context.resource_id)
