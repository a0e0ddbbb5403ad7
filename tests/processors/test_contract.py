"""Contract section 5, what its sentences say of the two processors and the turn."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from memory import Memory
from memory.embedders import embedders
from memory.exceptions import MessageConflict, RecallError, ThreadNotFound, ThreadNotOwned
from memory.models import Embedding, EmbeddingJob, Message, Thread
from memory.processors import (
    MessageHistory,
    MessageList,
    Processor,
    RequestContext,
    SemanticRecall,
    WorkingMemory,
)
from tests.cases import at, message, numbered, save
from tests.embedders.hashing import HashEmbedder
from tests.processors import CONTEXT, answered, asked, content, failing_turn, invocation, stored, talk, texts

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("order", [0, 1])
def test_either_order_of_the_outputs_gives_the_same_rows_and_vectors(
    order: int, on_commit: Callable[..., Any]
) -> None:
    processors = list(permutations([MessageHistory(), SemanticRecall()]))[order]
    turn = MessageList("t", "r").add(asked("a question", "u")).add(answered("an answer", uid="a"), "response")
    with on_commit():
        for processor in processors:
            processor.process_output_result([], message_list=turn, request_context=CONTEXT)
    assert stored() == [("user", "a question"), ("assistant", "an answer")]
    embedder = HashEmbedder()
    for uid, text in (("u", "a question"), ("a", "an answer")):
        (vector,) = Embedding.objects.filter(message__uid=uid)
        assert list(vector.vector) == pytest.approx(embedder.embed([text]).vectors[0], abs=1e-6)
    assert not EmbeddingJob.objects.exists()


def test_what_the_processors_are_called_and_take() -> None:
    """`storage` is a `Memory` or an alias; `last_messages` and the rest are held against their kinds."""
    for storage in (None, "default", Memory(), Memory("client")):
        assert MessageHistory(storage).process_input([asked("x")], request_context=CONTEXT).all
    for wrong in (
        {"last_messages": -1},
        {"last_messages": True},
        {"last_messages": "5"},
        {"last_messages": 1.5},
    ):
        with pytest.raises(RecallError, match="last_messages"):
            MessageHistory(**wrong)
    for wrong in (
        {"top_k": 0},
        {"threshold": 2},
        {"scope": "all"},
        {"message_range": -1},
        {"message_range": {"x": 1}},
    ):
        with pytest.raises(RecallError, match=next(iter(wrong))):
            SemanticRecall(**wrong)
    with pytest.raises(RecallError, match="scope"):
        WorkingMemory(scope="all")  # type: ignore[arg-type]
    with pytest.raises(RecallError, match="template"):
        WorkingMemory(template="x", schema={})


def test_one_space_is_named() -> None:
    """By the embedder itself too; another embedder, or two spaces, are refused."""
    assert SemanticRecall(embedder=embedders["default"]).search.index_name == "default"
    with pytest.raises(ImproperlyConfigured, match="MEMORY"):
        SemanticRecall(embedder=HashEmbedder())
    with pytest.raises(ImproperlyConfigured, match="default, other"):
        SemanticRecall(vector="default", index_name="other")


@pytest.mark.parametrize(
    ("thread", "resource"), [("", "r"), ("t", ""), (" ", "r"), (5, "r"), ("t", 5), ("a\0", "r")]
)
def test_a_context_names_ids(thread: Any, resource: Any) -> None:
    with pytest.raises(RecallError, match="_id"):
        RequestContext(thread_id=thread, resource_id=resource)


def test_a_failing_history_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise DatabaseError("staged")

    monkeypatch.setattr("memory.managers.message.Recall", fail)
    with pytest.raises(DatabaseError):
        MessageHistory().process_input([asked("x")], request_context=CONTEXT)
    with pytest.raises(DatabaseError):
        talk()
    assert not Thread.objects.exists()


def test_a_failing_search_does_not_stop_a_turn(
    embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch, on_commit: Callable[..., Any]
) -> None:
    with on_commit():
        save(message("old", "purple", thread="other"))

    def fail(texts: Any) -> Any:
        raise RuntimeError("secret")

    monkeypatch.setattr(embedder, "embed", fail)
    prompt = talk(Memory(semantic_recall=True), said="secret")
    assert prompt == [{"role": "user", "content": "secret"}]
    assert stored() == [("user", "secret"), ("assistant", "y")]


def test_a_turn_on_a_thread_of_another_owner() -> None:
    numbered(1, resource="other")
    for read in (True, False):
        with pytest.raises(ThreadNotOwned):
            talk(read=read)
    assert Message.objects.count() == 1


def test_a_turn_without_a_resource() -> None:
    """On a thread that exists it is the thread's; a new one cannot be made."""
    numbered(1)
    talk(resource_id=None)
    assert texts(Message.objects.chronological()) == ["m1", "x", "y"]
    with pytest.raises(ThreadNotFound):
        talk(thread_id="new", resource_id=None)
    assert not Thread.objects.filter(uid="new").exists()


