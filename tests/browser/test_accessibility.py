"""Issue 5, "It must show": axe-core finds no serious fault on our pages, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import django
import pytest

from memory.models import AdminEvent, Embedding, EmbeddingJob, EmbeddingSpace
from tests.browser.addresses import addresses
from tests.browser.desk import Desk, colleague

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.once]

SERIOUS = ("serious", "critical")
# In the dark only colours are others.
OF_COLOURS = ("color-contrast", "link-in-text-block")
# Breadcrumbs of Django 5.2 tell links from text by their colours alone.
STOCK = ["link-in-text-block"] if django.VERSION < (6, 0) else []

# All of the page, and colours that do not fade into others while they are looked at.
UNFOLDED = """() => {
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    document.body.insertAdjacentHTML("beforeend", "<style>* { transition: none !important }</style>");
}"""

axe = pytest.importorskip(
    "axe_playwright_python.base",
    reason="axe-core is not installed: pip install axe-playwright-python, or the extra [test].",
)


def faults(page: Page, rules: Sequence[str] = ()) -> Iterator[str]:
    """What axe-core, which is in the page, finds there that is serious or worse, and where."""
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if rules:
        options["runOnly"] = list(rules)
    for violation in page.evaluate("async (options) => (await axe.run(options)).violations", options):
        if violation["impact"] in SERIOUS and violation["id"] not in STOCK:
            for node in violation["nodes"]:
                yield f"{violation['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:200]}"


def test_no_page_has_a_serious_fault(sign_in: Callable[..., Page], desk: Desk) -> None:
    # axe-core measures with styles of its own within the page, which the policy forbids.
    page = sign_in(colleague("lead"), bypass_csp=True)
    rows: dict[str, Any] = {
        **desk.rows,
        "resource": desk.jiwoo,
        "embedding": Embedding.objects.first(),
        "embeddingjob": EmbeddingJob.objects.create(
            message=desk.korean, space=EmbeddingSpace.objects.get(), state="failed", error="refused"
        ),
        "embeddingspace": EmbeddingSpace.objects.get(),
        "adminevent": AdminEvent.objects.record("read", resource_id="jiwoo@example.org"),
    }
    found = []
    for name, address in addresses(rows, words="退款").items():
        page.emulate_media(color_scheme="light")
        page.goto(address)
        page.evaluate(UNFOLDED)
        page.evaluate(axe.AXE_SCRIPT)
        found += [f"{name}, light: {fault}" for fault in faults(page)]
        page.emulate_media(color_scheme="dark")
        found += [f"{name}, dark: {fault}" for fault in faults(page, OF_COLOURS)]
    assert not found, "\n".join(found)
