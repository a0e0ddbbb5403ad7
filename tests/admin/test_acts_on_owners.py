"""Threads, resources, working memories and embedding jobs (issue point 4)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db.models import ProtectedError
from django.db.models.signals import pre_delete
from django.test import AsyncClient, Client, override_settings
from django.urls import reverse
from django.utils import timezone

from memory import Memory
from memory.models import AdminEvent, EmbeddingJob, Message, Resource, Thread
from tests.admin import MINUTE
from tests.admin.staff import READ, REASON, act, act_url, answers, said, staff
from tests.admin.world import MARKER, World, make_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(embedded_world: World) -> World:
    return embedded_world


@pytest.fixture
def client() -> Client:
    return staff(
        READ,
        "export_resource",
        "change_resource",
        "clone_thread",
        "transfer_thread",
        "delete_thread",
        "edit_working_memory",
        "retry_embedding",
    )


def test_a_thread_is_given_to_a_resource_that_exists(client: Client, world: World) -> None:
    """A slip of the pen makes no new resource; both owners have the event."""
    Resource.objects.ensure("other")
    for wrong in ("othr", "\x00", " ", "x" * 600):
        response = act(client, world.thread, "transfer", resource=wrong)
        assert response.context["form"].errors.keys() == {"resource"}, wrong
    assert act(client, world.thread, "transfer", resource="other").status_code == 302
    world.thread.refresh_from_db()
    assert world.thread.resource.uid == "other"
    events = AdminEvent.objects.filter(action="transfer_thread").order_by("pk")
    assert [(event.resource_uid, event.thread_uid) for event in events] == [("r", "r-0"), ("other", "r-0")]


@pytest.mark.parametrize("name", ["transfer", "clone"])
@override_settings(MEMORY={"ADMIN_RESOURCES": "tests.admin.staff.only_first"})
def test_nothing_goes_to_an_owner_that_the_viewer_does_not_see(name: str) -> None:
    """It is not told that there is one."""
    world = make_world()
    Resource.objects.ensure("other")
    client = staff(READ, "transfer_thread", "clone_thread")
    errors = [
        str(act(client, world.thread, name, resource=uid).context["form"].errors)
        for uid in ("other", "nobody")
    ]
    assert errors[0] == errors[1]
    assert Thread.objects.filter(resource__uid="other").count() == 0


def test_a_clone_is_made_once(client: Client, world: World) -> None:
    page = client.get(act_url(world.thread, "clone"))
    first, second = (client.post(act_url(world.thread, "clone"), answers(page)) for _ in range(2))
    assert first.url == second.url
    clone = Thread.objects.get(uid=page.context["form"]["clone"].value())
    assert (clone.resource.uid, clone.messages.count()) == ("r", 3)
    wrong = client.post(act_url(world.thread, "clone"), answers(page, clone="no id"))
    assert wrong.status_code == 200


def test_the_page_of_a_long_thread_counts_to_a_hundred(
    client: Client, world: World, count_queries: Any
) -> None:
    rows = [Message(thread=world.thread, role="user", body={"format": 2, "parts": []}) for _ in range(150)]
    Message.objects.bulk_create(rows)
    with count_queries(at_most=20):
        page = client.get(act_url(world.thread, "delete"))
    assert dict(page.context["counts"])["messages"] == "100+"
    assert act(client, world.thread, "delete").url == reverse("admin:memory_thread_changelist")
    assert Message.objects.filter(thread__uid="r-0").count() == 0
    assert Message.objects.filter(thread__uid="r-1").count() == 3


def test_a_resource_is_linked_to_an_account(client: Client, world: World) -> None:
    """By its whole name, with a reason, and with the accounts in the event; the rest of the row stays."""
    Resource.objects.update_resource("r", metadata={"plan": "pro"})
    page = reverse("admin:memory_resource_change", args=[world.resource.pk])
    agent = User.objects.get(username="agent")
    assert client.post(page, {"user": agent.pk}).status_code == 403
    for wrong in ("Agent", "nobody", "x" * 300):
        response = act(client, world.resource, "link", account=wrong)
        assert response.context["form"].errors.keys() == {"account"}, wrong
    assert act(client, world.resource, "link", account="agent").url == page
    world.resource.refresh_from_db()
    assert world.resource.user == agent
    assert world.resource.metadata["plan"] == "pro"
    assert said(act(client, world.resource, "link"))[-1] == "The resource is linked like this already."
    act(client, world.resource, "link", account="")
    world.resource.refresh_from_db()
    assert world.resource.user is None
    events = AdminEvent.objects.filter(action="link_resource").order_by("pk")
    assert [(event.resource_uid, event.counts) for event in events] == [
        ("r", {"user": agent.pk}),
        ("r", {"former_user": agent.pk}),
    ]


@pytest.mark.parametrize("format", ["jsonl", "html", "markdown"])
@pytest.mark.parametrize("model", ["thread", "resource"])
@pytest.mark.parametrize("readable", [True, False])
def test_an_export_is_that_of_the_managers(world: World, model: str, format: str, readable: bool) -> None:
    """Who may not read gets it without content."""
    row = world.row(model)
    client = staff("export_resource", *([READ] if readable else []))
    response = act(client, row, "export", format=format)
    sent = b"".join(response.streaming_content).decode()
    assert (MARKER in sent) == readable
    assert response["Content-Disposition"].startswith(f'attachment; filename="{model}-r')
    assert "no-store" in response["Cache-Control"]
    event = AdminEvent.objects.get(action=f"export_{model}")
    if format == "jsonl":
        verb = Thread.objects.export_thread if model == "thread" else Resource.objects.export_resource
        assert sent == "".join(verb(row.uid, masked=not readable))
    else:
        assert "agent" in sent
    assert event.reason == REASON


def test_an_export_under_asgi_streams_too(client: Client, world: World) -> None:
    """Django would gather a synchronous iterator first, with a warning."""

    async def download() -> tuple[bool, str]:
        browser = AsyncClient()
        await browser.aforce_login(await User.objects.aget(username="agent"))
        response: Any = await browser.post(
            act_url(world.thread, "export"), {"reason": REASON, "format": "jsonl"}
        )
        pieces = [piece async for piece in response]
        return response.is_async, b"".join(pieces).decode()

    assert async_to_sync(download)() == (True, "".join(Thread.objects.export_thread("r-0")))


def test_an_export_under_an_odd_id(client: Client) -> None:
    """An id may hold what no header and no file name can."""
    resource = Resource.objects.ensure('a"b/..\\\r\n<한글>')
    response = act(client, resource, "export")
    assert "\n" not in response["Content-Disposition"]
    assert "/" not in response["Content-Disposition"].partition("''")[2].replace("%2F", "/")
    assert b"".join(response.streaming_content)


def test_a_transcript_is_in_the_language_of_who_asked(client: Client, world: World) -> None:
    """The file is made when the request is over."""
    client.cookies["django_language"] = "ko"
    response = act(client, world.thread, "export", format="html")
    assert b'<html lang="ko">' in b"".join(response.streaming_content)


def test_a_working_memory_is_edited_and_restored(client: Client, world: World) -> None:
    """Each is a new version; a JSON object stays one, as agents with a schema need it."""
    act(client, world.workingmemory, "edit", text_1='{"name": "Kim"}')
    memory = Memory(working_memory={"enabled": True})
    assert memory.get_working_memory(resource_id="r") == '{"name": "Kim"}'
    world.workingmemory.refresh_from_db()
    response = act(client, world.workingmemory, "edit", text_1="no object")
    assert "JSON object" in str(response.context["form"].errors)
    for wrong in ("", "0", "3", "99", "x"):
        response = act(client, world.workingmemory, "restore", version=wrong)
        assert response.context["form"].errors.keys() == {"version"}, wrong
    act(client, world.workingmemory, "restore", version="1")
    assert memory.get_working_memory(resource_id="r") == f"first {MARKER}"
    numbers = world.workingmemory.versions.order_by("number").values_list("number", flat=True)
    assert list(numbers) == [1, 2, 3, 4]


def test_rows_of_another_app_that_hold_a_thread(world: World) -> None:
    """Nothing is deleted, nobody tries again and again, and the act says what holds it."""
    calls = []

    def hold(sender: Any, instance: Any, **kwargs: Any) -> None:
        calls.append(instance)
        raise ProtectedError("held", {world.resource})

    client = staff(READ, "delete_thread", "erase_resource")
    pre_delete.connect(hold, sender=Thread)
    try:
        for row, name, sent in ((world.thread, "delete", {}), (world.resource, "erase", {"typed": "r"})):
            response = act(client, row, name, **sent)
            assert "memory.Resource refers to it" in str(response.context["form"].errors)
    finally:
        pre_delete.disconnect(hold, sender=Thread)
    assert len(calls) == 2
    assert Thread.objects.count() == 2


def test_long_versions_are_neither_read_nor_shown_whole(
    client: Client, world: World, count_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their beginnings are; a version that is restored is the whole of it."""
    row, long = world.workingmemory, "가" * 30_000
    row.versions.filter(number=1).update(value=long)
    monkeypatch.setattr("memory.admin.acts.versions.OFFERED", 1)
    for url in (act_url(row, "restore"), act_url(row, "change")):
        with count_queries() as statements:
            page = client.get(url)
        assert "가" * 20_000 + "\n… (30,000)" in page.text
        assert "가" * 20_001 not in page.text
        own = [statement for statement in statements if 'FROM "memory_workingmemoryversion"' in statement]
        assert own
        # Only as the argument of a function.
        assert not [sql for sql in own if re.search(r'(?<!\()"memory_\w+version"\."value"', sql)]
    assert "cannot be restored here" not in client.get(act_url(row, "restore")).text
    act(client, row, "edit", text_1="third")
    assert "Versions before number 2 are kept" in client.get(act_url(row, "restore")).text
    monkeypatch.undo()
    act(client, row, "restore", version="1")
    row.refresh_from_db()
    assert row.value == long
    assert "가" * 20_001 not in client.get(act_url(row, "change")).text


