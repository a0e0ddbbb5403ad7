"""Issue 5, point 7: everything can be done by keyboard, and what has the focus can be seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

from tests.browser import asked_for, search
from tests.browser.addresses import addresses
from tests.browser.chromium import expect
from tests.browser.desk import Desk, colleague

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.once]

# Elements of the page's main part that do something, apart from what is folded away or unseen.
ACTIVE = """() => [...document.querySelectorAll(
    "#content a[href], #content button, #content input:not([type=hidden]), #content select, "
    + "#content textarea, #content summary, #content pre[tabindex]"
)].filter((element) => element.checkVisibility({visibilityProperty: true}))"""
# The place in ACTIVE of what has the focus.
PLACE = f"() => ({ACTIVE})().indexOf(document.activeElement)"
# Whether what has the focus is on the screen, and looks otherwise than without.
IS_SEEN = """() => {
    const element = document.activeElement;
    const look = () => {
        const style = getComputedStyle(element);
        return [style.outline, style.boxShadow, style.border, style.backgroundColor, style.color,
            style.textDecoration].join();
    };
    const focused = look();
    element.blur();
    const plain = look();
    element.focus();
    const box = element.getBoundingClientRect();
    return focused !== plain && box.bottom > 0 && box.top < innerHeight;
}"""


def walk(page: Page) -> None:
    """Tab through a page: every active element comes once, in the order of the page, and shows its focus."""
    total = page.evaluate(f"() => ({ACTIVE})().length")
    # Tab goes on from where the page has scrolled to.
    page.locator(".skip-to-content-link").focus()
    reached: list[int] = []
    # Before and after come those of the frame around; a date has several stops.
    for _ in range(2 * total + 60):
        page.keyboard.press("Tab")
        place = page.evaluate(PLACE)
        if place < 0 and reached:
            break
        if place >= 0 and place not in reached:
            assert page.evaluate(IS_SEEN), (page.url, place)
            reached.append(place)
    # Of the radio buttons of a group, Tab reaches one.
    radios = page.evaluate(f"() => ({ACTIVE})().map((element) => element.type === 'radio')")
    missing = [place for place in range(total) if place not in reached and not radios[place]]
    assert not missing, (page.url, missing)
    assert reached == sorted(reached), page.url


@pytest.mark.parametrize(
    ("color_scheme", "names"),
    [
        (
            "light",
            ("search", "thread list", "conversation", "workingmemory restore", "resource erase", "overview"),
        ),
        ("dark", ("conversation", "playground of a thread", "message redact")),
    ],
)
def test_tab_reaches_whatever_does_something(
    sign_in: Callable[..., Page], desk: Desk, color_scheme: str, names: Sequence[str]
) -> None:
    page = sign_in(colleague("lead"), color_scheme=color_scheme)
    found = addresses(desk.rows, words="退款")
    for name in names:
        page.goto(found[name])
        walk(page)


def test_a_message_is_redacted_without_a_mouse(page: Page, desk: Desk) -> None:
    """Tab, Enter and Space alone, from the conversation to the tombstone."""
    search(page, "退款")
    page.get_by_role("region", name="Messages").get_by_role("link", name="退款").press("Enter")
    expect(asked_for(page)).to_be_focused()
    tab_to(page, "About this message")
    page.keyboard.press("Enter")
    tab_to(page, "Redact")
    page.keyboard.press("Enter")
    page.wait_for_url("**/redact/")
    tab_to(page, "reason")
    page.keyboard.type("ticket 4711")
    tab_to(page, "Redact for good")
    page.keyboard.press("Space")
    expect(asked_for(page)).to_contain_text("Redacted: nothing of what it said is left here")


def tab_to(page: Page, what: str) -> None:
    """Press Tab until an element with this text, or a field with this name, has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        at = "() => (document.activeElement.name || document.activeElement.innerText || '').trim()"
        if page.evaluate(at) == what:
            return
    raise AssertionError(f"Tab does not reach {what!r} on {page.url}")
