"""How values are shown: JSON readable, dates in the viewer's zone, links to the pages of rows."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.urls import NoReverseMatch, reverse
from django.utils.formats import number_format
from django.utils.html import format_html

from memory.content.controls import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import Model
    from django.utils.functional import _StrOrPromise
    from django.utils.safestring import SafeString

# Longest text shown as a whole; content may have megabytes.
MAX_SHOWN = 20_000
# Fields that hold a short text as somebody wrote it; an id may be any text.
TEXTS = frozenset(
    {"uid", "cloned_from", "type", "resource_uid", "thread_uid", "message_uid", "actor_name", "reason"}
)


def grouped(number: int) -> str:
    """A number with its digits in groups, as the language has them."""
    return number_format(number, force_grouping=True)


def pretty_json(value: Any) -> str:
    """JSON over several lines with every character visible; cut where it is very long."""
    try:
        return shortened(json.dumps(value, ensure_ascii=False, indent=2))
    except RecursionError:
        return "…"


def shortened(text: str, length: int = 0) -> str:
    """A text with every character visible; cut where it is very long, with its length said.

    Args:
        text: all of it, or at least one character more than is shown.
        length: of all of it.
    """
    if len(text) > MAX_SHOWN:
        text = f"{text[:MAX_SHOWN]}\n… ({grouped(length or len(text))})"
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
