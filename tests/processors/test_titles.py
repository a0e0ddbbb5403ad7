"""Titles (contract section 5): the first sentence at once, what a model makes of it after the commit."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.models import Thread
from memory.processors import titles
from memory.processors.chat_message import ChatMessage
from memory.processors.titles import MAX_LENGTH, first_sentence
from tests.embedders.openai_stub import OpenAIStub, no_json, replying, says
from tests.processors import content, stored, talk, title

if TYPE_CHECKING:
    from collections.abc import Callable

FAMILY = "👨‍👩‍👧‍👦"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Where is my parcel? I ordered it on Monday.", "Where is my parcel?"),
        ("My order A-4711 has not arrived!! What now", "My order A-4711 has not arrived!!"),
        ("Hi!\n\nMy order has not arrived. Help.", "Hi! My order has not arrived."),
        ("  two   words \t apart  ", "two words apart"),
        (
            "안녕하세요. 주문한 신발이 아직 안 왔어요. 확인해 주세요.",
            "안녕하세요. 주문한 신발이 아직 안 왔어요.",
        ),
        (
            "你好！我上周买的鞋子还没有收到，请帮我查一下。谢谢。",
            "你好！我上周买的鞋子还没有收到，请帮我查一下。",
        ),
        ("注文した商品がまだ届いていません。確認してください", "注文した商品がまだ届いていません。"),
        ("I spoke to Dr. Smith about the parcel. He is well.", "I spoke to Dr. Smith about the parcel."),
        ("It works with e.g. Ollama or vLLM. Nice.", "It works with e.g. Ollama or vLLM."),
        ("I met John F. Kennedy there. Nice.", "I met John F. Kennedy there."),
        ("Version 3.11.7 of example.com costs 9.99. Why?", "Version 3.11.7 of example.com costs 9.99."),
        ("def total(prices):\n    return sum(prices)", "def total(prices):"),
        ("x = 1\ny = 2\nWhy does this fail?", "x = 1 y = 2"),
        ("Wait… what? Really.", "Wait… what? Really."),
        ("?", "?"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_the_first_sentence(said: str, expected: str) -> None:
    assert first_sentence(said) == expected


@pytest.mark.parametrize(
    "said",
    [
        "word " * 40,
        "x" * 200,
        "가나다라" * 40,
        "汉字" * 90,
        FAMILY * 40,
        "🇰🇷🇨🇳" * 60,
        "e\u0301" * 100,
        "ab " + "x" * 200,
        "a" * 79 + FAMILY + "b" * 50,
        "\u0301" * 300,
    ],
)
def test_a_long_sentence_is_cut(said: str) -> None:
    """At most 80 characters, at a word where one ends near, never inside what is seen as one character."""
    cut = first_sentence(said)
    assert len(cut) <= MAX_LENGTH
    assert cut.endswith("…")
    kept = cut.removesuffix("…")
    assert said.startswith(kept)
    assert len(kept) >= 15
    if "word" in said:
        assert kept.endswith("word")
    for visible in (FAMILY, "🇰🇷🇨🇳", "e\u0301"):
        if said.startswith(visible):
            assert len(kept) % len(visible) in (0, 2)
            assert not kept.endswith(("\u200d", "e"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (content({"type": "file", "url": "x", "mediaType": "image/png"}), ""),
        ("<system-reminder>be kind</system-reminder>", ""),
        ({"role": "assistant", "content": "I ask"}, ""),
        (
            {"role": "signal", "content": content("As a signal", metadata={"signal": {"type": "user"}})},
            "As a signal",
        ),
        ([{"type": "text", "text": "In parts,"}, {"type": "text", "text": "two."}], "In parts, two."),
    ],
)
def test_what_counts_as_said_by_the_user(said: Any, expected: str) -> None:
    talk(Memory(generate_title=True), said=said)
    assert title() == expected


def model_memory(stub: OpenAIStub, **more: Any) -> Memory:
    return Memory(generate_title={"model": "m", "base_url": stub.url, **more})


@pytest.mark.django_db
def test_nothing_but_the_title_changes(stub: OpenAIStub, on_commit: Callable[..., Any]) -> None:
    """Neither dates nor metadata, by the sentence and by the model."""
    Memory().create_thread("r", thread_id="t", metadata={"a": 1})
    talk(said="First question, no title")
    before = Thread.objects.values().get()
    config = model_memory(stub).config().generate_title
    assert config is not None
    with on_commit():
        titles.title_thread("t", [ChatMessage(role="user", content=content("First question"))], config)
        assert Thread.objects.values().get() == {**before, "title": "First question"}
    assert Thread.objects.values().get() == {**before, "title": "Well."}


@pytest.mark.django_db
def test_the_model_is_asked_after_the_commit(stub: OpenAIStub, on_commit: Callable[..., Any]) -> None:
    """With instructions of this app or one's own, and the beginning of the conversation."""
    for instructions in (None, "Name it in Korean."):
        Thread.objects.all().delete()
        stub.reset()
        with on_commit():
            talk(model_memory(stub, instructions=instructions), said="Where is it?" + "x" * 3_000)
            assert stub.requests == []
            assert title().startswith("Where is it?")
        (body,) = stub.asked("/chat/completions")
        system, transcript = (entry["content"] for entry in body["messages"])
        assert (body["model"], system) == ("m", instructions or titles.INSTRUCTIONS)
        assert transcript.startswith("User: Where is it?xxx")
        assert transcript.endswith("x\nAssistant: y")
        assert len(transcript) < 2_100
        assert title() == "Well."


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (says("  A late\n parcel "), "A late parcel"),
        (says("<think>hm\n</think>\nA late parcel"), "A late parcel"),
        (says("a<think>x</think> <think>never ends"), "a"),
        (says("<think>only thoughts"), None),
        (says(""), None),
        (says(None), None),
        (says(" \n "), None),
        (says("bad \x00 \ud83d end"), "bad \ufffd \ufffd end"),
        (says("long " * 40), "long " * 15 + "long…"),
        (replying({"error": "x"}, status=500), None),
        (replying({"error": "x"}, status=401), None),
        (replying({"choices": []}), None),
        (replying({"choices": [{}]}), None),
        (replying([1, 2]), None),
        (no_json, None),
        (replying("", drop=True), None),
        (replying("", delay=0.6), None),
    ],
)
def test_whatever_the_model_answers_the_turn_is_stored(
    answer: Any,
    expected: str | None,
    stub: OpenAIStub,
    on_commit: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A time-out, an error, garbage and empty answers leave the first sentence, and a word in the log
    without content."""
    monkeypatch.setattr(titles, "TIMEOUT", 0.3)
    stub.chats.append(answer)
    with on_commit():
        talk(model_memory(stub), said="A secret question")
    assert stored() == [("user", "A secret question"), ("assistant", "y")]
    assert title() == (expected or "A secret question")
    assert len(stub.requests) == 1
    assert "secret" not in caplog.text


@pytest.mark.django_db
def test_no_key_no_server_no_package(
    stub: OpenAIStub,
    on_commit: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """None of them fails a turn."""
    for number, config in enumerate(({"model": "m"}, {"model": "m", "base_url": "http://127.0.0.1:9/v1"})):
        with on_commit():
            talk(Memory(generate_title=config), thread_id=f"t{number}", said="A question")
        assert title(f"t{number}") == "A question"
    monkeypatch.setattr("memory.embedders.base.find_spec", lambda name: None)
    with on_commit():
        talk(model_memory(stub), said="A question")
    assert title() == "A question"
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 3


@pytest.mark.django_db
def test_a_failing_database_does_not_fail_the_turn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("secret")

    monkeypatch.setattr(titles, "_replace_title", fail)
    talk(Memory(generate_title=True), said="secret")
    assert stored()[0] == ("user", "secret")
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text
