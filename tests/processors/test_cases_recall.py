"""Section C of the public bug reports, on the path through the processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.models import Embedding, Message, Thread
from memory.processors import MessageHistory, MessageList, Processor, SemanticRecall
from tests.cases import at, message, numbered, save
from tests.processors import CONTEXT, answered, asked, content, ids, stored, texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db

LONG = " ".join(f"word{number}" for number in range(12_000)) + " the very end"


def test_case_23_the_processor_reads_only_what_it_found(
    count_queries: Callable[..., Any], on_commit: Callable[..., Any]
) -> None:
    """1,000 messages, `top_k` 1, no neighbours: one row comes from the database."""
    with on_commit():
        said = ["purple" if number == 7 else "grey" for number in range(1_000)]
        save(*(message(f"m{number}", text, created_at=at(number)) for number, text in enumerate(said)))
    turn = MessageList("t", "r").add(asked("purple"))
    with count_queries(at_most=5):
        SemanticRecall(top_k=1, message_range=0).process_input([], message_list=turn, request_context=CONTEXT)
    assert ids(turn.memory) == ["m7"]
    assert len(turn.recalled) == 1


def test_case_25_one_space_for_writers_and_readers(settings: Any, on_commit: Callable[..., Any]) -> None:
    """384 dimensions: what a processor stores, recall finds, and the other way round. Another model is a
    warning that names what to do, never an empty answer without a word, and nothing is mixed."""
    configured = settings.MEMORY["EMBEDDERS"]["default"]
    settings.MEMORY = {
        **settings.MEMORY,
        "EMBEDDERS": {"default": {**configured, "OPTIONS": {"dimensions": 384}}},
    }
    with on_commit():
        MessageHistory().process_output_result([asked("purple", "m1")], request_context=CONTEXT)
    memory = Memory(last_messages=0, semantic_recall={"message_range": 0})
    assert [row.uid for row in memory.recall("t", vector_search_string="purple")] == ["m1"]
    found = SemanticRecall(message_range=0).process_input([asked("purple")], request_context=CONTEXT)
    assert ids(found.memory) == ["m1"]


def test_case_25_another_dimension_is_told(
    settings: Any,
    caplog: pytest.LogCaptureFixture,
    on_commit: Callable[..., Any],
) -> None:
    with on_commit():
        save(message("m1", "purple"))
    configured = settings.MEMORY["EMBEDDERS"]["default"]
    settings.MEMORY = {
        **settings.MEMORY,
        "EMBEDDERS": {"default": {**configured, "OPTIONS": {"dimensions": 32}}},
    }
    found = SemanticRecall().process_input([asked("purple")], request_context=CONTEXT)
    assert texts(found) == ["purple"]
    assert "--replace default" in caplog.text
    assert Embedding.objects.count() == 1


def test_case_29_a_long_message_through_the_processors(
    embedder: HashEmbedder, on_commit: Callable[..., Any]
) -> None:
    """Over 100,000 characters: saved once, at least 7 vectors, found by its end, once."""
    assert len(LONG) > 100_000
    embedder.calls.clear()
    with on_commit():
        turn = MessageList("t", "r").add(asked(LONG, "long"))
        for processor in (SemanticRecall(), MessageHistory()):
            processor.process_output_result([], message_list=turn, request_context=CONTEXT)
    assert Message.objects.count() == 1
    assert Embedding.objects.filter(message__uid="long").count() >= 7
    assert len(embedder.calls) == 1
    found = SemanticRecall(top_k=3).process_input([asked("the very end")], request_context=CONTEXT)
    assert ids(found.memory) == ["long"]


def test_case_29_a_long_question(embedder: HashEmbedder, on_commit: Callable[..., Any]) -> None:
    """It is cut in chunks too, embedded for the search and for storing by one call."""
    embedder.calls.clear()
    with (
        on_commit(),
        Memory(semantic_recall=True).turn(thread_id="t", resource_id="r") as turn,
    ):
        save(message("m1", "purple", thread="other"))
        turn.user(LONG)
        turn.messages()
        turn.response("ok")
    asked_for = [text for call in embedder.calls for text in call if "word5 " in text]
    assert len(asked_for) == 1


@pytest.mark.parametrize("semantic", [False, True])
def test_case_32_a_run_with_three_tool_steps_embeds_the_question_once(
    semantic: bool, embedder: HashEmbedder, on_commit: Callable[..., Any]
) -> None:
    with on_commit():
        save(message("old", "purple", thread="other"))
    embedder.calls.clear()
    with (
        on_commit(),
        Memory(semantic_recall=semantic).turn(thread_id="t", resource_id="r") as turn,
    ):
        turn.user("a question")
        for step in range(3):
            turn.messages()
            for call in turn.response(answered(None, (f"c{step}", "look", "{}"))):
                turn.tool_result(call.id, {"step": step})
        assert turn.needs_model()
        turn.messages()
        turn.response("an answer")
        assert not turn.needs_model()
    sent = [text for call in embedder.calls for text in call]
    assert sorted(sent) == ["a question", "an answer"]
    assert stored() == [("user", "a question"), ("assistant", "an answer")]


def test_case_33_a_read_only_run_writes_nothing(
    embedder: HashEmbedder, on_commit: Callable[..., Any]
) -> None:
    """No rows, no vectors, no thread, no title; recall still works, and its query is all that is embedded."""
    with on_commit():
        save(message("old", "purple plums", thread="other"))
    embedder.calls.clear()
    options: dict[str, Any] = {
        "read_only": True,
        "semantic_recall": True,
        "generate_title": True,
        "working_memory": {"enabled": True},
    }
    with on_commit(), Memory(**options).turn(thread_id="t", resource_id="r") as turn:
        turn.user("purple")
        prompt = turn.messages()
        turn.response("an answer")
    assert any("purple plums" in str(message["content"]) for message in prompt)
    assert embedder.calls == [["purple"]]
    assert list(Thread.objects.values_list("uid", flat=True)) == ["other"]
    assert (Message.objects.count(), Embedding.objects.count()) == (1, 1)


def test_case_43_a_later_processor_sees_what_was_recalled(
    on_commit: Callable[..., Any],
) -> None:
    """A filter of the site comes after those of the memory, and finds history and hits as `memory`."""

    class Censor(Processor):
        id = "censor"
        name = "Censor"

        def process_input(self, messages: Any, **options: Any) -> MessageList:
            result: MessageList = options["message_list"]
            seen.extend((message.id, message.source) for message in result.memory)
            return result.remove(message.id for message in result.memory if "secret" in message.text)

    seen: list[tuple[str, str]] = []
    with on_commit():
        save(message("m1", "secret plums", created_at=at(1)), message("m2", "figs", created_at=at(2)))
        numbered(3, prefix="n")
    options = {"semantic_recall": {"message_range": 0, "top_k": 2, "threshold": 0.3}, "last_messages": 1}
    with Memory(**options).turn(thread_id="t", resource_id="r", processors=[Censor()]) as turn:
        turn.user("plums, figs")
        prompt = turn.messages()
    assert seen == [("m1", "memory"), ("m2", "memory"), ("n3", "memory")]
    assert [message["content"] for message in prompt] == ["figs", "n3", "plums, figs"]


def test_case_44_a_user_turn_that_comes_as_a_signal(
    embedder: HashEmbedder, on_commit: Callable[..., Any]
) -> None:
    """The last input that is one asks; another signal behind it does not."""
    signal = {
        "role": "signal",
        "content": content("purple", metadata={"signal": {"type": "user-message"}}),
    }
    reminder = {
        "role": "signal",
        "content": content("be kind", metadata={"signal": {"type": "system-reminder"}}),
    }
    with on_commit():
        save(message("m1"))
    embedder.calls.clear()
    SemanticRecall().process_input([signal, reminder], request_context=CONTEXT)
    assert embedder.calls == [["purple"]]
    with Memory(semantic_recall=True).turn(thread_id="t", resource_id="r") as turn:
        turn.user(signal)
        assert turn.messages()[-1] == {"role": "user", "content": "purple"}
