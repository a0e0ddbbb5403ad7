"""What customers and models write is shown, and does nothing (admin.md 2.6)."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from memory.admin import rendering
from memory.admin.parts import FOLDED, MAX_BLOCKS, MAX_SHOWN
from memory.admin.rendering import MAX_MARKDOWN, MAX_PAGE, TextRenderer, plain
from memory.content.controls import visible
from memory.models import Message
from tests.admin import conversation, text_of, transcript
from tests.admin.conftest import VIEW_ALL

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe src=//evil.example></iframe>",
    "<style>body{display:none}</style>",
    "<form action=//evil.example><button>x</button></form>",
    "<details open ontoggle=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#x73;cript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](\tjavascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "[x](/admin/auth/user/1/delete/)",
    "[x](//evil.example/)",
    "[x](?message=x)",
    "[x](#m1)",
    "[x](https:/admin/memory/resource/1/erase/)",
    "[x](http:admin/)",
    "[x](https:\\\\admin/)",
    "[x](https:///admin/)",
    "[x](mailto:/admin/)",
    "<https:/admin/>",
    "[x](\\\\evil.example)",
    "[x]: /admin/logout/\n\n[x]",
    "![x](https://evil.example/pixel.png)",
    "![x](/admin/logout/)",
    "<javascript:alert(1)>",
    "`</code><script>alert(1)</script>`",
    '```"><script>alert(1)</script>\nx\n```',
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
    "# <script>alert(1)</script>",
    "{{ 7|add:7 }}{% url 'admin:index' %}",
]
ALLOWED = rendering.TAGS | {"div"}


class Elements(HTMLParser):
    """The elements of a piece of HTML, and the attributes of each."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def check_inert(html: str) -> None:
    for tag, attributes in Elements(html).found:
        assert tag in ALLOWED
        for name, value in attributes.items():
            assert name in {"href", "rel", "target", "referrerpolicy", "class", "dir", "start"}
            if name == "href":
                assert re.match(r"(https?://|mailto:)", value or "")


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_are_inert(attack: str) -> None:
    for text in (attack, f"before {attack} after", f"> {attack}", f"- {attack}\n- {attack}"):
        check_inert(TextRenderer()(text))
        check_inert(plain(text))


def test_attacks_are_inert_on_the_page(reader: Client) -> None:
    """As text, titles of parts, names of files and tools, arguments, results and metadata."""
    everywhere = "</pre></script><script>alert(1)</script><b onmouseover='x'>\"'"
    call = {"toolCallId": "c", "toolName": everywhere, "args": {everywhere: everywhere}, "state": "call"}
    content = {
        "parts": [
            {"type": "text", "text": everywhere},
            {"type": "reasoning", "reasoning": everywhere},
            {"type": "tool-invocation", "toolInvocation": call},
            {"type": "file", "filename": everywhere, "mediaType": everywhere, "data": everywhere},
            {"type": everywhere, "data": everywhere},
        ],
        "metadata": {everywhere: everywhere},
    }
    thread = conversation("t", [content, *ATTACKS])
    thread.title = everywhere
    thread.save()
    html = text_of(reader.get(transcript(thread)))
    assert "<b onmouseover" not in html
    assert "alert(1)</script>" not in html
    for tag, attributes in Elements(html).found:
        assert tag not in {"svg:script", "iframe", "style", "base", "object", "embed"}
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert tag != "script" or attributes["src"]
        assert tag != "meta" or "http-equiv" not in attributes


def test_markdown_reads_well() -> None:
    html = TextRenderer()("# Title\n\n**bold** ~~gone~~\nnext\n\n| a |\n|---|\n| 1 |\n\n1. one")
    for piece in ("<p><strong>Title</strong></p>", "<strong>bold</strong>", "<br>", "<td>1</td>", "<ol>"):
        assert piece in html
    assert "<h1" not in html


@pytest.mark.parametrize(
    "target", ["http://testserver/admin/", "https://TESTSERVER:8000/", "http://x@testserver/"]
)
def test_no_link_leads_into_the_site(target: str) -> None:
    html = TextRenderer("testserver:80")(f"[out]({target}) [mail](mailto:a@example.org)")
    links = [attributes for tag, attributes in Elements(html).found if tag == "a"]
    assert [link["href"] for link in links if "href" in link] == ["mailto:a@example.org"]
    assert target in html


