"""Links to pages where something can be done with a row, which stand wherever the row is shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from django.urls import NoReverseMatch, reverse

from memory.admin.masks import is_allowed

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest
    from django.utils.functional import _StrOrPromise


class Link(NamedTuple):
    """A page of the admin about one row.

    Attributes:
        name: of its address, without the namespace, which takes the primary key: "memory_message_redact".
        label: what the link says.
        permission: who may follow it: "memory.redact_message".
        content: only those who may read what messages say.
        applies: whether it leads anywhere from a row; default from all.
    """

    name: str
    label: _StrOrPromise
    permission: str
    content: bool = False
    applies: Callable[[Any], bool] = lambda row: True


class ShownLink(NamedTuple):
    label: _StrOrPromise
    url: str


# By the name of the model, such as "message", in the order in which they are shown.
LINKS: dict[str, list[Link]] = defaultdict(list)


def links_to(request: HttpRequest, row: Model) -> list[ShownLink]:
    """The links of a row that the viewer may follow. No query, once the user's permissions are read."""
    shown = []
    for link in LINKS.get(row._meta.model_name or "", ()):
        if is_allowed(request, link.permission, content=link.content) and link.applies(row):
            try:
                url = reverse(f"admin:{link.name}", args=[row.pk], current_app=request.current_app)
            except NoReverseMatch:
                # A site may have other admin classes.
                continue
            shown.append(ShownLink(link.label, url))
    return shown
