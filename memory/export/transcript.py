"""What the transcripts have in common: a message as blocks of text, and dates as people read them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils.translation import gettext as _

from memory.content.controls import visible
from memory.content.json import plain_json
from memory.export.base import Format, Heading

if TYPE_CHECKING:
    from memory.schema import Message, Thread

# Characters of a block of data; JSON Lines has all of it.
MAX_DATA = 10_000


class Block(NamedTuple):
    """A piece of a message: what was said, or, with a label, what is folded away. A label alone names
    something that is not shown."""

    text: str
    label: str = ""


class Transcript(Format):
    """A conversation by days, to be read by people; tools and data are folded, files are named."""

    def __init__(self, heading: Heading) -> None:
        super().__init__(heading)
        self._day = ""

    def facts(self, thread: Thread) -> list[tuple[str, str]]:
        """What stands above the messages of a thread."""
        heading = self.heading
        facts = [(_("Resource"), visible(thread.resource.uid))]
        if thread.title:
            facts.append((_("Title"), _("(masked)") if heading.masked else visible(thread.title)))
        facts.append((_("Time zone"), str(heading.zone)))
        if heading.exported_at is not None:
            facts.append((_("Exported"), f"{heading.exported_at.astimezone(heading.zone):%Y-%m-%d %H:%M:%S}"))
        if heading.exported_by:
            facts.append((_("Exported by"), visible(heading.exported_by)))
        return facts

    def new_day(self, message: Message) -> str:
        """The day on which a message begins a new one; "" otherwise."""
        day = message.created_at.astimezone(self.heading.zone).date().isoformat()
        if day == self._day:
            return ""
        self._day = day
        return day

    def begin(self, thread: Thread) -> str:
        """The title of a thread's transcript; its days begin anew."""
        self._day = ""
        return _("Conversation %(id)s") % {"id": visible(thread.uid)}

    def blocks(self, message: Message) -> list[Block]:
        """A message in pieces."""
        if message.redacted_at is not None:
            return [Block("", _("(redacted)"))]
        if self.heading.masked:
            return [Block("", _("(masked)"))]
        found = [block for part in message.body.get("parts") or [] for block in _of_part(part)]
        if message.text and not any(not block.label for block in found):
            found.insert(0, Block(visible(message.text)))
        return found or [Block("", _("(empty)"))]


def _of_part(part: Mapping[str, Any]) -> Iterator[Block]:
    kind = str(part.get("type"))
    if kind == "text":
        if part["text"].strip():
            yield Block(visible(part["text"]))
    elif kind == "tool-invocation":
        call = part.get("toolInvocation")
        name = call.get("toolName") if isinstance(call, Mapping) else None
        yield Block(_data(call), _("Tool: %(name)s") % {"name": visible(str(name))})
    elif kind in ("file", "image"):
        name = part.get("filename") or part.get("mediaType") or part.get("mimeType") or kind
        yield Block("", _("Attachment: %(name)s") % {"name": visible(str(name))})
    elif kind != "step-start":
        yield Block(_data(part), visible(kind))


def _data(value: Any) -> str:
    text = visible(json.dumps(plain_json(value), ensure_ascii=False, indent=2, sort_keys=True))
    return text if len(text) <= MAX_DATA else f"{text[:MAX_DATA]}…"
