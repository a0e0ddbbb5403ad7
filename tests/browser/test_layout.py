"""Issue 5, point 7: pages in Korean and Chinese, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.addresses import addresses
from tests.browser.desk import Desk, colleague

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.once]

# Acts whose pages have nothing that others have not.
ALIKE = ("delete", "reembed", "clone", "transfer", "move", "thread export")
# By how much the page is wider than the screen, and what reaches furthest.
EXCESS = """() => {
    const root = document.documentElement;
    const excess = root.scrollWidth - root.clientWidth;
    const wide = [...document.querySelectorAll("body *")].filter(
        (element) => excess > 0 && element.getBoundingClientRect().right > root.clientWidth + 1);
    return [excess, wide.slice(0, 3).map((element) => element.outerHTML.slice(0, 120))];
}"""


@pytest.mark.parametrize(("locale", "language"), [("ko-KR", "ko"), ("zh-CN", "zh-hans")])
def test_no_page_is_wider_than_the_screen(
    sign_in: Callable[..., Page], desk: Desk, locale: str, language: str
) -> None:
    page = sign_in(colleague("lead"), locale=locale)
    for name, address in addresses(desk.rows, words="退款").items():
        if name.endswith(ALIKE):
            continue
        page.goto(address)
        assert page.locator("html").get_attribute("lang") == language
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            excess, wide = page.evaluate(EXCESS)
            assert excess <= 0, (name, width, excess, wide)