def test_a_working_memory_of_a_thread(client: Client, world: World) -> None:
    row = world.thread.working_memory
    act(client, row, "edit", text_1="of the thread")
    row.refresh_from_db()
    assert row.value == "of the thread"
    event = AdminEvent.objects.get(action="edit_working_memory")
    assert (event.resource_uid, event.thread_uid) == ("r", "r-0")


def test_jobs_are_tried_again(client: Client, world: World) -> None:
    """From the list, also those that only wait."""
    url = reverse("admin:memory_embeddingjob_changelist")
    keys = list(EmbeddingJob.objects.values_list("pk", flat=True))
    sent = {"action": "retry_listed", "_selected_action": keys}
    assert client.post(url, {**sent, "index": "0"}).status_code == 200
    assert client.post(url, {**sent, "reason": REASON}).status_code == 302
    assert set(EmbeddingJob.objects.values_list("state", "attempts", "error")) == {("open", 0, "")}
    assert AdminEvent.objects.filter(action="retry_embedding").count() == len(keys)


def test_a_job_that_a_worker_holds_is_left_to_it(client: Client, world: World) -> None:
    """Its embedder would be asked twice. A lease that has run out holds nothing."""
    job = world.embeddingjob
    for minutes, action in ((5, []), (-5, ["retry_embedding"])):
        EmbeddingJob.objects.filter(pk=job.pk).update(leased_until=timezone.now() + minutes * MINUTE)
        before = EmbeddingJob.objects.values().get(pk=job.pk)
        act(client, job, "retry")
        assert (EmbeddingJob.objects.values().get(pk=job.pk) == before) == (not action)
        assert list(AdminEvent.objects.values_list("action", flat=True)) == action


def test_a_list_takes_a_number_of_rows(client: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.admin.acts.reembed.RetryEmbedding.max_rows", 1)
    space = world.embeddingjob.space
    EmbeddingJob.objects.create(message=Message.objects.get(uid="r-0-1"), space=space)
    url = reverse("admin:memory_embeddingjob_changelist")
    keys = list(EmbeddingJob.objects.values_list("pk", flat=True))
    response = client.post(url, {"action": "retry_listed", "_selected_action": keys, "index": "0"})
    assert said(response)[-1] == "At most 1 rows at once. Nothing has been changed."
