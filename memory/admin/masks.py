"""The one permission that opens content: without it text, titles, metadata, working memories and what tools
were given and answered are hidden wherever they would be shown, and nothing is found by them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.utils.functional import _StrOrPromise
    from django.utils.safestring import SafeString

CONTENT_PERMISSION = "memory.view_message_content"
HIDDEN = _("hidden")


def can_read(request: HttpRequest) -> bool:
    """Whether the viewer may see content. The user's permissions are read once a request."""
    return request.user.has_perm(CONTENT_PERMISSION)


def is_allowed(request: HttpRequest, permission: str, *, content: bool) -> bool:
    """Whether the viewer has a permission, and may see content where that is shown."""
    return request.user.has_perm(permission) and (not content or can_read(request))


def hidden() -> SafeString:
    """What stands in the place of content."""
    return format_html('<span class="mem-hidden">{}</span>', HIDDEN)


@cache
def hidden_column(name: str, label: _StrOrPromise) -> Callable[[Any], SafeString]:
    """A column of a list, or a field of a page, that shows nothing of the row.

    The same one for the same arguments: the admin compares the fields of a page by identity.
    """

    def column(row: Any) -> SafeString:
        return hidden()

    column.__name__ = name
    column.short_description = label  # type: ignore[attr-defined]
    return column
