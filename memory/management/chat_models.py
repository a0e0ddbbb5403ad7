"""The models that `manage.py chat` talks to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError

from memory.exceptions import ConversationMemoryError
from memory.processors.chat_client import make_client

if TYPE_CHECKING:
    from memory.processors import Turn


_NO_COMPLETION = "The server answered no chat completion. Is its address right?"


class ModelFailed(Exception):
    """The service gave no answer that can be used; the text is one line."""


class Model(ABC):
    """Something that answers a prompt.

    Attributes:
        label: what the user is told of it.
    """

    label: str

    @abstractmethod
    def answer(self, turn: Turn, prompt: list[dict[str, Any]]) -> Iterator[str]:
        """Let the turn take up an answer, and yield its text as it comes.

        Raises:
            ModelFailed: there is none, or not all of one.
        """


class EchoModel(Model):
    """No model: says what it was shown."""

    label = (
        "No model is configured (OPENAI_API_KEY or --base-url): an offline echo answers. It understands "
        "nothing, but what it is shown is what a model would be shown."
    )

    def answer(self, turn: Turn, prompt: list[dict[str, Any]]) -> Iterator[str]:
        said = prompt[-1]["content"]
        text = f"[offline echo] You said: {said} (I was shown {len(prompt)} messages.)"
        turn.response(text)
        yield text


class OpenAIModel(Model):
    """A server that speaks the OpenAI chat API.

    Args:
        model: its name there.
        base_url: the server; None = OpenAI.
        stream: show answers as they come.

    Raises:
        ImproperlyConfigured: the package `openai` is not installed.
    """

    def __init__(self, model: str, base_url: str | None, *, stream: bool) -> None:
        self.model = model
        self.stream = stream
        self.client = make_client(base_url)
        self.label = f"Talking to {model} at {self.client.base_url}"

    def answer(self, turn: Turn, prompt: list[dict[str, Any]]) -> Iterator[str]:
        try:
            yield from self._ask(turn, prompt)
        except (ConversationMemoryError, DatabaseError, ModelFailed):
            raise
        except Exception as error:  # beside the package, codecs and the network raise errors of their own
            text = " ".join(str(error).split()) or type(error).__name__
            raise ModelFailed(f"The model failed: {text}") from error

    def _ask(self, turn: Turn, prompt: list[dict[str, Any]]) -> Iterator[str]:
        messages: Any = prompt
        reply: Any = self.client.chat.completions.create(
            model=self.model, messages=messages, tools=turn.tools(), stream=self.stream
        )
        if not self.stream:
            if not getattr(reply, "choices", None):
                raise ModelFailed(_NO_COMPLETION)
            turn.response(reply)
            yield reply.choices[0].message.content or ""
            return
        has_answered = False
        for chunk in turn.stream(reply):
            has_answered = True
            if chunk.choices and (text := chunk.choices[0].delta.content):
                yield text
        if not has_answered:
            raise ModelFailed(_NO_COMPLETION)
