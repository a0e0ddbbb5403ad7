"""Addresses of lists and conversations, and how they name a message of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode

if TYPE_CHECKING:
    from django.http import HttpRequest

    from memory.querysets import MessageQuerySet
    from memory.schema import Message

# Longest id in an address, as it is sent there. Servers refuse addresses of some 4,000 characters, and a
# character of an id may take 12 of these.
MAX_LENGTH = 300


def list_url(model: str, current_app: str, **query: Any) -> str:
    """The address of a part of a list, by the name of its model; "" where the site has no such list."""
    try:
        url = reverse(f"admin:memory_{model}_changelist", current_app=current_app)
    except NoReverseMatch:
        return ""
    return f"{url}?{urlencode(query)}"


def conversation_url(thread: int, current_app: str) -> str:
    """The address of a conversation, by the primary key of its thread, in the admin site `current_app`."""
    return reverse("admin:memory_thread_transcript", args=[thread], current_app=current_app)


def message_url(message: Message, current_app: str) -> str:
    """The address at which the conversation opens at a message."""
    return f"{conversation_url(message.thread_id, current_app)}?{naming(message)}"


def naming(message: Message, name: str = "message") -> str:
    """The part of an address that names a message: by its id, or by its primary key where the id is long.

    Args:
        message: what is named.
        name: what for, such as "before".
    """
    by_id = urlencode({name: message.uid})
    return by_id if len(by_id) <= MAX_LENGTH else urlencode({name: message.pk, "by": "key"})


def named(request: HttpRequest, rows: MessageQuerySet, name: str = "message") -> tuple[str, Message | None]:
    """What an address names for `name`, and the message it is, None where `rows` has none such. 1 query.

    Args:
        request: has the address, as :func:`naming` makes it.
        rows: what the viewer may see.
        name: what for.
    """
    given = request.GET.get(name, "").replace("\x00", "")
    condition: dict[str, Any] = {"uid": given}
    if request.GET.get("by") == "key":
        condition = {"pk__in": [int(given)] if given.isdecimal() and len(given) < 19 else []}
    return given, next(iter(rows.filter(**condition).order_by()), None) if given else None
