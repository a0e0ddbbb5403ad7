"""What a message is made of, as blocks to show one below the other: text open, all else folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from memory.admin.display import MAX_SHOWN, pretty_json
from memory.content.controls import visible
from memory.content.reminders import is_system_reminder

if TYPE_CHECKING:
    from memory.admin.rendering import TextRenderer
    from memory.schema import Message

# A longer text is folded; of one that is longer than `MAX_SHOWN`, only the beginning is on the page.
FOLDED = 3_000
PREVIEW = 240
# Most pieces of a message on the page; a caller may save 10,000.
MAX_BLOCKS = 60

# Keys of the content that blocks are made of already.
_SHOWN_KEYS = frozenset({"format", "parts", "content", "metadata"})
_ENDED = frozenset({"result", "output-error", "output-denied"})


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a message.

    Attributes:
        kind: for its look: text, tool, reasoning, file, source, data, reminder, or rest = what is left out.
        label: what it is, in a few words.
        html: the rendered text of it.
        code: JSON or plain text of it, to be escaped.
        folded: closed until it is asked for.
        state: something that staff should see: failed, incomplete.
        cut: how many characters it has, where not all of them are here.
    """

    kind: str
    label: str = ""
    html: str = ""
    code: str = ""
    folded: bool = True
    state: str = ""
    cut: int = 0


def blocks_of(message: Message, render: TextRenderer) -> list[Block]:
    """The blocks of a message in its own order; none where it has no content."""
    try:
        return _blocks(message, render)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        # Nothing of this app has written this row; the others of the page are shown nevertheless.
        return [Block("data", _("more data"), code=pretty_json(message.body))]


def _blocks(message: Message, render: TextRenderer) -> list[Block]:
    parts = message.body.get("parts")
    parts = parts if isinstance(parts, list) else []
    hidden = message.role in ("system", "signal") or is_system_reminder(
        message.role, {**message.body, "parts": parts}, message.metadata
    )
    blocks: list[Block] = []
    for number, part in enumerate(parts):
        if len(blocks) >= MAX_BLOCKS:
            rest = len(parts) - number
            label = ngettext("%(number)d more part.", "%(number)d more parts.", rest) % {"number": rest}
            blocks.append(Block("rest", label))
            break
        if isinstance(part, Mapping):
            blocks += _part(part, render, hidden=hidden)
    if message.text and not any(block.kind in ("text", "reminder") for block in blocks):
        # An older writer left the text outside of the parts.
        blocks.insert(0, _text(message.text, render, hidden=hidden))
    if other := {key: value for key, value in message.body.items() if key not in _SHOWN_KEYS}:
        blocks.append(Block("data", _("more data"), code=pretty_json(other)))
    return blocks


def _part(part: Mapping[str, Any], render: TextRenderer, *, hidden: bool) -> Iterator[Block]:
    kind = part.get("type")
    if kind == "text":
        text = part.get("text")
        if isinstance(text, str) and text.strip():
            yield _text(text, render, hidden=hidden)
    elif kind == "reasoning":
        text = part.get("reasoning") or part.get("text") or ""
        yield Block(
            "reasoning", pgettext("piece of a message", "reasoning"), code=visible(str(text)[:MAX_SHOWN])
        )
    elif kind == "tool-invocation" and isinstance(part.get("toolInvocation"), Mapping):
        yield _tool(part["toolInvocation"])
    elif kind in ("file", "image"):
        yield _file(part)
    elif kind in ("source", "source-url", "source-document"):
        yield Block("source", pgettext("piece of a message", "source"), code=pretty_json(part))
    elif kind != "step-start":
        yield Block("data", visible(str(kind))[:80], code=pretty_json(part))


def _text(text: str, render: TextRenderer, *, hidden: bool) -> Block:
    kind = "reminder" if hidden else "text"
    if len(text) <= FOLDED:
        label = visible(_preview(text)) if hidden else ""
        return Block(kind, label, html=render(text), folded=hidden)
    cut = len(text) if len(text) > MAX_SHOWN else 0
    return Block(kind, visible(_preview(text)), html=render(text[:MAX_SHOWN]), cut=cut)


def _preview(text: str) -> str:
    line = " ".join(text[: 2 * PREVIEW].split())
    return line if len(text) <= PREVIEW else f"{line[:PREVIEW]}…"


def _tool(call: Mapping[str, Any]) -> Block:
    state, name = call.get("state"), visible(str(call.get("toolName") or _("unknown tool")))[:120]
    shown = {key: call[key] for key in ("args", "result", "errorText", "error", "approval") if key in call}
    if isinstance(call.get("result"), Mapping) and call["result"].get("isError") is True:
        state = "output-error"
    said = ""
    if state in ("output-error", "output-denied"):
        said = "failed"
    elif not isinstance(state, str) or state not in _ENDED:
        said = "incomplete"
    return Block("tool", name, code=pretty_json(shown or dict(call)), state=said)


def _file(part: Mapping[str, Any]) -> Block:
    """An attachment, by name, kind and size: what is in it stays where it is."""
    name = part.get("filename") or part.get("name") or ""
    kind = part.get("mediaType") or part.get("mimeType") or ""
    data = part.get("data") or part.get("url") or part.get("image") or ""
    about = [visible(str(said))[:200] for said in (name, kind) if said]
    if isinstance(data, str) and data:
        is_address = data.startswith(("http://", "https://"))
        about.append(visible(data[:300]) if is_address else filesizeformat(len(data) * 3 // 4))
    return Block("file", " · ".join(about) or pgettext("piece of a message", "attachment"), folded=False)
