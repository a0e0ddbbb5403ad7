"""One browser for all tests of this folder, a context for each test, and a watch over all their pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from tests.browser.chromium import BrowserUnavailable, chromium
from tests.browser.desk import RIGHTS, Desk, colleague, make_desk
from tests.browser.watch import Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page
    from pytest_django.live_server_helper import LiveServer

# Milliseconds until an expectation has failed.
PATIENCE = 10_000


@pytest.fixture(scope="session")
def live_server(django_db_setup: None, live_server: LiveServer) -> LiveServer:
    """The site, in threads of this process: after the test database is there, as before that Django takes
    SQLite for one in memory, and the threads would share a single connection."""
    return live_server


# Not for the session: the loop that Playwright runs in this thread is none of the other tests' business.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with pytest.MonkeyPatch.context() as patch:
        # Tests make their rows in the thread in which that loop runs, and between its steps.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        try:
            with chromium() as started:
                yield started
        except BrowserUnavailable as error:
            pytest.skip(str(error))


@pytest.fixture
def new_context(browser: Browser, live_server: LiveServer) -> Iterator[Callable[..., BrowserContext]]:
    """`new_context(color_scheme="dark", ...)`: a browser of its own, whose pages are watched."""
    watched: list[tuple[BrowserContext, Watch]] = []

    def make(**options: Any) -> BrowserContext:
        usual = {
            "base_url": live_server.url,
            "locale": "en-US",
            "timezone_id": "Asia/Seoul",
            "viewport": {"width": 1280, "height": 800},
        }
        context = browser.new_context(**{**usual, **options})
        context.set_default_timeout(PATIENCE)
        watched.append((context, Watch(context, live_server.url)))
        return context

    yield make
    for context, _watch in watched:
        context.close()
    faults = [fault for _context, watch in watched for fault in watch.faults]
    assert not faults, "\n".join(faults)


@pytest.fixture
def sign_in(new_context: Callable[..., BrowserContext], live_server: LiveServer) -> Callable[..., Page]:
    """`sign_in(user, locale="ko-KR", ...)`: a page, still empty, of a user who has logged in before."""

    def enter(user: User, **options: Any) -> Page:
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        context = new_context(**options)
        context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])
        return context.new_page()

    return enter


@pytest.fixture
def desk(live_server: LiveServer) -> Desk:
    """The customers."""
    return make_desk()


@pytest.fixture
def busy_desk(live_server: LiveServer) -> Desk:
    """The customers, of whom one has written 170 messages, which are four pages; number 60 asks for money."""
    return make_desk(before=60, after=109)


@pytest.fixture
def support(live_server: LiveServer) -> User:
    """Somebody who may do what these tests do, and nothing else."""
    return colleague("mina", RIGHTS)


@pytest.fixture
def page(sign_in: Callable[..., Page], support: User) -> Page:
    """The index of the app, as the support person sees it."""
    page = sign_in(support)
    page.goto("/admin/memory/")
    return page
