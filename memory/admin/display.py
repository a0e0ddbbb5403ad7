"""How values are shown: JSON readable, dates in the viewer's zone, links to the pages of rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.urls import NoReverseMatch, reverse
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.http import urlencode

from memory.content.controls import visible

if TYPE_CHECKING:
    from django.db.models import Model
    from django.utils.safestring import SafeString

# Longest JSON shown as a whole; content may have megabytes.
MAX_JSON = 20_000


def pretty_json(value: Any) -> str:
    """JSON over several lines with every character visible; cut where it is very long."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if len(text) > MAX_JSON:
        text = f"{text[:MAX_JSON]}\n… ({number_format(len(text), force_grouping=True)})"
    return visible(text)


def preformatted(text: str) -> SafeString:
    """Text as it is, line by line; it can be reached and scrolled by keyboard."""
    return format_html('<pre class="mem-pre" tabindex="0" dir="auto">{}</pre>', text)


def row_link(name: str, row: Model, text: str) -> SafeString:
    """A link to the page `name` of a row; the text alone where the site has no such page."""
    try:
        return format_html('<a href="{}">{}</a>', reverse(f"admin:memory_{name}", args=[row.pk]), text)
    except NoReverseMatch:
        return format_html("{}", text)


def message_url(thread_pk: int, uid: str, current_app: str | None = None) -> str:
    """The address at which the conversation opens at a message."""
    page = reverse("admin:memory_thread_transcript", args=[thread_pk], current_app=current_app)
    return f"{page}?{urlencode({'message': uid})}"
