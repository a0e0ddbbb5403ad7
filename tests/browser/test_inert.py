"""Issue 5, points 2 and "It must show": what customers write is text, wherever staff meet it.

The watch over all pages fails a test for a dialog, a script, a blocked script and a request to elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse

from memory import Memory
from memory.models import AdminEvent, Message, Resource, Thread, WorkingMemory
from tests.browser import asked_for
from tests.browser.addresses import addresses
from tests.browser.chromium import expect
from tests.browser.desk import colleague
from tests.cases import at

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.once]

SCRIPT = "<script>alert(1)</script>"
HANDLER = """"><img src=x onerror=alert(2)><svg onload='alert(3)'>"""
# A file whose name seems to end in txt.
TURNED, SHOWN = "invoice\u202etxt.exe", "invoice⟦RLO⟧txt.exe"
EVIL = f"{SCRIPT}{HANDLER}{TURNED}"
VISIBLE = f"{SCRIPT}{HANDLER}{SHOWN}"
LINKS = """[run](javascript:alert(4)) [encoded](java&#115;cript:alert(5))
[data](data:text/html,<script>alert(6)</script>)
[delete](/admin/memory/thread/) [up](../../../) [other host](//example.net/x) [query](?position=first)
<javascript:alert(7)> <a href="javascript:alert(8)" onclick="alert(9)">html</a> [mark](#content)
![picture](http://example.net/p.png)"""
# Those that a browser would follow within the site, or on another host by the scheme of the page.
RELATIVE = ["[delete](/admin/memory/thread/)", "[up](../../../)", "[other host](//example.net/x)"]


@pytest.fixture
def evil(live_server: Any) -> dict[str, Any]:
    """Rows with such texts in whatever others than the site can write, ids included."""
    memory = Memory(working_memory={"enabled": True})
    owner, thread = f"r{EVIL}", f"t{EVIL}"
    for value in (f"first {EVIL}", EVIL):
        memory.update_working_memory(value, resource_id=owner)
    Resource.objects.update_resource(owner, metadata={EVIL: EVIL})
    memory.create_thread(owner, thread_id=thread, title=EVIL, metadata={EVIL: EVIL})
    call = {"toolCallId": "c", "toolName": EVIL, "args": {EVIL: EVIL}, "state": "result", "result": EVIL}
    parts = [
        {"type": "text", "text": f"{EVIL}\n\n{LINKS}"},
        {"type": "reasoning", "reasoning": EVIL},
        {"type": "tool-invocation", "toolInvocation": call},
        {"type": "file", "filename": EVIL, "mediaType": EVIL, "url": "javascript:alert(10)"},
        {"type": "data-note", "data": {EVIL: EVIL}},
    ]
    content = {"format": 2, "parts": parts, "metadata": {EVIL: EVIL}}
    named: Any = {"thread_id": thread, "role": "user", "created_at": at(0)}
    (message,) = memory.save_messages([{**named, "id": f"m{EVIL}", "content": content}], resource_id=owner)
    AdminEvent.objects.record(
        "read", resource_id=owner, thread_id=thread, message_id=message.uid, reason=EVIL
    )
    return {
        "resource": Resource.objects.get(),
        "thread": Thread.objects.get(),
        "message": message,
        "workingmemory": WorkingMemory.objects.get(),
        "adminevent": AdminEvent.objects.get(),
    }


def test_no_page_runs_or_hides_what_customers_wrote(
    sign_in: Callable[..., Page], evil: dict[str, Any]
) -> None:
    """On every page, with everything unfolded: the texts stand there letter by letter, with the names of
    the characters that would turn them."""
    page = sign_in(colleague("lead"))
    history = {"history": reverse("admin:memory_thread_history", args=[evil["thread"].pk])}
    for name, address in (addresses(evil, words=EVIL) | history).items():
        page.goto(address)
        page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
        text = page.locator("body").inner_text()
        assert TURNED not in text, name
        assert TURNED not in page.title(), name
        assert name == "index" or VISIBLE in " ".join(text.split()), name


def test_links_in_messages_lead_nowhere_here(sign_in: Callable[..., Page], evil: dict[str, Any]) -> None:
    """Neither scripts nor addresses of this site are links; a click on them does nothing."""
    page = sign_in(colleague("lead"))
    page.goto(addresses(evil)["conversation at a message"])
    message = asked_for(page)
    body = message.locator(".mem-text").first
    expect(body).to_contain_text("<javascript:alert(7)>")
    expect(body).to_contain_text('<a href="javascript:alert(8)" onclick="alert(9)">html</a>')
    links = body.locator("a[href]").evaluate_all("links => links.map(link => [link.href, link.rel])")
    assert links == [["http://example.net/p.png", "noopener noreferrer nofollow"]]
    assert message.locator("img, svg, script, iframe, form").count() == 0
    before = page.url
    for source in RELATIVE:
        body.get_by_text(source).first.click()
    assert page.url == before
    assert Message.objects.count() == 1
