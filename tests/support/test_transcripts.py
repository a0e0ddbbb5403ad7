"""Transcripts to read: complete in what was said, inert whatever was said (issue 5, points 2 and 4)."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation
from markdown_it import MarkdownIt

from memory import Memory
from memory.models import Message
from tests.cases import at, message, save

pytestmark = pytest.mark.django_db

memory = Memory()

ATTACKS = [
    "<script>alert(1)</script>",
    "</div></article><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "<!-- <iframe src=//evil.example>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "<https://evil.example>",
    "[a]: https://evil.example\n\n[a]",
    "# Heading\n\nSetext\n======\n\n---\n\n***",
    "> quoted\n\n1. one\n2) two\n- a\n+ b\n* c",
    "```\ncode\n```\n\n    indented\n\n~~~\nx\n~~~",
    "| a | b |\n|---|---|\n| c | d |",
    "&lt;b&gt; &#60;b&#62; \\<b> `<b>`",
    "## 12:00:00 assistant",
    "*a* _b_ ~~c~~ **d** $e$",
]

TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "dl", "dt", "dd"} | {
    *("article", "time", "div", "p", "details", "summary", "pre"),
}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "datetime", "dir", "tabindex"}


class Elements(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.said = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.said += data


def export(format: str, **options: Any) -> str:
    return "".join(memory.export_thread("t", format=format, **options))


@pytest.mark.parametrize("attack", ATTACKS)
def test_html_holds_no_markup_of_others(attack: str) -> None:
    """In texts, titles, data, names of tools and of files."""
    parts = [
        {"type": "text", "text": attack},
        {"type": "file", "filename": attack, "data": "AAAA"},
        {"type": attack, "value": attack},
        {"type": "tool-invocation", "toolInvocation": {"toolName": attack, "args": {attack: attack}}},
    ]
    save(message("m", {"format": 2, "parts": parts}))
    memory.update_thread("t", title=attack)
    page = Elements(export("html", exported_by=attack))
    assert set(page.tags) <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert page.said.count(attack) >= 4
    assert "default-src 'none'" in export("html")


@pytest.mark.parametrize("attack", ATTACKS)
def test_markdown_shows_what_was_said_as_it_was(attack: str) -> None:
    """Rendered, it is one quotation of plain text: no heading, link, image, list, code or HTML."""
    save(message("m", attack))
    memory.update_thread("t", title=attack)
    renderer = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = renderer.parse(export("markdown"))
    kinds = [token.type for token in tokens]
    # The heading of the thread, of the day and of the message, and the list of facts.
    assert kinds.count("heading_open") == 3
    assert kinds.count("bullet_list_open") == 1
    assert kinds.count("blockquote_open") == 1
    assert not {"html_block", "fence", "code_block", "ordered_list_open", "table_open", "hr"} & set(kinds)
    inline = [child.type for token in tokens for child in token.children or []]
    assert set(inline) <= {"text", "text_special", "hardbreak", "softbreak"}
    begin = kinds.index("blockquote_open")
    quoted = [token for token in tokens[begin:] if token.type == "inline"]
    said = "\n".join(
        "".join("\n" if "break" in child.type else child.content for child in token.children or [])
        for token in quoted
    )
    expected = [" ".join(line.split()) for line in attack.split("\n") if line.strip()]
    assert [" ".join(line.split()) for line in said.split("\n")] == expected


def test_a_transcript_by_days_in_a_time_zone() -> None:
    seoul = ZoneInfo("Asia/Seoul")
    save(
        message("m1", "환불해 주세요", created_at=datetime(2026, 3, 1, 14, 59, 59, tzinfo=UTC)),
        message("m2", "네", role="assistant", created_at=datetime(2026, 3, 1, 15, 0, tzinfo=UTC)),
    )
    memory.update_thread("t", title="환불")
    when = datetime(2026, 3, 2, 1, tzinfo=UTC)
    assert export("markdown", zone=seoul, exported_at=when, exported_by="ada") == (
        "# Conversation t\n\n"
        "- Resource: r\n- Title: 환불\n- Time zone: Asia/Seoul\n- Exported: 2026-03-02 10:00:00\n"
        "- Exported by: ada\n\n"
        "## 2026-03-01\n\n### 23:59:59 user\n\n> 환불해 주세요  \n\n"
        "## 2026-03-02\n\n### 00:00:00 assistant\n\n> 네  \n\n"
    )
    page = Elements(export("html", zone=seoul, exported_at=when, exported_by="ada")).said
    for told in ("Asia/Seoul", "2026-03-02 10:00:00", "ada", "2026-03-01", "23:59:59", "환불해 주세요"):
        assert told in page


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_the_parts_of_a_message(format: str) -> None:
    """Tools and data are folded, files are named and not shown, states are told."""
    parts = [
        {"type": "step-start"},
        {"type": "reasoning", "reasoning": "let me think"},
        {"type": "text", "text": "said"},
        {"type": "file", "filename": "invoice.pdf", "data": "QUJD"},
        {"type": "image", "mimeType": "image/png", "image": "QUJD"},
        {"type": "tool-invocation", "toolInvocation": {"toolName": "refund", "args": {"order": 4711}}},
        {"type": "data-large", "data": "x" * 20_000},
    ]
    save(
        message("m1", {"format": 2, "parts": parts}, created_at=at(1)),
        message("m2", {"format": 2, "parts": [], "content": "only here"}, created_at=at(2)),
        message("m3", "secret", created_at=at(3)),
    )
    memory.redact_messages("m3")
    text = export(format)
    for told in ("said", "only here", "invoice.pdf", "Tool: refund", "4711", "let me think", "redacted"):
        assert told in text
    assert "image/png" in text.replace("\\", "")
    for hidden in ("QUJD", "secret", "step-start", "x" * 10_001):
        assert hidden not in text


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_what_cannot_be_seen_is_shown(format: str) -> None:
    save(message("m", "safe\u202egnp.exe \u200bzero \u2066iso \ufeff"), resource="r\u202e")
    text = export(format).replace("\\", "")
    for told in ("safe⟦RLO⟧gnp.exe", "⟦ZWSP⟧zero", "⟦LRI⟧iso", "⟦BOM⟧", "r⟦RLO⟧"):
        assert told in text
    assert not set("\u202e\u200b\u2066\ufeff") & set(text)


@pytest.mark.parametrize("zone", ["Asia/Seoul", "America/Los_Angeles"])
def test_dates_at_the_ends_of_the_calendar(zone: str) -> None:
    save(message("m1", created_at="0001-01-03T00:00:00Z"), message("m2", created_at="9999-12-29T00:00:00Z"))
    for format in ("markdown", "html"):
        text = export(format, zone=ZoneInfo(zone))
        assert "9999-12-" in text
        assert "0001-01-0" in text


def test_all_threads_of_an_owner() -> None:
    save(message("m1"), message("m2", thread="u"))
    text = "".join(memory.export_resource("r", format="markdown"))
    assert [line for line in text.split("\n") if line.startswith("# ")] == [
        "# Conversation t",
        "# Conversation u",
    ]
    page = "".join(memory.export_resource("r", format="html"))
    assert (page.count("<!doctype html>"), page.count("</html>"), page.count("<h1")) == (1, 1, 2)


def test_in_the_language_of_the_reader() -> None:
    save(message("m"))
    with translation.override("ko"):
        assert '<html lang="ko">' in export("html")
    assert Message.objects.get().text == "m"
