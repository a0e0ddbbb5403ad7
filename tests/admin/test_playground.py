"""The playground shows what an agent's own code would do (issue point 3)."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory import Memory
from memory.exceptions import EmbedderError
from memory.models import AdminEvent, Message, Resource, Thread
from tests.admin import text_of
from tests.admin.staff import READ, act_url, staff
from tests.cases import at, message, save, words_apart

pytestmark = pytest.mark.django_db

FORM = {"agent": "default"}
SEMANTIC = {"top_k": 2, "message_range": 1, "scope": "resource"}


@pytest.fixture
def client(settings: Settings) -> Client:
    settings.MEMORY = {
        **settings.MEMORY,
        "AGENTS": {
            "default": {"semantic_recall": SEMANTIC, "last_messages": 2},
            "plain": {"last_messages": 1},
            "thorough": {
                "semantic_recall": True,
                "working_memory": {"enabled": True, "scope": "resource", "template": "# Who\n"},
            },
        },
    }
    return staff(READ, "use_recall_playground")


@pytest.fixture
def words() -> list[str]:
    return words_apart(8)


@pytest.fixture
def thread(words: list[str], on_commit: Any) -> Any:
    """The thread `t` with eight messages of a word each; an older one `old` says the first word too."""
    with on_commit():
        save(
            *(message(f"m{n}", word, created_at=at(100 + n)) for n, word in enumerate(words)),
            *(
                message(f"old{n}", text, thread="old", created_at=at(n))
                for n, text in enumerate(("before it", words[0], "after it"))
            ),
        )
    return Thread.objects.get(uid="t")


def run(client: Client, row: Any, query: str, **options: Any) -> Any:
    response = client.post(act_url(row, "recall"), {**FORM, "query": query, **options})
    assert response.status_code == 200
    return response


def hits(response: Any) -> list[str]:
    return [entry.hit.message.uid for entry in response.context["hits"]]


def prompt(agent: str, query: str, thread_id: str | None = "t", **thread_config: Any) -> Any:
    """What an agent that runs this turn sends to its model, which is down."""
    sent: list[Any] = []
    with (
        suppress(ConnectionError),
        Memory(agent).turn(thread_id=thread_id, resource_id="r", thread_config=thread_config) as turn,
    ):
        turn.user(query)
        sent += turn.messages()
        raise ConnectionError
    return sent


@pytest.mark.parametrize("agent", ["default", "plain", "thorough"])
def test_the_prompt_is_that_of_a_turn(client: Client, thread: Any, words: list[str], agent: str) -> None:
    Memory(agent, working_memory={"enabled": True}).update_working_memory("likes tea", resource_id="r")
    response = run(client, thread, words[0], agent=agent)
    wanted = prompt(agent, words[0])
    assert response.context["result"].prompt == wanted
    assert json.loads(response.context["prompt_json"]) == wanted
    assert ("likes tea" in response.context["prompt_json"]) == (agent == "thorough")
    assert [message.text for message in response.context["prompt"]] == [m["content"] for m in wanted]


def test_options_are_those_of_the_turn(client: Client, thread: Any, words: list[str]) -> None:
    """What is left blank is as the agent has it: one neighbour after a hit here."""
    response = run(client, thread, words[0], top_k="1", scope="thread", before="0")
    config = {"semantic_recall": {"top_k": 1, "scope": "thread", "message_range": {"before": 0, "after": 1}}}
    assert response.context["result"].prompt == prompt("default", words[0], **config)
    assert hits(response) == ["m0"]
    (entry,) = response.context["hits"]
    assert [shown.message.uid for shown in entry.window] == ["m0", "m1"]


def test_hits_come_with_similarity_and_neighbours(client: Client, thread: Any, words: list[str]) -> None:
    response = run(client, thread, words[0])
    assert sorted(hits(response)) == ["m0", "old1"]
    entries = {entry.hit.message.uid: entry for entry in response.context["hits"]}
    assert [shown.message.uid for shown in entries["old1"].window] == ["old0", "old1", "old2"]
    assert entries["old1"].found.similarity == pytest.approx(1)
    assert entries["old1"].found.place == "remembered"
    assert [shown.message.uid for shown in response.context["history"]] == ["m6", "m7"]
    # The last message is history, and said so.
    last = run(client, thread, words[7], scope="thread", top_k="1")
    assert [entry.found.place for entry in last.context["hits"]] == ["history"]


def test_what_the_agent_does_not_search_is_not_in_its_prompt(
    client: Client, thread: Any, words: list[str]
) -> None:
    response = run(client, thread, words[0], agent="plain")
    assert "old1" in hits(response)
    assert "remembered" not in {entry.found.place for entry in response.context["hits"]}
    assert "This agent does not search by meaning" in response.text


def test_filters_narrow_the_hits(client: Client, thread: Any, words: list[str]) -> None:
    Message.objects.filter(uid="old1").update(metadata={"plan": "pro", "level": 3})
    assert hits(run(client, thread, words[0], metadata="plan=pro")) == ["old1"]
    assert hits(run(client, thread, words[0], metadata="level=3")) == ["old1"]
    assert hits(run(client, thread, words[0], metadata='level="3"')) == []
    assert len(hits(run(client, thread, words[0], start="2024-05-01", end="2024-05-01"))) == 2
    assert hits(run(client, thread, words[0], start="2024-05-02")) == []
    assert hits(run(client, thread, words[0], end="2024-04-30")) == []
    assert hits(run(client, thread, words[0], threshold="0.99", scope="thread")) == ["m0"]


def test_what_recalls_a_message(client: Client, thread: Any) -> None:
    """From any message: its own text is the query, and other messages that say so stand beside it."""
    row = Message.objects.get(uid="old1")
    assert act_url(row, "recall") in text_of(client.get(act_url(row.thread, "transcript")))
    response = client.get(act_url(row, "recall"), follow=True)
    assert response.context["form"]["query"].value() == row.text
    assert sorted(hits(response)) == ["m0", "old1"]
    assert [e.hit.message.uid for e in response.context["hits"] if e.hit.is_asked] == ["old1"]
    gone = client.get(act_url(thread, "recall"), {"message": "old1"})
    assert gone.context["result"] is None


def test_a_resource_has_a_playground_of_a_new_thread(client: Client, thread: Any, words: list[str]) -> None:
    response = run(client, thread.resource, words[0])
    assert sorted(hits(response)) == ["m0", "old1"]
    assert response.context["result"].prompt == prompt("default", words[0], thread_id=None)
    wrong = run(client, thread.resource, words[0], scope="thread")
    assert wrong.context["form"].errors.keys() == {"scope"}
    empty = run(client, Resource.objects.ensure("empty"), words[0])
    assert hits(empty) == []


def test_nothing_is_stored(client: Client, thread: Any, words: list[str]) -> None:
    """Whatever the agent's options, whoever looks, however it is asked."""

    def rows() -> list[Any]:
        models = apps.get_app_config("memory").get_models()
        return [list(model._default_manager.order_by("pk").values_list("pk", flat=True)) for model in models]

    before = rows()
    for agent in ("default", "plain", "thorough"):
        for row in (thread, thread.resource):
            client.get(act_url(row, "recall"))
            run(client, row, words[0], agent=agent)
    client.get(act_url(Message.objects.get(uid="m1"), "recall"), follow=True)
    assert rows() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query", ""),
        ("query", "\x00"),
        ("query", "x" * 1_000_001),
        ("agent", "nobody"),
        ("scope", "everywhere"),
        ("top_k", "0"),
        ("top_k", "1001"),
        ("before", "-1"),
        ("after", "1001"),
        ("threshold", "1.5"),
        ("threshold", "nan"),
        ("metadata", "plan"),
        ("metadata", "__proto__=1"),
        ("metadata", "x=" + "9" * 400),
        ("start", "tomorrow"),
        ("end", "9999-12-31"),
    ],
)
def test_bad_input_is_an_error_of_the_form(client: Client, thread: Any, field: str, value: str) -> None:
    response = client.post(act_url(thread, "recall"), {**FORM, "query": "x", field: value})
    assert response.status_code == 200
    assert response.context["form"].errors.keys() == {field}
    assert response.context["result"] is None


