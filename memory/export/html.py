"""A transcript as one HTML file that loads nothing and runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from memory.content.controls import visible
from memory.content.dates import exact_date
from memory.export.transcript import Block, Transcript

if TYPE_CHECKING:
    from memory.schema import Message, Thread

STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
article { border-inline-start: .25rem solid #8888; padding-inline-start: 1rem; margin-block: 1rem; }
article.user { border-color: #2a7ab9; }
h3 { font-size: 1rem; margin: 0; }
time, dt, .note { opacity: .75; font-weight: normal; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.text, pre { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; margin: .25rem 0; }
"""


class HTML(Transcript):
    def head(self) -> str:
        # The policy holds where the file is opened from a disk, too.
        return format_html(
            '<!doctype html>\n<html lang="{}">\n<head>\n<meta charset="utf-8">\n'
            """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; """
            """style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">\n"""
            '<meta name="viewport" content="width=device-width">\n'
            '<meta name="referrer" content="no-referrer">\n'
            "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
            get_language() or "en",
            visible(self.heading.uid),
            SafeString(STYLE),
        )

    def thread(self, thread: Thread) -> str:
        return format_html(
            '<h1 dir="auto">{}</h1>\n<dl>\n{}</dl>\n',
            self.begin(thread),
            format_html_join("", '<dt>{}</dt><dd dir="auto">{}</dd>\n', self.facts(thread)),
        )

    def message(self, message: Message) -> str:
        day = self.new_day(message)
        return format_html(
            '{}<article class="{}">\n<h3>{} <time datetime="{}">{}</time></h3>\n{}</article>\n',
            format_html("<h2>{}</h2>\n", day) if day else "",
            message.role,
            message.get_role_display(),
            exact_date(message.created_at),
            f"{message.created_at.astimezone(self.heading.zone):%H:%M:%S}",
            format_html_join("", "{}", ((_element(block),) for block in self.blocks(message))),
        )

    def foot(self) -> str:
        return "</body>\n</html>\n"


def _element(block: Block) -> SafeString:
    if not block.label:
        return format_html('<div class="text" dir="auto">{}</div>\n', block.text)
    if not block.text:
        return format_html('<p class="note" dir="auto">{}</p>\n', block.label)
    return format_html(
        '<details><summary dir="auto">{}</summary><pre tabindex="0">{}</pre></details>\n',
        block.label,
        block.text,
    )
