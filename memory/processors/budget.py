"""Prompts that have to fit: which messages of the history stay."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from memory.processors.openai_messages import to_openai

if TYPE_CHECKING:
    from memory.processors.chat_message import ChatMessage

# What a message costs beside its text, as OpenAI counts its own models.
PER_MESSAGE = 4
# What a picture, a sound or a file costs: about what OpenAI counts for a large picture.
PER_MEDIUM = 1_000
# Of the budget, what may stay unused so that the history begins where it did the last time.
SLACK = 1 / 3


def count_tokens(text: str) -> int:
    """Tokens of a text without a tokenizer: one for each character beyond ASCII, a quarter for each in it,
    which no usual tokenizer exceeds (contract section 4)."""
    wide = sum(character > "\x7f" for character in text) if not text.isascii() else 0
    return wide + -(-(len(text) - wide) // 4)


def fit(
    fixed: Sequence[dict[str, Any]],
    history: Sequence[ChatMessage],
    *,
    max_tokens: int,
    count: Callable[[str], int] = count_tokens,
) -> list[ChatMessage]:
    """The newest messages of the history that fit beside what has to stay.

    Args:
        fixed: the other messages of the prompt, in the form of the OpenAI API: those of the system, and the
            turn itself.
        history: oldest first; a tool call and its result are one message here, so none is parted.
        max_tokens: most tokens of the whole prompt.
        count: tokens of a text.

    Returns:
        The end of `history`, from a place that stays the same for some turns while the conversation grows:
        of the messages of the user with which it may begin, that with the lowest hash of its id. So most
        prompts are the beginning of the next one, and caches of prompts keep working.
    """
    costs = [_cost(to_openai([message]), count) for message in history]
    left = max_tokens - _cost(fixed, count)
    if sum(costs) <= left:
        return list(history)
    start, spare = len(history), left
    while start and costs[start - 1] <= spare:
        start -= 1
        spare -= costs[start]
    asked = [place for place in range(start, len(history)) if history[place].is_user_turn]
    unused = [sum(costs[start:place]) for place in asked]
    anchors = [place for place, lost in zip(asked, unused, strict=True) if lost <= SLACK * left] or asked[:1]
    # Rules of the kind "the lowest of a sliding window" move seldom and need no memory of the last time.
    return list(history[min(anchors, key=lambda place: _hash(history[place]), default=len(history)) :])


def _hash(message: ChatMessage) -> bytes:
    return hashlib.sha256(message.id.encode()).digest()


def _cost(messages: Sequence[dict[str, Any]], count: Callable[[str], int]) -> int:
    return sum(PER_MESSAGE + PER_MEDIUM * _media(message) + count(_text(message)) for message in messages)


def _text(message: dict[str, Any]) -> str:
    """What is sent of a message, its keys and media apart."""
    content = message.get("content")
    rest = [value for key, value in message.items() if key not in ("role", "content") and value]
    if isinstance(content, list):
        content = " ".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return (content or "") + (json.dumps(rest, ensure_ascii=False) if rest else "")


def _media(message: dict[str, Any]) -> int:
    """Pictures, sound and files of a message, which are no text, whatever their length."""
    content = message.get("content")
    return sum(part.get("type") != "text" for part in content) if isinstance(content, list) else 0
