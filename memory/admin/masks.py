"""The one permission that opens content: without it text, titles, metadata, working memories and what tools
were given and answered are hidden wherever they would be shown, and nothing is found by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

CONTENT_PERMISSION = "memory.view_message_content"
HIDDEN = _("hidden")


def can_read(request: HttpRequest) -> bool:
    """Whether the viewer may see content. The user's permissions are read once a request."""
    return request.user.has_perm(CONTENT_PERMISSION)


def is_allowed(request: HttpRequest, permission: str, *, content: bool) -> bool:
    """Whether the viewer has a permission, and may see content where that is shown."""
    return request.user.has_perm(permission) and (not content or can_read(request))


def hidden(value: object = None) -> SafeString:
    """What stands in the place of content, whatever that is."""
    return format_html('<span class="mem-hidden">{}</span>', HIDDEN)
