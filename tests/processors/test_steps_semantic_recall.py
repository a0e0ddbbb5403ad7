"""Seed 002, "Behaviour", step by step; sync and async."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from memory.embedders import embedders
from memory.exceptions import EmbedderError
from memory.models import Embedding, Message
from memory.processors import MessageHistory, MessageList, RequestContext, SemanticRecall
from tests.cases import at, message, save
from tests.processors import CONTEXT, Run, answered, asked, both_ways, content, ids, texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.embedders.hashing import HashEmbedder

pytestmark = [pytest.mark.django_db, both_ways]

SAID = ["red apples", "green pears", "blue plums", "gold figs", "grey nuts"]


@pytest.fixture(autouse=True)
def _said(on_commit: Callable[..., Any]) -> None:
    """Five messages each in t and u, embedded; those of u a minute later."""
    with on_commit():
        for thread, minute in (("t", 0), ("u", 60)):
            save(
                *(
                    message(f"{thread}{number}", text, thread=thread, created_at=at(minute + number))
                    for number, text in enumerate(SAID)
                )
            )


def search(**options: Any) -> SemanticRecall:
    return SemanticRecall(**{"message_range": 0, "threshold": 0.5, **options})


def recalled(
    run: Run, processor: SemanticRecall, *said: Any, context: RequestContext = CONTEXT
) -> MessageList:
    return run(processor, "process_input", list(said), request_context=context)


def test_the_name_and_the_id(run: Run) -> None:
    """The seed's return values and defaults."""
    processor = SemanticRecall()
    assert (processor.id, processor.name) == ("semantic-recall", "SemanticRecall")
    found = processor.search
    assert (found.top_k, found.before, found.after, found.scope) == (4, 2, 2, "resource")
    assert (found.threshold, found.index_name) == (None, "default")


def test_input_1_the_query_is_what_the_user_said_last(run: Run, embedder: HashEmbedder) -> None:
    """Text parts joined; an image, a reminder and what the assistant said are not asked for."""
    embedder.calls.clear()
    said = [
        asked("red apples"),
        {"role": "user", "content": [{"type": "text", "text": "green"}, {"type": "text", "text": "pears"}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}]},
        asked("<system-reminder>be kind</system-reminder>"),
        answered("blue plums"),
    ]
    found = recalled(run, search(scope="thread"), *said)
    assert embedder.calls == [["green pears"]]
    assert [row.uid for row in found.recalled] == ["t1"]


@pytest.mark.parametrize("said", [[], [answered("red apples")], [asked("   ")]])
def test_input_1_without_a_query_nothing_happens(run: Run, said: Any, embedder: HashEmbedder) -> None:
    embedder.calls.clear()
    found = recalled(run, search(), *said)
    assert embedder.calls == []
    assert (found.system, found.memory, found.recalled) == ([], [], ())


def test_input_1_without_a_context_nothing_happens(run: Run, embedder: HashEmbedder) -> None:
    embedder.calls.clear()
    assert texts(run(search(), "process_input", [asked("red apples")])) == ["red apples"]
    assert embedder.calls == []


def test_input_2_the_query_is_embedded_once(run: Run, embedder: HashEmbedder) -> None:
    embedder.calls.clear()
    for _ in range(3):
        recalled(run, search(), asked("a new question"))
    assert embedder.calls == [["a new question"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"scope": "thread", "top_k": 1, "threshold": None}, ["t4"]),
        ({"scope": "thread", "threshold": 0.9}, []),
        ({"scope": "thread", "threshold": 0.4}, ["t0", "t4"]),
        ({"scope": "resource"}, ["t0", "t4", "u0", "u4"]),
        ({"scope": "resource", "top_k": 2}, ["u0", "u4"]),
    ],
)
def test_input_3_the_search(run: Run, options: Any, expected: list[str]) -> None:
    """`top_k`, `threshold` and `scope`; equal similarities go to the newest."""
    found = recalled(run, search(**options), asked("red nuts"))
    assert [row.uid for row in found.recalled] == expected


