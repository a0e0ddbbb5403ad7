"""Issue 5, points 3 and 4: what a support person does about a conversation, by clicks and keys alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.models import AdminEvent, Message, Resource, Thread
from tests.browser import asked_for, focused, search
from tests.browser.chromium import expect
from tests.browser.desk import FIRST_NOTE, KOREAN, NOTE, Desk

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

REASON = "ticket 4711"


def found(page: Page, words: str) -> Locator:
    """The messages that a search finds."""
    search(page, words)
    return page.get_by_role("region", name="Messages").get_by_role("listitem")


def give_reason(page: Page) -> None:
    page.get_by_label("Reason").fill(REASON)


def test_recall_is_tried_out(page: Page, desk: Desk) -> None:
    """From a message: what recalls it, and the prompt an agent would send; then with words of one's own."""
    found(page, "환불").get_by_role("link").click()
    message = asked_for(page)
    message.get_by_text("About this message").click()
    message.get_by_role("link", name="What recalls this?").click()

    query = page.get_by_label("What the user says")
    expect(query).to_have_value(KOREAN)
    hit = page.get_by_role("region", name="Hits").locator(".mem-hit")
    expect(hit.first).to_contain_text(KOREAN)
    query.fill("A-4711")
    page.get_by_label("Most hits").fill("1")
    page.get_by_label("Neighbours before a hit").fill("1")
    page.get_by_label("Neighbours after a hit").fill("0")
    page.get_by_role("button", name="Try it").click()

    expect(page.get_by_role("region", name="Hits")).to_contain_text(
        "Hits: at most 1. Messages around each: 1 before it, 0 after it."
    )
    window = page.get_by_role("region", name="Hits").locator(".mem-window > li")
    expect(window).to_have_count(2)
    prompt = page.get_by_role("region", name="The prompt")
    expect(prompt).to_contain_text(KOREAN)
    expect(prompt.locator(".mem-window > li").last).to_contain_text("A-4711")
    prompt.get_by_text("The prompt as JSON").click()
    expect(prompt.locator(".mem-prompt")).to_contain_text('"role": "user"')
    hit.get_by_role("link", name=KOREAN).click()
    expect(focused(page)).to_contain_text(KOREAN)


def test_a_message_is_redacted(page: Page, desk: Desk) -> None:
    """With a reason, after a page that says what will happen, and with its copy and its title: a tombstone
    stays, and no search finds the word any more."""
    Memory().clone_thread(desk.account.uid, new_thread_id="copy")
    Memory().update_thread(desk.account.uid, title="我要退款，请注销我的账号")
    hits = found(page, "退款")
    expect(hits).to_have_count(2)
    hits.filter(has_text="account-wei").get_by_role("link").click()
    message = asked_for(page)
    message.get_by_text("About this message").click()
    message.get_by_role("link", name="Redact").click()

    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    expect(page.get_by_role("region", name="Copies of it")).to_contain_text("copy")
    page.get_by_role("button", name="Redact for good").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing has been changed.")
    expect(page.get_by_label("Redact the copies in other threads too")).to_be_checked()
    expect(page.get_by_label("Empty the titles that show a piece of it")).to_be_checked()
    give_reason(page)
    page.get_by_role("button", name="Redact for good").click()

    expect(page.get_by_text("2 messages redacted.")).to_be_visible()
    tombstone = focused(page)
    expect(tombstone).to_contain_text("Redacted: nothing of what it said is left here")
    expect(tombstone).not_to_contain_text("退款")
    expect(page.get_by_role("link", name="Redact", exact=True)).to_have_count(0)
    expect(found(page, "退款")).to_have_count(0)
    expect(page.get_by_role("region", name="Conversations")).to_contain_text("None.")
    assert not Message.objects.filter(text__contains="退款").exists()
    assert set(AdminEvent.objects.values_list("reason", "actor_name")) == {(REASON, "mina")}


def test_a_working_memory_is_edited_and_restored(page: Page, desk: Desk) -> None:
    page.locator("#content-main").get_by_role("link", name="Working memories").first.click()
    page.locator("#result_list").get_by_role("link").first.click()
    expect(page.locator(".field-shown_value")).to_contain_text(NOTE)
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Value").fill("Speaks Korean.")
    give_reason(page)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".field-shown_value")).to_contain_text("Speaks Korean.")

    page.get_by_role("link", name="Restore a version").click()
    page.get_by_text("1 · ").first.click()
    expect(page.get_by_role("region", name="Earlier versions")).to_contain_text(FIRST_NOTE)
    page.get_by_role("radio", name="1 · ").check()
    give_reason(page)
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Version 1 was restored.")).to_be_visible()
    expect(page.locator(".field-shown_value")).to_contain_text(FIRST_NOTE)
    assert list(desk.note.versions.order_by("number").values_list("value", flat=True)) == [
        FIRST_NOTE,
        NOTE,
        "Speaks Korean.",
        FIRST_NOTE,
    ]


def download(page: Page, kind: str) -> str:
    """The file that the page of an export sends."""
    page.get_by_label(kind).check()
    give_reason(page)
    with page.expect_download() as started:
        page.get_by_role("button", name="Download").click()
    path: Path = started.value.path()
    return path.read_text(encoding="utf-8")


def test_an_owner_is_exported_and_erased(page: Page, busy_desk: Desk) -> None:
    """The files are complete; the receipt counts what is gone, and the customer is found no more."""
    search(page, busy_desk.jiwoo.uid)
    page.get_by_role("region", name="Resources").get_by_role("link", name=busy_desk.jiwoo.uid).click()
    page.get_by_role("link", name="Export").click()
    lines: list[dict[str, Any]] = [json.loads(line) for line in download(page, "JSON Lines").splitlines()]
    kinds = [line["kind"] for line in lines]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "header": 1,
        "resource": 1,
        "workingMemory": 1,
        "workingMemoryVersion": 2,
        "thread": 1,
        "message": 170,
    }
    said = [line for line in lines if line["kind"] == "message"]
    assert [line["id"] for line in said] == [f"order-4711-{number}" for number in range(170)]
    assert KOREAN in json.dumps(said[60], ensure_ascii=False)
    for kind, ending in (("Markdown", "# "), ("HTML", "<!doctype html>")):
        text = download(page, kind)
        assert ending in text[:200]
        assert KOREAN in text
        assert "배송은 언제 오나요? 169" in text

    page.get_by_role("link", name=busy_desk.jiwoo.uid).click()
    page.get_by_role("link", name="Erase").click()
    page.get_by_label("Type the id of the resource to confirm").fill("somebody else")
    give_reason(page)
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_text("This is not the id of the resource.")).to_be_visible()
    page.get_by_label("Type the id of the resource to confirm").fill(busy_desk.jiwoo.uid)
    page.get_by_role("button", name="Erase for good").click()

    expect(page.get_by_role("heading", name="Receipt of an erasure")).to_be_visible()
    receipt = page.get_by_role("table", name="What was erased")
    for label, count in (("Messages", "170"), ("Threads", "1"), ("Versions of working memories", "2")):
        row = receipt.get_by_role("row").filter(has=page.get_by_role("rowheader", name=label, exact=True))
        expect(row.get_by_role("cell")).to_have_text(count)
    page.get_by_role("link", name="Back to the resources").click()
    expect(page.locator("#result_list")).not_to_contain_text(busy_desk.jiwoo.uid)
    expect(page.locator("#result_list")).to_contain_text(busy_desk.wei.uid)
    assert not Resource.objects.filter(uid=busy_desk.jiwoo.uid).exists()
    assert list(Thread.objects.values_list("uid", flat=True)) == [busy_desk.account.uid]
