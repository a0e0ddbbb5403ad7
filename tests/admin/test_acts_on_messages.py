"""Editing, redacting, moving, deleting and embedding messages again (issue point 4)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory import Memory
from memory.managers.message import MessageManager
from memory.models import AdminEvent, Embedding, EmbeddingJob, Message, Thread
from tests.admin.staff import READ, REASON, act, act_url, answers, said, staff
from tests.admin.world import MARKER, World, clone_of, make_world
from tests.cases import message, save

pytestmark = pytest.mark.django_db

PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "the first"},
    {"type": "data-note", "data": {"kept": True}},
    {"type": "text", "text": "the second"},
]


@pytest.fixture
def world(embedded_world: World) -> World:
    return embedded_world


@pytest.fixture
def client() -> Client:
    return staff(
        READ, "edit_message_text", "redact_message", "move_message", "delete_message", "reembed_message"
    )


def events_of(action: str) -> list[str]:
    """The messages, or else threads, that events of this action are about."""
    found = AdminEvent.objects.filter(action=action).order_by("pk")
    return [event.message_uid or event.thread_uid for event in found]


def test_an_edit_changes_the_texts_alone(client: Client, world: World) -> None:
    """A field for each text part; other parts, metadata and the order stay."""
    (row,) = save(message("m", {"format": 2, "parts": PARTS, "metadata": {"kept": 1}}, thread="r-0"))
    assert act(client, row, "edit-text", text_2="changed\r\nlines").status_code == 302
    row.refresh_from_db()
    assert row.body["parts"] == [*PARTS[:2], {"type": "text", "text": "changed\nlines"}]
    assert (row.text, row.metadata) == ("the first changed\nlines", {"kept": 1})


@pytest.mark.parametrize(
    "content",
    [
        {"format": 2, "parts": [], "content": "outside of the parts"},
        {"format": 2, "parts": [{"type": "text", "text": "in both"}], "content": "in both"},
        {"format": 2, "parts": [PARTS[1]]},
    ],
)
def test_an_edit_finds_the_text_wherever_it_is(client: Client, world: World, content: Any) -> None:
    (row,) = save(message("m", content, thread="r-0"))
    assert act(client, row, "edit-text", text_1="now this").status_code == 302
    row.refresh_from_db()
    assert row.text == "now this"
    assert [part for part in row.body["parts"] if part["type"] != "text"] == [
        part for part in content["parts"] if part["type"] != "text"
    ]


def test_an_edit_does_not_go_over_another_one(client: Client, world: World) -> None:
    page = client.get(act_url(world.message, "edit-text"))
    Memory().update_messages([{"id": world.message.uid, "content": "by somebody else"}])
    response = client.post(act_url(world.message, "edit-text"), answers(page, text_1="mine"))
    assert "changed by somebody else" in str(response.context["form"].errors)
    assert Message.objects.get(pk=world.message.pk).text == "by somebody else"


@pytest.mark.parametrize("sent", [{"text_1": " \n"}, {"text_1": "\x00"}, {"text_1": "x" * 1_000_001}])
def test_a_text_that_cannot_be_is_an_error_of_the_form(client: Client, world: World, sent: Any) -> None:
    response = act(client, world.message, "edit-text", **sent)
    assert response.status_code == 200
    assert response.context["form"].errors
    assert AdminEvent.objects.count() == 0


def test_a_redaction_finds_copies_and_titles(client: Client, world: World) -> None:
    """They are offered; what was ticked goes with it, one group of events."""
    clone = clone_of(world.thread)
    page = client.get(act_url(world.message, "redact"))
    copy = clone.messages.get(cloned_from=world.message.uid)
    assert [found.uid for found in page.context["copies"]] == [copy.uid]
    assert {thread.uid for thread, _ in page.context["titled"]} == {world.thread.uid, clone.uid}
    response = client.post(act_url(world.message, "redact"), answers(page))
    assert said(response)[-1].startswith("2 messages redacted.")
    for row in (world.message, copy):
        row.refresh_from_db()
        assert (row.text, row.metadata) == ("", {})
        assert row.redacted_at is not None
    assert set(Thread.objects.exclude(uid="r-1").values_list("title", flat=True)) == {""}
    assert events_of("redact_message") == [world.message.uid, copy.uid]
    assert sorted(events_of("edit_thread")) == sorted([world.thread.uid, clone.uid])
    assert AdminEvent.objects.values("group").distinct().count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_redaction_says_when_it_leaves_the_disk(is_postgres: bool) -> None:
    """As it is after the commit, when SQLite's log is emptied."""
    world, client = make_world(), staff(READ, "redact_message")
    text = said(act(client, world.message, "redact"))[-1]
    assert text.startswith("1 message redacted. ")
    expected = "the next VACUUM" if is_postgres else "Nothing of it is left in the database's files."
    assert expected in text