@pytest.mark.parametrize("named", [{"index_name": "default"}, {"vector": "default"}, {"embedder": "default"}])
def test_input_3_the_space_has_three_names(run: Run, named: dict[str, str]) -> None:
    """`vector`, `embedder` and `index_name` of the seed all name the embedding space."""
    found = recalled(run, search(scope="thread", **named), asked("red apples"))
    assert [row.uid for row in found.recalled] == ["t0"]


def test_input_3_an_unknown_space_is_told(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    found = recalled(run, search(index_name="other"), asked("red apples"))
    assert texts(found) == ["red apples"]
    assert "no embedder 'other'" in caplog.text


@pytest.mark.parametrize(
    ("reach", "expected"),
    [
        (0, ["t2"]),
        (1, ["t1", "t2", "t3"]),
        ({"before": 2, "after": 0}, ["t0", "t1", "t2"]),
        ({"before": 0}, ["t2", "t3", "t4"]),
        (9, ["t0", "t1", "t2", "t3", "t4"]),
    ],
)
def test_input_4_the_hits_and_their_context(run: Run, reach: Any, expected: list[str]) -> None:
    """`message_range` as a number or by side, clipped at the ends of the thread."""
    found = recalled(run, search(scope="thread", message_range=reach), asked("blue plums"))
    assert ids(found.memory) == expected
    reasons = {row.uid: row.recall.sources for row in found.recalled}
    assert reasons.pop("t2") == {"semantic"}
    assert all(sources == {"context"} for sources in reasons.values())


def test_input_5_other_threads_become_one_system_message(run: Run) -> None:
    """Dated and labelled by conversation; messages of this thread stand among the messages."""
    found = recalled(run, search(message_range=1), asked("red apples"))
    (block,) = found.system
    assert block.text.count("- 2024-05-01 09:01 User: ") == 2
    assert "\nConversation: u\n- 2024-05-01 09:01 User: red apples\n" in block.text
    assert ids(found.memory) == ["t0", "t1"]


def test_input_5_the_scope_thread_brings_nothing_from_others(run: Run) -> None:
    found = recalled(run, search(scope="thread"), asked("red apples"))
    assert (found.system, ids(found.memory)) == ([], ["t0"])


def test_input_5_the_first_turn_of_a_conversation(run: Run) -> None:
    """Scope "resource": other threads are found; scope "thread": there is nothing yet, and no error."""
    new = RequestContext(thread_id="new", resource_id="r")
    found = recalled(run, search(), asked("red apples"), context=new)
    assert [row.uid for row in found.recalled] == ["t0", "u0"]
    assert texts(recalled(run, search(scope="thread"), asked("red apples"), context=new)) == ["red apples"]


def test_input_6_what_is_found_is_tagged_and_added_once(run: Run) -> None:
    """`source="memory"`; nothing the list holds already is added again, and no redacted message."""
    with_history = run(
        MessageHistory(last_messages=2), "process_input", [asked("grey nuts")], request_context=CONTEXT
    )
    found = run(
        search(message_range=1), "process_input", [], message_list=with_history, request_context=CONTEXT
    )
    assert ids(found.memory) == ["t3", "t4"]
    assert {message.source for message in found.memory} == {"memory"}
    assert [row.uid for row in found.recalled] == ["u3", "u4"]


def test_output_1_texts_of_user_and_assistant(run: Run, embedder: HashEmbedder) -> None:
    """New ones: neither those that were remembered, nor the system's, nor blank ones, nor tool parts."""
    turn = MessageList("t", "r").add([asked("question"), asked("  ")]).add(answered("answer"), "response")
    turn.add({"role": "user", "content": content("old"), "id": "o"}, "memory").add_system("rules")
    embedder.calls.clear()
    run(search(), "process_output_result", [], message_list=turn, request_context=CONTEXT)
    assert embedder.calls == [["question", "answer"]]


def test_output_2_each_message_gets_its_embedding(
    run: Run, embedder: HashEmbedder, on_commit: Callable[..., Any]
) -> None:
    """A failing embedder is told, and nothing is lost: the rows wait for it."""
    embedder.calls.clear()
    with on_commit():
        turn = run(
            search(), "process_output_result", [asked("one"), answered("two")], request_context=CONTEXT
        )
        run(MessageHistory(), "process_output_result", [], message_list=turn, request_context=CONTEXT)
    assert embedder.calls == [["one", "two"]]
    assert Embedding.objects.filter(message__text__in=["one", "two"]).count() == 2


def test_output_2_a_failing_embedder_loses_nothing(
    run: Run, embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(texts: Any) -> Any:
        raise EmbedderError("staged")

    monkeypatch.setattr(embedder, "embed", fail)
    turn = run(search(), "process_output_result", [asked("secret")], request_context=CONTEXT)
    assert texts(turn) == ["secret"]
    assert "staged" in caplog.text
    assert "secret" not in caplog.text


def test_output_3_vectors_stand_with_their_messages(run: Run, on_commit: Callable[..., Any]) -> None:
    """Message, thread and resource on the vector; role, text and date on the message that it belongs to."""
    both = [search(), MessageHistory()]
    with on_commit():
        turn = MessageList("t", "r").add(asked("question", "q"))
        for processor in both:
            run(processor, "process_output_result", [], message_list=turn, request_context=CONTEXT)
    vector = Embedding.objects.get(message__uid="q")
    stored = Message.objects.select_related("thread").get(uid="q")
    assert (vector.message_id, vector.thread_id) == (stored.pk, stored.thread_id)
    assert vector.resource_id == stored.thread.resource_id
    assert (stored.role, stored.text) == ("user", "question")


def test_output_4_the_cache_spares_calls(
    run: Run, embedder: HashEmbedder, on_commit: Callable[..., Any]
) -> None:
    """The question is embedded for the search, the answer once; storing both costs no call."""
    embedder.calls.clear()
    processors = [MessageHistory(), search()]
    with on_commit():
        turn = MessageList("t", "r").add(asked("a question"))
        for processor in processors:
            run(processor, "process_input", [], message_list=turn, request_context=CONTEXT)
        turn.add(answered("an answer"), "response")
        for processor in reversed(processors):
            run(processor, "process_output_result", [], message_list=turn, request_context=CONTEXT)
    assert embedder.calls == [["a question"], ["an answer"]]


@pytest.mark.parametrize("options", [{"read_only": True}, {"readOnly": True}])
def test_output_4_read_only_embeds_nothing(run: Run, options: Any, embedder: HashEmbedder) -> None:
    embedder.calls.clear()
    context = RequestContext(thread_id="t", resource_id="r", thread_config=options)
    run(search(), "process_output_result", [asked("x")], request_context=context)
    assert embedder.calls == []


def test_output_4_nothing_to_do_where_another_process_embeds(
    run: Run, embedder: HashEmbedder, settings: Any
) -> None:
    for more in ({"EMBED": "command"}, {"EMBEDDING_CACHE": 0}):
        settings.MEMORY = {**settings.MEMORY, **more}
        fresh: Any = embedders["default"]
        run(search(), "process_output_result", [asked("x")], request_context=CONTEXT)
        assert fresh.calls == []


def test_failures_are_logged_to_the_given_logger(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contract 5: a failing search logs and returns the input unchanged; no content in the log."""
    told: list[str] = []
    own = logging.Logger("own")
    own.addHandler(logging.NullHandler())
    own.addFilter(lambda record: bool(told.append(record.getMessage())))

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("secret text")

    monkeypatch.setattr("memory.managers.message.Recall", fail)
    found = recalled(run, search(logger=own), asked("secret text"))
    assert texts(found) == ["secret text"]
    assert (len(told), "secret" in told[0], "RuntimeError" in told[0]) == (1, False, True)
