"""The text of a message as safe HTML: Markdown where the packages for it are there, else as it stands.

Whoever writes to an agent writes this text, and staff with rights read it: no HTML of theirs, no images,
no link into this site, and no character that hides something.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from memory.content.controls import visible

try:
    import nh3
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
except ImportError:  # the extra [admin] is not installed
    nh3 = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it.rules_core import StateCore

# Rendering takes a millisecond for about 400 characters, and some texts are much worse.
MAX_MARKDOWN = 10_000
# All messages of a page together; the rest of them is shown as it stands.
MAX_PAGE = 50_000

TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "span", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
URL_CLASS = "mem-url"
# Browsers read `https:/admin/` as an address of the site itself.
ABSOLUTE = re.compile(r"https?://[^/\\]|mailto:[^/\\]", re.IGNORECASE)


class TextRenderer:
    """Renders the texts of one page, with Markdown for as many characters as a page may take.

    Args:
        host: of the site, into which no link leads.
    """

    def __init__(self, host: str = "") -> None:
        self.host = host
        self.left = MAX_PAGE

    def __call__(self, text: str) -> SafeString:
        if nh3 is None or len(text) > min(MAX_MARKDOWN, self.left):
            return plain(text)
        self.left -= len(text)
        return markdown(text, self.host)


def plain(text: str) -> SafeString:
    """Text as it stands, line by line."""
    return format_html('<div class="mem-text mem-plain" dir="auto">{}</div>', visible(text))


def markdown(text: str, host: str = "") -> SafeString:
    """Markdown as HTML without anything active; needs the extra `[admin]`."""
    render, clean = _renderers()
    html = clean(render(visible(text), {"host": host}))
    # Nothing but the tags above has passed the cleaner.
    return format_html('<div class="mem-text" dir="auto">{}</div>', mark_safe(html))  # noqa: S308


@cache
def _renderers() -> tuple[Callable[[str, dict[str, str]], str], Callable[[str], str]]:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"]).disable(["image", "reference"])
    # Else it stays text.
    parser.validateLink = lambda url: bool(ABSOLUTE.match(url))  # type: ignore[method-assign]
    parser.core.ruler.push("memory_targets", _show_targets)
    # Headings of a message are none of the page.
    parser.add_render_rule("heading_open", lambda *_: "<p><strong>")
    parser.add_render_rule("heading_close", lambda *_: "</strong></p>\n")
    cleaner = nh3.Cleaner(
        tags=TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        allowed_classes={"span": {URL_CLASS}},
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank", "referrerpolicy": "no-referrer"}},
    )
    return parser.render, cleaner.clean


def _show_targets(state: StateCore) -> None:
    """Write where a link leads behind it, unless its text is just that; and take links into the site away."""
    for block in state.tokens:
        if block.type != "inline" or not block.children:
            continue
        shown: list[Any] = []
        target, text, is_own = "", "", False
        for token in block.children:
            shown.append(token)
            if token.type == "link_open":
                target, text = str(token.attrGet("href") or ""), ""
                if is_own := _leads_to(target, state.env["host"]):
                    shown.pop()
            elif token.type == "link_close":
                if is_own:
                    shown.pop()
                if target != text:
                    shown += _target_tokens(target)
            else:
                text += token.content
        block.children = shown


def _leads_to(target: str, host: str) -> bool:
    """Whether a link leads to a host, or one cannot tell."""
    try:
        return bool(host) and urlsplit(target).hostname == urlsplit(f"//{host}").hostname
    except ValueError:
        return True


def _target_tokens(target: str) -> list[Any]:
    begin = Token("memory_target_open", "span", 1, attrs={"class": URL_CLASS})
    end = Token("memory_target_close", "span", -1)
    return [begin, Token("text", "", 0, content=f" ⟨{target}⟩"), end]