def test_a_redaction_tells_no_title_to_those_who_may_not_read(world: World) -> None:
    """Not even whether there is one: it would tell that the title says what the message says."""
    client = staff("redact_message", "view_adminevent")
    other = Message.objects.get(uid="r-1-2")
    pages = [client.get(act_url(row, "redact")) for row in (world.message, other)]
    assert [page.context["titled"] for page in pages] == [[], []]
    assert all("titles" in page.context["form"].fields for page in pages)
    act(client, world.message, "redact")
    assert Thread.objects.get(pk=world.thread.pk).title == ""
    assert AdminEvent.objects.get(action="redact_message").counts.keys() == {"messages", "embeddings", "jobs"}


def test_a_redaction_finds_copies_that_are_made_meanwhile(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a copy, whose thread is not locked before it is known."""
    copy, redact = clone_of(world.thread), MessageManager.redact_messages

    def clone_first(self: MessageManager, *args: Any, **options: Any) -> Any:
        monkeypatch.undo()
        clone_of(copy, "meanwhile")
        return redact(self, *args, **options)

    monkeypatch.setattr(MessageManager, "redact_messages", clone_first)
    response = act(client, world.message, "redact")
    assert said(response)[-1].startswith("3 messages redacted.")
    # Another thread says the same.
    assert not Message.objects.filter(text=world.message.text).exclude(thread__uid="r-1").exists()


@pytest.mark.parametrize(
    ("unticked", "told"),
    [
        ("copies", "Its copies in other threads stay as they are."),
        ("titles", "Titles of threads stay as they are."),
    ],
)
def test_a_redaction_says_what_stays(client: Client, world: World, unticked: str, told: str) -> None:
    """And nothing of files from which it is gone."""
    clone_of(world.thread)
    response = act(client, world.message, "redact", **{unticked: None})
    assert said(response)[-1].endswith(f"redacted. {told}")


def test_an_edit_leaves_line_ends_of_another_system(client: Client, world: World) -> None:
    """Browsers send every line end as `\\r\\n`."""
    (row,) = save(message("m", "one\rtwo\r\nthree", thread="r-0"))
    response = act(client, row, "edit-text", text_1="one\r\ntwo\r\nthree")
    assert said(response)[-1] == "The text is as it was."


@pytest.mark.parametrize("limit", ["DATA_UPLOAD_MAX_MEMORY_SIZE", "DATA_UPLOAD_MAX_NUMBER_FIELDS"])
def test_a_text_that_no_form_can_send_is_not_offered(
    client: Client, world: World, settings: Settings, limit: str
) -> None:
    setattr(settings, limit, 21 if limit.endswith("FIELDS") else 20_010)
    parts = [{"type": "text", "text": "환불" * 9}] * 2
    (row,) = save(message("m", {"format": 2, "parts": parts}, thread="r-0"))
    response = client.get(act_url(row, "edit-text"))
    assert "too long for a form" in said(response)[-1]


def test_events_tell_how_much_was_touched(world: World) -> None:
    """In the first event of an act; the others have the same group."""
    client = staff(READ, "delete_thread", "export_resource", "transfer_thread", "reembed_message")
    make_world("other")
    act(client, world.thread, "reembed")
    act(client, world.thread, "export")
    act(client, world.resource, "export")
    act(client, world.thread, "transfer", resource="other")
    act(client, Thread.objects.get(uid="r-1"), "delete")
    counts = {}
    for event in AdminEvent.objects.order_by("pk"):
        counts.setdefault(event.action, event.counts)
    assert counts["reembed_message"] == {"jobs": 3}
    assert counts["export_thread"] == {"messages": 3}
    assert counts["export_resource"] == {"threads": 2, "messages": 6}
    assert counts["transfer_thread"]["messages"] == 3
    assert counts["delete_thread"].items() >= {"threads": 1, "messages": 3}.items()


def test_a_redaction_leaves_what_was_not_ticked(client: Client, world: World) -> None:
    clone = clone_of(world.thread)
    act(client, world.message, "redact", copies=None, titles=None)
    assert clone.messages.get(cloned_from=world.message.uid).redacted_at is None
    assert Thread.objects.get(pk=world.thread.pk).title != ""
    assert events_of("redact_message") == [world.message.uid]


@pytest.mark.parametrize("name", ["redact", "edit-text", "move"])
def test_a_redacted_message_stays_as_it_is(client: Client, world: World, name: str) -> None:
    """The pages of these acts send back with a message, and the transcript does not link to them."""
    Memory().redact_messages(world.message.uid)
    response = client.get(act_url(world.message, name))
    assert response.status_code == 302
    assert "redacted" in said(response)[-1]
    page = client.get(act_url(world.thread, "transcript")).text
    assert act_url(world.message, name) not in page
    assert act_url(world.message, "delete") in page


def test_a_message_moves_within_its_resource(client: Client, world: World) -> None:
    make_world("other")
    for wrong in ("other-0", "nowhere", "\x00", "x" * 600):
        response = act(client, world.message, "move", thread=wrong)
        assert response.context["form"].errors.keys() == {"thread"}, wrong
    assert list(client.get(act_url(world.message, "move")).context["proposed"]) == ["r-1"]
    assert act(client, world.message, "move", thread="r-1").status_code == 302
    world.message.refresh_from_db()
    assert world.message.thread.uid == "r-1"


def test_a_deleted_message_leads_to_its_thread(client: Client, world: World) -> None:
    response = act(client, world.message, "delete")
    assert response.url == act_url(world.thread, "transcript")
    assert not Message.objects.filter(pk=world.message.pk).exists()
    assert events_of("delete_message") == [world.message.uid]


def test_messages_are_embedded_again(
    client: Client,
    world: World,
    embedder: Any,
    on_commit: Callable[..., AbstractContextManager[Any]],
) -> None:
    """The service is asked anew, and the vectors stand there after the commit."""
    with on_commit():
        (row,) = save(message("m", "said once", thread="r-0"))
    before = Embedding.objects.get(message=row).pk
    embedder.calls.clear()
    with on_commit():
        response = act(client, row, "reembed")
    assert said(response)[-1] == "1 embedding job is open. Work on it has begun."
    assert embedder.calls == [["said once"]]
    assert Embedding.objects.get(message=row).pk != before
    assert not EmbeddingJob.objects.filter(message=row).exists()


@pytest.mark.parametrize("name", ["delete", "redact", "edit-text", "move", "reembed"])
def test_a_message_that_vanished_meanwhile(client: Client, world: World, name: str) -> None:
    page = client.get(act_url(world.message, name))
    sent = answers(page)
    Memory().delete_messages(world.message.uid)
    response = client.post(act_url(world.message, name), sent)
    assert response.status_code == 302
    assert said(response) == ["It is not there any more. Nothing has been changed."]
    assert AdminEvent.objects.count() == 0


@pytest.mark.parametrize(("action", "done"), [("delete_listed", "delete"), ("reembed_listed", "reembed")])
def test_selected_messages(client: Client, world: World, action: str, done: str) -> None:
    """The list asks on a page of its own, with capped counts and for a reason."""
    url = reverse("admin:memory_message_changelist")
    rows = list(world.thread.messages.order_by("pk"))
    sent = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
    page = client.post(url, {**sent, "index": "0"})
    assert dict(page.context["counts"])["messages"] == "3"
    assert MARKER not in page.text
    refused = client.post(url, {**sent, "reason": ""})
    assert refused.context["form"].errors.keys() == {"reason"}
    assert AdminEvent.objects.count() == 0
    assert client.post(url, {**sent, "reason": REASON}).status_code == 302
    assert sorted(events_of(f"{done}_message")) == [row.uid for row in rows]
    assert AdminEvent.objects.values("group").distinct().count() == 1
    assert world.thread.messages.count() == (0 if done == "delete" else 3)


@pytest.mark.parametrize("number", [5, 60])
@pytest.mark.parametrize("model", ["message", "thread"])
@pytest.mark.parametrize("action", ["delete_listed", "reembed_listed"])
def test_the_queries_of_an_act_do_not_grow_with_its_rows(
    model: str, action: str, number: int, count_queries: Callable[..., AbstractContextManager[Any]]
) -> None:
    """SQLite's write lock is held meanwhile: no statement is sent for each row."""
    save(*(message(f"m{one}", thread=f"t{one}" if model == "thread" else "t") for one in range(number)))
    client = staff(READ, "delete_message", "delete_thread", "reembed_message")
    rows = {"message": Message, "thread": Thread}[model].objects.order_by("pk")
    sent = {"action": action, "_selected_action": [row.pk for row in rows], "reason": REASON}
    with count_queries(at_most=40):
        assert client.post(reverse(f"admin:memory_{model}_changelist"), sent).status_code == 302
    assert AdminEvent.objects.count() == number
    assert AdminEvent.objects.values("group").distinct().count() == 1
    if action == "delete_listed":
        assert not rows.all().exists()


def test_lists_offer_what_the_viewer_may_do(world: World) -> None:
    """Django's own deletion, which loads every row, is offered nowhere."""
    url = reverse("admin:memory_message_changelist")
    page = staff("reembed_message").get(url)
    offered = [name for name, _ in page.context["action_form"].fields["action"].choices]
    assert offered == ["", "reembed_listed"]
    none = staff(name="looks").get(url)
    assert none.context["action_form"] is None
    sent = {"action": "delete_selected", "_selected_action": [world.message.pk], "post": "yes"}
    client = staff("delete_message", name="deletes")
    client.post(url, {**sent, "index": "0"})
    client.post(url, sent)
    assert Message.objects.filter(pk=world.message.pk).exists()
