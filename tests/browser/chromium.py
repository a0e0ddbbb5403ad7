"""The browser of these tests: Chromium as the system has it, driven by Playwright. Nothing is downloaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:  # the tests are skipped, and say so
    expect = sync_playwright = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["BrowserUnavailable", "chromium", "expect"]

# Names the program, where it is none of these.
VARIABLE = "CHROMIUM"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

OPTIONS = [
    # No other host has an address, whatever asks for it.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    # The same letters on every machine.
    "--font-render-hinting=none",
    "--disable-gpu",
    # Containers have little shared memory.
    "--disable-dev-shm-usage",
]


class BrowserUnavailable(RuntimeError):
    """There is no browser here; the text says what to install."""


def program() -> str:
    """The path of Chromium.

    Raises:
        BrowserUnavailable: there is none.
    """
    names = [os.environ[VARIABLE]] if os.environ.get(VARIABLE) else PROGRAMS
    for name in names:
        if path := shutil.which(name):
            return path
    raise BrowserUnavailable(
        f"There is no program {', '.join(names)}: apt-get install chromium fonts-noto-cjk, or name it in the "
        f"environment variable {VARIABLE}."
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, until the block ends. Meanwhile an event loop runs in this thread.

    Raises:
        BrowserUnavailable: Playwright or Chromium is not installed.
    """
    if sync_playwright is None:
        raise BrowserUnavailable(
            "Playwright is not installed: pip install playwright axe-playwright-python, or the extra [test], "
            "which holds them."
        )
    path = program()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()