def test_a_turn_is_stored_all_or_nothing() -> None:
    """One id is taken by another owner: nothing of the turn is stored, and no thread is made."""
    save(message("taken", thread="other"), resource="other")
    with pytest.raises(MessageConflict):
        talk(answer_id="taken")
    assert not Thread.objects.filter(uid="t").exists()


def test_working_memory_of_a_resource_needs_one() -> None:
    memory = Memory(working_memory={"enabled": True})
    numbered(1)
    with pytest.raises(RecallError, match="resource_id"):
        talk(memory, resource_id=None)
    answer = WorkingMemory().call({"memory": "x"}, RequestContext(thread_id="t"))
    assert (answer["success"], "resource_id" in answer["message"]) == (False, True)


def test_pending_calls_stay_for_tools_of_the_client() -> None:
    """`keep_pending_tool_calls` by a processor of ours in place of the turn's; the next turn brings the
    result, which completes the stored call."""
    history = MessageHistory(keep_pending_tool_calls=True)
    with Memory().turn(thread_id="t", resource_id="r", processors=[history]) as turn:
        turn.user("where am I?")
        turn.messages()
        assert turn.response(answered(None, ("c", "gps", "{}"), uid="a1"))
    assert Message.objects.get(uid="a1").content["parts"][0]["toolInvocation"]["state"] == "call"
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user({"role": "tool", "tool_call_id": "c", "content": "Seoul"})
        assert [entry["role"] for entry in turn.messages()] == ["user", "assistant", "tool"]
        turn.response("In Seoul.")
    states = [p["toolInvocation"]["state"] for p in Message.objects.get(uid="a1").content["parts"]]
    assert states == ["result"]
    assert [role for role, _ in stored()] == ["user", "assistant", "assistant"]


def test_a_processor_of_the_site_takes_the_place_of_ours() -> None:
    """In its place in the order, its options and its tool."""
    own = [MessageHistory(last_messages=1), WorkingMemory(template="# Mine\n")]
    numbered(3)
    memory = Memory(working_memory={"enabled": True, "template": "# Ours\n"}, semantic_recall=True)
    with memory.turn(thread_id="t", resource_id="r", processors=own) as turn:
        turn.user("x")
        prompt = turn.messages()
        assert [entry["content"] for entry in prompt[1:]] == ["m3", "x"]
        assert "# Mine" in prompt[0]["content"]
        assert [processor.id for processor in turn.processors] == [
            "working-memory",
            "message-history",
            "semantic-recall",
        ]
        assert turn.processors[0] is own[1]


def test_a_processor_without_halves_of_its_own_changes_nothing() -> None:
    class Nothing(Processor):
        id = "nothing"
        name = "Nothing"

    own = MessageList()
    assert Nothing().process_input([asked("x")], message_list=own) is own
    assert Nothing().process_output_result([asked("x")], message_list=own) is own
    assert texts(Nothing().process_input([asked("x")])) == ["x"]
    answered_list = Nothing().process_output_result([asked("x"), answered("y")])
    assert [message.source for message in answered_list] == ["input", "response"]


def test_redacted_messages_stay_out_of_prompts() -> None:
    """Also where the client sends the text again."""
    numbered(2)
    Message.objects.filter(uid="m1").update(body={"format": 2, "parts": []}, text="", redacted_at=at(99))
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("m1", id="m1")
        turn.user("new")
        assert [entry["content"] for entry in turn.messages()] == ["m2", "new"]
        turn.response("answer")
    assert Message.objects.get(uid="m1").content["parts"] == []


def test_a_run_that_fails_after_a_tool_step_keeps_its_results() -> None:
    with failing_turn() as turn:
        turn.user("weather?")
        turn.response(answered("One moment.", ("c", "weather", "{}")))
        turn.tool_result("c", "sunny")
    assert stored() == [("user", "weather?"), ("assistant", "One moment.")]
    parts = Message.objects.get(role="assistant").content["parts"]
    assert parts[1]["toolInvocation"]["result"] == "sunny"


def test_no_prompt_holds_a_stored_call_without_its_result() -> None:
    save(message("u1"), message("a1", content("hm", invocation("c", "call")), role="assistant"))
    with Memory().turn(thread_id="t", resource_id="r") as turn:
        turn.user("x")
        assert [entry["content"] for entry in turn.messages()] == ["u1", "hm", "x"]
        assert "tool_calls" not in turn.messages()[1]
