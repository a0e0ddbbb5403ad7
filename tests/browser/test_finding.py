"""Issue 5, points 1 and 2: a support person finds a customer by a word, and reads the conversation there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User

from tests.browser import focused, search
from tests.browser.chromium import expect
from tests.browser.desk import CHINESE, KOREAN, PASSWORD, Desk

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("word", "customer", "text"),
    [("환불", "jiwoo@example.org", KOREAN), ("退款", "wei@example.org", CHINESE)],
)
def test_a_two_character_word_leads_to_the_customer_and_to_the_message(
    new_context: Callable[..., BrowserContext],
    busy_desk: Desk,
    support: User,
    word: str,
    customer: str,
    text: str,
) -> None:
    """From the form to log in: the conversation opens at the hit, which is marked, focused and on screen."""
    page = new_context().new_page()
    page.goto("/admin/")
    page.get_by_label("Username").fill(support.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Conversation memory").first.click()
    search(page, word)

    found = page.get_by_role("region", name="Messages").get_by_role("listitem")
    expect(found).to_have_count(1)
    expect(found).to_contain_text(customer)
    expect(found.locator("mark")).to_have_text(word)
    found.get_by_role("link").click()

    message = focused(page)
    expect(message).to_contain_text(text)
    expect(message).to_be_in_viewport(ratio=1)
    expect(message.get_by_text("(the message that was asked for)")).to_be_attached()
    page.get_by_role("link", name=customer).click()
    expect(page.get_by_role("heading", name="Latest conversations")).to_be_visible()


def test_a_title_and_an_id_lead_to_the_conversation(page: Page, busy_desk: Desk) -> None:
    """A conversation that was asked for as a whole opens at its end."""
    search(page, "注销账号")
    page.get_by_role("region", name="Conversations").get_by_role("link", name="account-wei").click()
    expect(page.get_by_role("article").last).to_be_in_viewport()
    search(page, "order-4711")
    page.get_by_role("region", name="Conversations").get_by_role("link", name="order-4711").click()
    expect(page.locator(".mem-head")).to_contain_text("전액환불")
    expect(page.get_by_role("article").last).to_contain_text("배송은 언제 오나요? 169")
    expect(page.get_by_role("article").last).to_be_in_viewport()


@pytest.fixture
def transcript(page: Page, busy_desk: Desk) -> Page:
    """The conversation of 170 messages, open at number 60."""
    page.goto(f"/admin/memory/thread/{busy_desk.order.pk}/transcript/?message={busy_desk.korean.uid}")
    expect(focused(page)).to_have_attribute("id", f"m{busy_desk.korean.pk}")
    # Also where the browser has just told its time zone, and the page was asked for again.
    expect(focused(page)).to_be_in_viewport(ratio=1)
    return page


def test_keys_go_from_message_to_message_and_turn_the_pages(transcript: Page) -> None:
    """`j` and `k`: what is focused is on the screen; `o` and `n`: up to both ends, without a gap."""
    for key, number in (("j", 61), ("j", 62), ("k", 61), ("k", 60), ("k", 59)):
        transcript.keyboard.press(key)
        expect(focused(transcript)).to_contain_text(KOREAN if number == 60 else f"? {number}")
        expect(focused(transcript)).to_be_in_viewport(ratio=1)

    articles = transcript.get_by_role("article")
    expect(articles.first).to_contain_text("? 35")
    with transcript.expect_navigation():
        transcript.keyboard.press("o")
    expect(articles.last).to_contain_text("? 34")
    expect(articles.last).to_be_in_viewport()
    expect(transcript.get_by_text("This is the beginning.").first).to_be_visible()
    for first in (35, 85, 135):
        with transcript.expect_navigation():
            transcript.keyboard.press("n")
        expect(articles.first).to_contain_text(f"? {first}")
    expect(articles.last).to_contain_text("? 169")
    expect(transcript.get_by_text("This is the end.").first).to_be_visible()


def test_the_list_of_keys(transcript: Page) -> None:
    """`?` opens it, Escape closes it, and there the keys are switched off and on for good."""
    sheet = transcript.get_by_role("dialog", name="Keys")
    transcript.keyboard.press("?")
    expect(sheet).to_be_visible()
    for key in "jkonp/?":
        expect(sheet.locator("kbd", has_text=key)).to_be_visible()
    transcript.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

    transcript.get_by_role("button", name="Keys").click()
    sheet.get_by_label("Switch these keys off").check()
    sheet.get_by_role("button", name="Close").click()
    before = transcript.url
    transcript.reload()
    transcript.keyboard.press("j")
    transcript.keyboard.press("o")
    expect(focused(transcript)).to_contain_text(KOREAN)
    assert transcript.url == before
    transcript.get_by_role("button", name="Keys").click()
    sheet.get_by_label("Switch these keys off").uncheck()
    transcript.keyboard.press("Escape")
    transcript.keyboard.press("/")
    # A letter that is typed is no key.
    transcript.keyboard.type("jo")
    expect(transcript.get_by_label("Search the conversation memory")).to_have_value("jo")


def test_a_date_is_a_day_of_the_viewer(transcript: Page) -> None:
    """Days begin at midnight in Seoul, which the browser has told the site."""
    expect(transcript.locator("[data-mem-zone]")).to_have_text("Asia/Seoul")
    transcript.get_by_label("Go to a date").fill("2026-03-05")
    transcript.get_by_role("button", name="Go").click()
    message = focused(transcript)
    expect(message).to_contain_text("? 72")
    expect(message.locator("time")).to_have_text("00:00:00")
    expect(message).to_be_in_viewport(ratio=1)
    expect(transcript.get_by_role("heading", name="March 5, 2026")).to_be_visible()


def test_the_permalink_of_a_message_opens_it_anywhere(transcript: Page, busy_desk: Desk) -> None:
    """`p` and the time of a message: an address that another tab opens at the message."""
    for _ in range(3):
        transcript.keyboard.press("j")
    expect(focused(transcript)).to_contain_text("? 63")
    with transcript.expect_navigation():
        transcript.keyboard.press("p")
    assert transcript.url.endswith(f"/{busy_desk.order.pk}/transcript/?message=order-4711-63")
    expect(focused(transcript)).to_contain_text("? 63")

    transcript.get_by_role("article").nth(40).locator("[data-mem-permalink]").click()
    expect(focused(transcript)).to_contain_text("? 78")
    other = transcript.context.new_page()
    other.goto(transcript.url)
    expect(focused(other)).to_contain_text("? 78")
    expect(focused(other)).to_be_in_viewport(ratio=1)
