"""The models that `manage.py chat` talks to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memory.embedders.base import require_package

if TYPE_CHECKING:
    from memory.processors import Turn


class Model(ABC):
    """Something that answers a prompt.

    Attributes:
        label: what the user is told of it.
        errors: what its service may raise.
    """

    label: str
    errors: tuple[type[Exception], ...] = ()

    @abstractmethod
    def answer(self, turn: Turn, prompt: list[dict[str, Any]]) -> Iterator[str]:
        """Let the turn take up an answer, and yield its text as it comes."""


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
        require_package("openai", extra="openai")
        import openai

        self.model = model
        self.stream = stream
        self.errors = (openai.OpenAIError,)
        self.client = openai.OpenAI(base_url=base_url)
        self.label = f"Talking to {model} at {self.client.base_url}"

    def answer(self, turn: Turn, prompt: list[dict[str, Any]]) -> Iterator[str]:
        messages: Any = prompt
        reply: Any = self.client.chat.completions.create(
            model=self.model, messages=messages, tools=turn.tools(), stream=self.stream
        )
        if not self.stream:
            turn.response(reply)
            yield reply.choices[0].message.content or ""
            return
        for chunk in turn.stream(reply):
            if chunk.choices and (text := chunk.choices[0].delta.content):
                yield text
