"""The text of a message as safe HTML: Markdown where the packages for it are there, else as it stands.

Whoever writes to an agent writes this text, and staff with rights read it: no HTML of theirs, no images,
no link into this site, and no character that hides something.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

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


class TextRenderer:
    """Renders the texts of one page, with Markdown for as many characters as a page may take."""

    def __init__(self) -> None:
        self.left = MAX_PAGE

    def __call__(self, text: str) -> SafeString:
        if nh3 is None or len(text) > min(MAX_MARKDOWN, self.left):
            return plain(text)
        self.left -= len(text)
        return markdown(text)


def plain(text: str) -> SafeString:
    """Text as it stands, line by line."""
    return format_html('<div class="mem-text mem-plain" dir="auto">{}</div>', visible(text))


def markdown(text: str) -> SafeString:
    """Markdown as HTML without anything active; needs the extra `[admin]`."""
    render, clean = _renderers()
    html = clean(render(visible(text)))
    # Nothing but the tags above has passed the cleaner.
    return format_html('<div class="mem-text" dir="auto">{}</div>', mark_safe(html))  # noqa: S308


@cache
def _renderers() -> tuple[Callable[[str], str], Callable[[str], str]]:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"]).disable(["image", "reference"])
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
    """Write where a link leads behind it, unless its text is just that."""
    for block in state.tokens:
        if block.type != "inline" or not block.children:
            continue
        shown: list[Any] = []
        target, text = "", ""
        for token in block.children:
            shown.append(token)
            if token.type == "link_open":
                target, text = str(token.attrGet("href") or ""), ""
            elif token.type == "link_close":
                if target != text:
                    shown += _target_tokens(target)
            else:
                text += token.content
        block.children = shown


def _target_tokens(target: str) -> list[Any]:
    begin = Token("memory_target_open", "span", 1, attrs={"class": URL_CLASS})
    end = Token("memory_target_close", "span", -1)
    return [begin, Token("text", "", 0, content=f" ⟨{target}⟩"), end]
