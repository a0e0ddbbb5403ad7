"""`manage.py chat`, in this process, against a server that speaks both protocols."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from memory import Memory
from memory.models import Message, Thread
from memory.processors.stream import Accumulator
from memory.processors.working_memory_text import TOOL_NAME
from tests.cases import message, save
from tests.embedders.openai_stub import OpenAIStub, no_json, replying, says
from tests.processors import stored, title

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.django_db

both_modes = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture(autouse=True)
def _site(settings: Any, stub: OpenAIStub) -> None:
    """A site whose embedder and model are the same server."""
    stub.dimensions = 8
    embedder = {
        "BACKEND": "memory.embedders.OpenAIEmbedder",
        "OPTIONS": {"model": "small", "dimensions": 8, "base_url": stub.url},
    }
    agents = {
        "default": {"semantic_recall": {"message_range": 1, "top_k": 1, "threshold": 0.5}},
        "keeper": {"working_memory": {"enabled": True}, "generate_title": True},
    }
    settings.MEMORY = {**settings.MEMORY, "EMBEDDERS": {"default": embedder}, "AGENTS": agents}


def chat(*said: str, stdin: str | None = None, monkeypatch: Any = None, **options: Any) -> str:
    out = io.StringIO()
    if stdin is not None:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    call_command("chat", *said, stdout=out, **{"thread": "t", "resource": "r", **options})
    return out.getvalue()


@both_modes
def test_one_message(stream: bool, stub: OpenAIStub) -> None:
    stub.chats.append(says("Hello, Ada. " + "word " * 60))
    shown = chat("I am Ada", base_url=stub.url, model="m", no_stream=not stream, system="Be kind.")
    assert f"Talking to m at {stub.url}/" in shown
    assert "model: Hello, Ada. " + "word " * 59 + "word" in shown
    assert "prompt: 1 system, 1 others; 0 of this conversation remembered" in shown
    assert shown.strip().endswith("The conversation is t; go on with --thread t")
    (body,) = stub.asked("/chat/completions")
    assert body["messages"][0] == {"role": "system", "content": "Be kind."}
    assert bool(body.get("stream")) is stream
    assert stored()[0] == ("user", "I am Ada")
    assert "\x1b" not in shown


def test_what_was_recalled_and_why(stub: OpenAIStub, on_commit: Callable[..., Any]) -> None:
    """The hit with its similarity, its neighbour as context, date and conversation of both."""
    with on_commit():
        save(message("m1", "purple plums", thread="old"), message("m2", "they are sour", thread="old"))
    Memory().update_thread("old", title="Fruit")
    shown = chat("purple plums", base_url=stub.url)
    rows = [re.split(r" {2,}", line.strip()) for line in shown.splitlines() if "Fruit" in line]
    assert [(row[0], row[-1]) for row in rows] == [("semantic", "purple plums"), ("context", "they are sour")]
    assert rows[0][1] == "1.00"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", rows[0][2])
    (body,) = stub.asked("/chat/completions")
    assert "User: purple plums\n" in body["messages"][0]["content"]


@both_modes
def test_tools_are_carried_out(stream: bool, stub: OpenAIStub) -> None:
    stub.chats.extend([says(None, (TOOL_NAME, {"memory": "Name: Ada"})), says("Noted.")])
    shown = chat("I am Ada", agent="keeper", base_url=stub.url, no_stream=not stream)
    assert "Noted." in shown
    assert Memory("keeper").get_working_memory(resource_id="r") == "Name: Ada"
    assert stored() == [("user", "I am Ada"), ("assistant", "Noted.")]
    assert title() == "I am Ada"


def test_a_model_that_only_calls_tools_is_stopped(stub: OpenAIStub) -> None:
    stub.chats.extend([says(None, (TOOL_NAME, {"memory": "x"}))] * 20)
    assert "(stopped after 8 calls)" in chat("hi", agent="keeper", base_url=stub.url)
    assert len(stub.asked("/chat/completions")) == 8


def test_a_conversation(stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line until an empty one or the end; a failing answer does not end it."""
    stub.chats.extend([says("One."), replying({}, status=400), says("Two.")])
    shown = chat(stdin="first\nsecond\nthird\n\nnever\n", monkeypatch=monkeypatch, base_url=stub.url)
    assert [text for _, text in stored()] == ["first", "One.", "third", "Two."]
    assert shown.count("The model failed") == 1
    assert "2 of this conversation remembered" in shown
    assert "never" not in str(stub.requests)


