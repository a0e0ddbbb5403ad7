"""A transcript as Markdown, in which nothing that was said is markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memory.export.transcript import Block, Transcript

if TYPE_CHECKING:
    from memory.schema import Message, Thread

_SIGNS = re.compile(r"([\\`*_\[\]<>&~|#$])")
# What begins a list, a heading or a rule at the beginning of a line.
_BEGINNING = re.compile(r"^([-+=]|\d+(?=[.)]))")
_INDENT = re.compile(r"^[ \t]+")


class Markdown(Transcript):
    def head(self) -> str:
        return ""

    def thread(self, thread: Thread) -> str:
        title = self.begin(thread)
        facts = "".join(f"- {_escaped(name)}: {_inline(value)}\n" for name, value in self.facts(thread))
        return f"# {_inline(title)}\n\n{facts}\n"

    def message(self, message: Message) -> str:
        day = self.new_day(message)
        time = message.created_at.astimezone(self.heading.zone)
        lines = [f"## {day}", ""] if day else []
        lines += [f"### {time:%H:%M:%S} {_inline(str(message.get_role_display()))}", ""]
        for block in self.blocks(message):
            lines += [*(f"> {line}" if line else ">" for line in _lines(block)), ""]
        return "\n".join(lines) + "\n"


def _lines(block: Block) -> list[str]:
    """A block, by lines that stand in a quotation."""
    if not block.label:
        # Two spaces at the end keep the break of the line.
        lines = [_escaped(line) for line in block.text.split("\n")]
        return [f"{line}  " if line else "" for line in lines]
    label = f"**{_inline(block.label)}**"
    # A line of JSON is never a fence: breaks of lines in it are escaped.
    return [label, "", "```json", *block.text.split("\n"), "```"] if block.text else [label]


def _escaped(line: str) -> str:
    """A line of text that Markdown shows as it is."""
    indent = _INDENT.match(line)
    margin = "" if indent is None else "\u00a0" * len(indent.group().expandtabs(4))
    text = _SIGNS.sub(r"\\\1", line[indent.end() if indent else 0 :])
    begun = _BEGINNING.match(text)
    if begun and not margin:
        text = f"{begun.group()}\\{text[begun.end() :]}" if begun.group().isdigit() else f"\\{text}"
    return margin + text


def _inline(text: str) -> str:
    """A text on one line."""
    return _escaped(" ".join(text.split()))