def test_links_say_where_they_lead() -> None:
    html = TextRenderer()("[your bank](https://evil.example/x) <https://example.org/> [in](/admin/)")
    assert "⟨https://evil.example/x⟩" in html
    assert "⟨https://example.org/⟩" not in html
    assert "[in](/admin/)" in html
    links = [attributes for tag, attributes in Elements(html).found if tag == "a"]
    assert [link.get("href") for link in links] == ["https://evil.example/x", "https://example.org/"]
    assert all("noopener" in (link["rel"] or "") for link in links)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb\u202c", "a⟦RLO⟧b⟦PDF⟧"),
        ("zero\u200bwidth", "zero⟦ZWSP⟧width"),
        ("pay\u200dpal", "pay⟦ZWJ⟧pal"),
        ("\ufeffx", "⟦BOM⟧x"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("ok" + "".join(chr(0xE0000 + ord(letter)) for letter in "obey"), "ok⟦TAGS obey⟧"),
        ("🏴\U000e0067\U000e0062\U000e007f", "🏴\U000e0067\U000e0062\U000e007f"),
        ("bell\x07", "bell⟦U+0007⟧"),
        ("ab\ufe0fc", "ab⟦VS 1⟧c"),
        ("😀\U000e0101\U000e0102", "😀⟦VS 2⟧"),
        ("1\ufe0f\u20e3 ❤\ufe0f ©\ufe0f", "1\ufe0f\u20e3 ❤\ufe0f ©\ufe0f"),
        ("葛\U000e0100城", "葛\U000e0100城"),
        ("김\u3164\u2800", "김⟦HF⟧⟦BLANK⟧"),
        ("two\nlines\tof text", "two\nlines\tof text"),
        ("환불 退款", "환불 退款"),
    ],
)
def test_hiding_characters_are_visible(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert shown.strip().split("\n")[0] in TextRenderer()(text)


@pytest.mark.parametrize(
    "text", ["[" * 20_000, "*" * 20_000, "> " * 5_000, "a" * 1_000_000, "|a" * 5_000, "`" * 9_999], ids=len
)
def test_huge_texts_are_not_rendered(text: str) -> None:
    """Markdown of more than 10,000 characters is shown as it stands."""
    render = TextRenderer()
    html = render(text)
    check_inert(html)
    assert ("mem-plain" in html) == (len(text) > MAX_MARKDOWN)


def test_a_page_renders_only_so_much() -> None:
    render = TextRenderer()
    rendered = ["mem-plain" not in render("x " * (MAX_MARKDOWN // 2)) for _ in range(8)]
    assert rendered == [True] * (MAX_PAGE // MAX_MARKDOWN) + [False] * (8 - MAX_PAGE // MAX_MARKDOWN)


ODD: list[Any] = [
    [],
    "text",
    1,
    {"parts": "x"},
    {"parts": [1, None]},
    {"parts": [{"type": "text", "text": 5}]},
    {"parts": [{"type": []}]},
    {"parts": [{"type": "tool-invocation", "toolInvocation": {"state": ["x"], "toolName": {}}}]},
    {"parts": [{"type": "file", "filename": ["x"], "data": {}}]},
    {"content": ["x"], "metadata": 5},
]


@pytest.mark.parametrize("body", ODD, ids=str)
def test_a_row_of_any_form_leaves_the_page_as_it_is(reader: Client, staff: Any, body: Any) -> None:
    """Callers choose what tools are called with, and other programs may write to the table."""
    thread = conversation("t", ["before", "odd", "after"])
    row = Message.objects.get(uid="t-1")
    QuerySet(Message).filter(pk=row.pk).update(body=body, metadata=5)
    html = text_of(reader.get(transcript(thread)))
    assert "before" in html
    assert "after" in html
    assert reader.get(reverse("admin:memory_message_change", args=[row.pk])).status_code == 200
    editor = staff(*VIEW_ALL, "view_message_content", "edit_message_text")
    assert editor.get(reverse("admin:memory_message_edit-text", args=[row.pk])).status_code in (200, 302)


def test_of_a_message_of_very_many_parts_the_first_are_shown(reader: Client) -> None:
    parts = [{"type": "data-step", "data": number} for number in range(5_000)]
    thread = conversation("t", [{"format": 2, "parts": parts}])
    html = text_of(reader.get(transcript(thread)))
    assert html.count("data-step</bdi>") == MAX_BLOCKS
    assert f"{5_000 - MAX_BLOCKS} more parts." in html


def test_long_messages_are_folded_and_cut(reader: Client) -> None:
    thread = conversation("t", ["s" * FOLDED, "m" * (FOLDED + 1), "l" * 200_000])
    answer = reader.get(transcript(thread))
    blocks = [block for day in answer.context["days"] for entry in day.entries for block in entry.blocks]
    assert [(block.folded, block.cut) for block in blocks] == [(False, 0), (True, 0), (True, 200_000)]
    html = text_of(answer)
    assert "This is the beginning of 200000 characters" in html.replace(",", "")
    assert html.count("l" * 100) <= MAX_SHOWN // 100 + 10


def test_without_the_packages_text_stands_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "nh3", None)
    html = TextRenderer()("**a** <b>\nc")
    assert html == '<div class="mem-text mem-plain" dir="auto">**a** &lt;b&gt;\nc</div>'


@pytest.mark.parametrize(
    ("part", "kind", "state"),
    [
        ({"state": "result", "result": 1}, "tool", ""),
        ({"state": "result", "result": {"isError": True}}, "tool", "failed"),
        ({"state": "output-error", "errorText": "no"}, "tool", "failed"),
        ({"state": "call"}, "tool", "incomplete"),
        ({"state": "partial-call", "args": None}, "tool", "incomplete"),
        ({}, "tool", "incomplete"),
    ],
)
def test_states_of_tool_calls(reader: Client, part: dict[str, Any], kind: str, state: str) -> None:
    call = {"type": "tool-invocation", "toolInvocation": {"toolCallId": "c", "toolName": "pay", **part}}
    thread = conversation("t", [{"parts": [call]}])
    answer = reader.get(transcript(thread))
    (block,) = answer.context["days"][0].entries[0].blocks
    assert (block.kind, block.state, block.label, block.folded) == (kind, state, "pay", True)


@pytest.mark.parametrize(
    "parts",
    [
        [{"type": "tool-invocation"}],
        [{"type": "tool-invocation", "toolInvocation": None}],
        [{"type": "reasoning"}],
        [{"type": "file"}],
        [{"type": "image", "image": {"x": 1}}],
        [{"type": "text", "text": "  "}],
        [{"type": "step-start"}],
        [],
    ],
    ids=str,
)
def test_odd_parts_break_nothing(reader: Client, parts: list[Any]) -> None:
    """Parts of unknown shape are kept (contract, section 1), so they are met here."""
    assert reader.get(transcript(conversation("t", [{"parts": parts}]))).status_code == 200
