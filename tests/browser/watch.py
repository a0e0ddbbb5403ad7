"""What must not happen on any page, whatever a test looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Request, Response, WebError

POLICY = "default-src 'self'"


class Watch:
    """Notes what goes wrong in the pages of a context: the console is silent, no script opens a dialog, no
    request leaves the site, and every page has the policy that browsers hold it to.

    Args:
        context: whose pages are watched.
        site: the address of the site.

    Attributes:
        faults: what was seen.
    """

    def __init__(self, context: BrowserContext, site: str) -> None:
        self.site = f"{site}/"
        self.faults: list[str] = []
        # What breaks the policy is told here too.
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("dialog", self._dialog)
        context.on("request", self._request)
        context.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        self.faults.append(f"console: {message.type}: {message.text}")

    def _error(self, error: WebError) -> None:
        self.faults.append(f"script: {error.error}")

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith(self.site):
            self.faults.append(f"request: {request.url}")

    def _response(self, response: Response) -> None:
        if response.request.resource_type == "document":
            policy = response.headers.get("content-security-policy", "")
            if POLICY not in policy.split("; "):
                self.faults.append(f"policy: {response.url}: {policy!r}")
