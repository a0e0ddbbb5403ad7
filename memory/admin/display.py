"""How values are shown: JSON readable, dates in the viewer's zone, links to the pages of rows."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.urls import NoReverseMatch, reverse
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.http import urlencode

from memory.content.controls import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import Model
    from django.utils.functional import _StrOrPromise
    from django.utils.safestring import SafeString

    from memory.schema import Message

# Longest JSON shown as a whole; content may have megabytes.
MAX_JSON = 20_000
# Fields that hold a short text as somebody wrote it; an id may be any text.
TEXTS = frozenset({"uid", "cloned_from", "type", "resource_uid", "thread_uid", "message_uid", "reason"})


def grouped(number: int) -> str:
    """A number with its digits in groups, as the language has them."""
    return number_format(number, force_grouping=True)


def pretty_json(value: Any) -> str:
    """JSON over several lines with every character visible; cut where it is very long."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if len(text) > MAX_JSON:
        text = f"{text[:MAX_JSON]}\n… ({grouped(len(text))})"
    return visible(text)


def preformatted(text: str) -> SafeString:
    """Text as it is, line by line; it can be reached and scrolled by keyboard."""
    return format_html('<pre class="mem-pre" tabindex="0" dir="auto">{}</pre>', text)


@cache
def column(name: str, label: _StrOrPromise, shown: Callable[[Any], str]) -> Callable[[Model], str]:
    """A column of a list, or a field of a page, that shows something else than the value as it is.

    The same one for the same arguments: the admin compares the fields of a page by identity.

    Args:
        name, label: of the field.
        shown: what stands in the place of its value.
    """

    @admin.display(description=label)
    def show(row: Model) -> str:
        return shown(getattr(row, name, None))

    show.__name__ = name
    return show


def shown_text(text: str) -> str:
    """One of `TEXTS` with every character visible."""
    return visible(text) or "–"


def row_link(name: str, row: Model, text: str, current_app: str) -> SafeString:
    """A link to the page `name` of a row; the text alone where the site has no such page."""
    try:
        url = reverse(f"admin:memory_{name}", args=[row.pk], current_app=current_app)
    except NoReverseMatch:
        return format_html("{}", text)
    return format_html('<a href="{}">{}</a>', url, text)


def conversation_url(thread: int, current_app: str) -> str:
    """The address of a conversation, by the primary key of its thread, in the admin site `current_app`."""
    return reverse("admin:memory_thread_transcript", args=[thread], current_app=current_app)


def message_url(message: Message, current_app: str) -> str:
    """The address at which the conversation opens at a message."""
    page = conversation_url(message.thread_id, current_app)
    return f"{page}?{urlencode({'message': message.uid})}"
