"""The pictures of docs/admin.md: ``python -m tests.browser.screenshots [FOLDER]``.

They show the conversations of ``manage.py demo`` in a database that is deleted afterwards, on the last
evening of that story, so that what does not change looks the same each time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch
from urllib.parse import quote

from tests.browser.chromium import BrowserUnavailable, chromium
from tests.servers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLDER = ROOT / "docs" / "images" / "admin"
NOW = datetime(2026, 11, 20, 21, tzinfo=UTC)
PASSWORD = "only for the pictures"


class Scene(NamedTuple):
    """What is looked at in a language.

    Attributes:
        language: a code of `LANGUAGES`.
        locale, zone: of the browser.
        word: what is searched.
        message: a hit, at which the conversation opens; also what is redacted.
        query: what is tried out in that conversation.
    """

    language: str
    locale: str
    zone: str
    word: str
    message: str
    query: str


SCENES = (
    Scene("en", "en-GB", "Europe/London", "refund", "demo-maya-refund-06", "When do I get my money back?"),
    Scene("ko", "ko-KR", "Asia/Seoul", "환불", "demo-jiwoo-gym-12", "위약금을 얼마나 내야 하나요?"),
)


def main(arguments: list[str]) -> int:
    """Make the pictures; 1 where that is not possible here."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screenshots", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="default: %(default)s")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as temporary, site(Path(temporary)) as url, chromium() as browser:
            for scene in SCENES:
                for color_scheme in ("light", "dark"):
                    take(browser, url, scene, color_scheme, folder)
    except BrowserUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    pictures = sorted(folder.glob("*.png"))
    total = sum(picture.stat().st_size for picture in pictures)
    sys.stdout.write(f"{len(pictures)} pictures, {total / 1024:.0f} kB, in {folder}\n")
    return 0


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """The bundled site with its demo, served by a thread of this process; its address."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "project.settings.dev",
        "DATABASE_URL": f"sqlite:///{folder / 'pictures.sqlite3'}",
        "OPENAI_API_KEY": "",
    }
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.management import call_command
    from django.db import connections
    from django.test.testcases import LiveServerThread

    with patch("django.utils.timezone.now", lambda: NOW):
        call_command("demo", stdout=StringIO())
        User.objects.create_superuser("mina", password=PASSWORD)
        connections.close_all()
        server: Any = LiveServerThread("localhost", StaticFilesHandler)
        server.daemon = True
        server.start()
        server.is_ready.wait()
        if server.error:
            raise server.error
        try:
            yield f"http://localhost:{server.port}"
        finally:
            server.terminate()


def take(browser: Browser, url: str, scene: Scene, color_scheme: Any, folder: Path) -> None:
    """All pictures of a language and a colour scheme."""
    context = browser.new_context(
        base_url=url,
        locale=scene.locale,
        timezone_id=scene.zone,
        color_scheme=color_scheme,
        viewport={"width": 1280, "height": 800},
    )
    page = context.new_page()
    page.goto("/admin/")
    page.locator("#id_username").fill("mina")
    page.locator("#id_password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.locator("#logout-form").wait_for()

    def picture(name: str) -> None:
        # What a mouse points at looks otherwise.
        page.mouse.move(0, 0)
        path = folder / f"{name}-{scene.language}-{color_scheme}.png"
        page.screenshot(path=path, animations="disabled", caret="hide")

    page.goto("/admin/memory/message/overview/")
    picture("overview")
    page.goto(f"/admin/memory/message/search/?q={quote(scene.word)}")
    picture("search")
    hit = page.locator(f"#content a[href$='message={scene.message}']")
    conversation = str(hit.get_attribute("href"))
    hit.click()
    message = page.locator("article.mem-focus")
    message.wait_for()
    picture("conversation")
    acts(page, "redact")
    picture("redact")
    page.goto(conversation)
    acts(page, "recall")
    page.locator("#id_query").fill(scene.query)
    page.locator(".mem-form button[type=submit]").click()
    page.locator("#mem-hits").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('mem-hits').scrollIntoView()")
    picture("playground")
    context.close()


def acts(page: Page, name: str) -> None:
    """To the page of an act on the message that the conversation was opened at."""
    message = page.locator("article.mem-focus")
    message.locator(".mem-about > summary").click()
    message.locator(f"a[href$='/{name}/']").click()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
