"""Acts of two people at the same time, and of one who sees less than there is (issue point 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client, override_settings

from memory.models import AdminEvent, Message
from tests.admin.staff import READ, REASON, act, act_url, answers, said, staff
from tests.admin.world import World, clone_of, make_world
from tests.cases import in_parallel

FIRST_ONLY = override_settings(MEMORY={"ADMIN_RESOURCES": "tests.admin.staff.only_first"})


def both(row: Any, name: str, rights: tuple[str, ...], *sent: dict[str, Any]) -> list[Any]:
    """The answers to two forms of an act that were opened, and are sent, together."""
    people = [staff(*rights, name=f"agent-{number}") for number in range(2)]
    url = act_url(row, name)

    def send(client: Client, changed: dict[str, Any]) -> Callable[[], Any]:
        filled = answers(client.get(url), **changed)
        return lambda: client.post(url, filled)

    return in_parallel(*map(send, people, sent))


@pytest.mark.django_db(transaction=True)
def test_of_two_deletions_one_is_recorded() -> None:
    world = make_world()
    told = [said(response) for response in both(world.message, "delete", ("delete_message",), {}, {})]
    assert sorted(told) == [
        ["1 message deleted."],
        ["It is not there any more. Nothing has been changed."],
    ]
    assert AdminEvent.objects.filter(action="delete_message").count() == 1
    assert LogEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_edits_none_is_lost_unseen() -> None:
    world = make_world()
    sent = [{"text_1": "the first"}, {"text_1": "the second"}]
    responses = both(world.message, "edit-text", (READ, "edit_message_text"), *sent)
    assert sorted(response.status_code for response in responses) == [200, 302]
    (refused,) = (response for response in responses if response.status_code == 200)
    assert "changed by somebody else" in str(refused.context["form"].errors)
    assert AdminEvent.objects.filter(action="edit_message").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("model", "name", "right", "sent"),
    [
        ("workingmemory", "edit", "edit_working_memory", [{"text_1": "one"}, {"text_1": "two"}]),
        ("resource", "link", "change_resource", [{"account": "agent-0"}, {"account": "agent-0"}]),
    ],
)
def test_other_rows_are_locked_too(model: str, name: str, right: str, sent: list[Any]) -> None:
    """The second of two finds what the first has made of it."""
    row = make_world().row(model)
    both(row, name, (READ, right), *sent)
    events = AdminEvent.objects.exclude(action__in=["read", "search"])
    assert events.count() == 1


@pytest.fixture
def copied(db: None) -> World:
    """The owner `r`, a message of whom has a copy in a thread of its own and one in that of another."""
    world = make_world()
    make_world("other")
    clone_of(world.thread, "own")
    from memory import Memory

    Memory().clone_thread(world.thread.uid, new_thread_id="foreign", resource_id="other")
    return world


@FIRST_ONLY
@pytest.mark.parametrize("name", ["redact", "delete"])
def test_copies_that_are_not_seen_are_told(copied: World, name: str) -> None:
    """That there are some, on the page and afterwards; not which, nor how many."""
    told = "There are copies in threads that you do not see. They stay as they are."
    client = staff(READ, "redact_message", "delete_message")
    page = client.get(act_url(copied.message, name))
    assert told in page.text
    assert "foreign" not in page.text
    if name == "delete":
        assert dict(page.context["counts"])["copies in other threads, which stay"] == "1"
    response = client.post(act_url(copied.message, name), answers(page))
    assert said(response)[-1].endswith(told)
    copies = Message.objects.filter(cloned_from=copied.message.uid)
    assert copies.get(thread__uid="foreign").redacted_at is None
    assert (copies.get(thread__uid="own").redacted_at is None) == (name == "delete")


@pytest.mark.parametrize("name", ["redact", "delete"])
def test_who_sees_every_copy_is_not_warned(copied: World, name: str) -> None:
    client = staff(READ, "redact_message", "delete_message")
    assert "that you do not see" not in client.get(act_url(copied.message, name)).text
    assert "that you do not see" not in said(act(client, copied.message, name))[-1]


@pytest.mark.django_db
def test_a_list_takes_fewer_threads_than_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is deleted with all of its messages, while other writers to SQLite wait."""
    from memory.admin.acts import DeleteMessages, DeleteThreads

    assert DeleteThreads.max_rows < DeleteMessages.max_rows
    world = make_world()
    monkeypatch.setattr(DeleteThreads, "max_rows", 1)
    client = staff("delete_thread")
    keys = list(type(world.thread)._default_manager.values_list("pk", flat=True))
    url = act_url(world.thread, "delete").split(f"{world.thread.pk}/")[0]
    sent = {"action": "delete_listed", "_selected_action": keys, "reason": REASON}
    assert said(client.post(url, sent))[-1] == "At most 1 rows at once. Nothing has been changed."
