"""The admin in a browser: what support staff do, by clicks and keys alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def search(page: Page, words: str) -> None:
    """Type into the search box that stands on the page, and press Enter."""
    page.get_by_label("Search the conversation memory").fill(words)
    page.keyboard.press("Enter")


def focused(page: Page) -> Locator:
    """The message that has the focus."""
    return page.locator("article.mem-message:focus")


def asked_for(page: Page) -> Locator:
    """The message that the conversation was opened at."""
    return page.locator("article.mem-focus")