def test_the_limit_of_a_query_is_that_of_the_settings(
    client: Client, thread: Any, settings: Settings
) -> None:
    settings.MEMORY = {**settings.MEMORY, "MAX_TEXT": 3}
    response = client.post(act_url(thread, "recall"), {**FORM, "query": "four"})
    assert response.context["form"].errors.keys() == {"query"}


def test_an_embedder_that_fails_is_shown(
    client: Client, thread: Any, embedder: Any, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    def refuse(texts: Any) -> Any:
        raise EmbedderError("The service is down.", retryable=True)

    monkeypatch.setattr(embedder, "embed", refuse)
    response = run(client, thread, "a new query")
    assert "The service is down." in response.text
    assert response.context["result"] is None
    settings.MEMORY = {**settings.MEMORY, "EMBEDDERS": {}}
    assert "EMBEDDERS" in run(client, thread, "another").context["problem"]
    settings.MEMORY = {"AGENTS": {"default": {"last_messages": "many"}}}
    assert "last_messages" in str(run(client, thread, "another").context["form"].errors)


def test_time_statements_and_plan(
    client: Client, thread: Any, words: list[str], is_postgres: bool, count_queries: Any
) -> None:
    """Of the search; the plan of the database that compares vectors, whose numbers are left out."""
    with count_queries(at_most=32):
        result = run(client, thread, words[0]).context["result"]
    assert min(result.embedding_ms, result.search_ms, result.prompt_ms) >= 0
    assert 3 <= len(result.statements) <= 6
    assert words[0] not in str([statement.sql for statement in result.statements])
    assert ("memory_embedding" in result.plan) == is_postgres
    assert ("Execution Time" in result.plan) == is_postgres
    assert "0.0,0.0" not in result.plan.replace(" ", "")


@pytest.mark.parametrize("permissions", [(READ,), ("use_recall_playground",), ()])
def test_it_needs_its_own_right_and_that_to_read(thread: Any, permissions: tuple[str, ...]) -> None:
    client = staff(*permissions)
    for row in (thread, thread.resource, Message.objects.get(uid="m1")):
        assert client.get(act_url(row, "recall")).status_code == 403
        assert client.post(act_url(row, "recall"), {**FORM, "query": "x"}).status_code == 403
    links = text_of(client.get(act_url(thread, "transcript")))
    assert act_url(thread, "recall") not in links


def test_the_threads_of_other_owners_are_not_there(client: Client, thread: Any, settings: Settings) -> None:
    settings.MEMORY = {**settings.MEMORY, "ADMIN_RESOURCES": "tests.admin.staff.only_first"}
    (other,) = save(message("o1", "theirs", thread="theirs"), resource="other")
    for row in (other, other.thread, other.thread.resource):
        assert client.get(act_url(row, "recall")).url == reverse("admin:index")
    assert client.get(act_url(thread, "recall"), {"message": "o1"}).context["asked"] is None


def test_tries_are_recorded_where_reads_are(
    client: Client, thread: Any, words: list[str], settings: Settings
) -> None:
    run(client, thread, words[0])
    assert not AdminEvent.objects.exists()
    settings.MEMORY = {**settings.MEMORY, "ADMIN_LOG_READS": True}
    run(client, thread, words[0])
    event = AdminEvent.objects.get()
    assert (event.action, event.thread_uid, event.counts) == ("recall", "t", {"hits": 2})
    assert words[0] not in f"{event.reason}{event.counts}"