def test_a_new_conversation_is_gone_on_with(stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = chat(stdin="first\nsecond", monkeypatch=monkeypatch, base_url=stub.url, thread=None)
    thread = Thread.objects.get()
    assert f"--thread {thread.uid}" in shown
    assert Message.objects.filter(thread=thread).count() == 4


def test_without_a_model_an_echo_answers(stub: OpenAIStub, on_commit: Callable[..., Any]) -> None:
    """Clearly labelled, offline, and stored under that label."""
    with on_commit():
        save(message("m1", "purple", thread="old"))
    shown = chat("purple")
    assert shown.startswith("No model is configured (OPENAI_API_KEY or --base-url): an offline echo answers.")
    assert "semantic" in shown
    assert "[offline echo] You said: purple (I was shown 2 messages.)" in shown
    assert stub.asked("/chat/completions") == []
    assert stored()[1][1].startswith("[offline echo]")


@pytest.mark.parametrize("text", ["[bold]no markup[/]", "한국어 답변 " * 30 + ".", ":smile: {x}", "a\tb"])
@both_modes
def test_the_answer_comes_as_it_is(text: str, stream: bool, stub: OpenAIStub) -> None:
    """No markup, no emoji codes, no breaks at a terminal's width, no tabs made blanks."""
    stub.chats.append(says(text))
    assert f"model: {text}\n" in chat("hi", base_url=stub.url, no_stream=not stream)


EVENTS = {"Content-Type": "text/event-stream"}


@pytest.mark.parametrize(
    ("stream", "answer", "text"),
    [
        (False, replying({"error": {"message": "no\nsuch model"}}, status=404), "no such model"),
        (True, replying({"error": {"message": "no\nsuch model"}}, status=404), "no such model"),
        (False, no_json, "no chat completion"),
        (True, no_json, "no chat completion"),
        (False, replying({"choices": []}), "no chat completion"),
        (False, replying("", drop=True), "Connection error"),
        (True, says("Once upon a time", stop_after=3), "failed"),
        (True, replying("data: nonsense\n\n", headers=EVENTS), "failed"),
    ],
)
def test_a_failing_model_is_one_line(stream: bool, answer: Any, text: str, stub: OpenAIStub) -> None:
    stub.chats.extend([answer] * 3)
    with pytest.raises(CommandError, match=text) as caught:
        chat("hi", base_url=stub.url, no_stream=not stream)
    assert "\n" not in str(caught.value)
    assert ("assistant", "Once upon") in stored() if "Once" in str(stored()) else stored() == []


def test_ctrl_c_keeps_what_was_said(stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a stream: the partial answer is stored and marked, and the conversation goes on."""
    taken = Accumulator.add
    count = iter(range(99))

    def add(self: Accumulator, chunk: Any) -> Any:
        if next(count) == 3:
            raise KeyboardInterrupt
        return taken(self, chunk)

    monkeypatch.setattr(Accumulator, "add", add)
    stub.chats.extend([says("Once upon a time"), says("Yes.")])
    shown = chat(stdin="a story\ngo on\n", monkeypatch=monkeypatch, base_url=stub.url)
    assert "(broken off)" in shown
    assert [text for _, text in stored()] == ["a story", "Once upon", "go on", "Yes."]
    assert Message.objects.get(text="Once upon").metadata == {"incomplete": True}


def test_ctrl_c_at_the_prompt_ends_it(stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(io.StringIO):
        def readline(self, *args: Any) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Interrupted())
    out = io.StringIO()
    call_command("chat", stdout=out)
    assert "No model is configured" in out.getvalue()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"agent": "nobody"}, "no agent 'nobody'"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"resource": "\x00"}, "resource_id"),
        ({"thread": ""}, "thread_id"),
    ],
)
def test_what_is_wrong_is_told(options: dict[str, Any], text: str) -> None:
    with pytest.raises(CommandError, match=text):
        chat("hi", **options)


def test_a_database_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise OperationalError("no such table:\nmemory_thread")

    monkeypatch.setattr("memory.managers.message.Recall", fail)
    with pytest.raises(CommandError, match=r"no such table: memory_thread\. Has `manage.py migrate` run"):
        chat("hi", agent="keeper")
