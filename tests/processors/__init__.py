"""Processors, turns, titles and the console chat: contract section 5, the seeds 002 and 004, issue 4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from memory import Memory
from memory.models import Message, Thread
from memory.processors import MessageList, Processor, RequestContext, Turn

CONTEXT = RequestContext(thread_id="t", resource_id="r")

# A processor's method as sync and as async code calls it.
Run = Callable[..., MessageList]


def sync_run(processor: Processor, step: str, *args: Any, **kwargs: Any) -> MessageList:
    result: MessageList = getattr(processor, step)(*args, **kwargs)
    return result


def async_run(processor: Processor, step: str, *args: Any, **kwargs: Any) -> MessageList:
    result: MessageList = async_to_sync(getattr(processor, f"a{step}"))(*args, **kwargs)
    return result


both_ways = pytest.mark.parametrize("run", [sync_run, async_run], ids=["sync", "async"])


def ids(messages: Iterable[Any]) -> list[str]:
    return [message.id for message in messages]


def texts(messages: Iterable[Any]) -> list[str]:
    return [message.text for message in messages]


def stored(thread: str = "t") -> list[tuple[str, str]]:
    """(role, text) of what the database holds of a thread, in order."""
    rows = Message.objects.filter(thread__uid=thread).chronological()
    return [(row.role, row.text) for row in rows]


def title(thread: str = "t") -> str:
    return Thread.objects.get(uid=thread).title


def asked(text: str, uid: str | None = None) -> dict[str, Any]:
    return {"role": "user", "content": text} | ({} if uid is None else {"id": uid})


def answered(text: str | None, *calls: tuple[str, str, Any], uid: str | None = None) -> dict[str, Any]:
    """An assistant message of the OpenAI API; calls are (id, name, arguments)."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if uid is not None:
        message["id"] = uid
    if calls:
        message["tool_calls"] = [
            {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call, name, arguments in calls
        ]
    return message


def invocation(uid: str, state: str, **more: Any) -> dict[str, Any]:
    """A `tool-invocation` part."""
    call = {"state": state, "toolCallId": uid, "toolName": "weather", "args": {"city": "Seoul"}, **more}
    return {"type": "tool-invocation", "toolInvocation": call}


def content(*parts: Any, **more: Any) -> dict[str, Any]:
    """Format 2; strings are text parts."""
    return {
        "format": 2,
        "parts": [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts],
        **more,
    }


def unpaired(prompt: Iterable[dict[str, Any]]) -> list[str]:
    """Ids of calls without a result directly behind them, and of results without their call before."""
    waiting: set[str] = set()
    wrong: list[str] = []
    for message in prompt:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                wrong.append(message["tool_call_id"])
            waiting.discard(message["tool_call_id"])
            continue
        wrong += sorted(waiting)
        waiting = {call["id"] for call in message.get("tool_calls", ())}
    return wrong + sorted(waiting)


class ModelDown(Exception):
    """What a client raises."""


@contextmanager
def failing_turn(**options: Any) -> Iterator[Turn]:
    """A turn whose model fails at the end of the block, or where the block raises `ModelDown`."""
    with suppress(ModelDown), Memory(**options).turn(thread_id="t", resource_id="r") as turn:
        yield turn
        raise ModelDown


def talk(
    memory: Memory | None = None,
    *,
    said: Any = "x",
    answer: Any = "y",
    answer_id: str | None = None,
    read: bool = True,
    **options: Any,
) -> list[dict[str, Any]]:
    """A whole turn, in t of r unless told otherwise; its prompt, empty if it is not to be read."""
    with (memory or Memory()).turn(**{"thread_id": "t", "resource_id": "r", **options}) as turn:
        turn.user(said)
        prompt = turn.messages() if read else []
        turn.response(answer, id=answer_id)
    return prompt
