"""Copies of messages, of which the viewer may not see all."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.utils.translation import gettext_lazy

from memory.models import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory import schema
    from memory.admin.owners import Owners

UNSEEN = gettext_lazy("There are copies in threads that you do not see. They stay as they are.")


class Copies(NamedTuple):
    """Attributes:
    seen: those that the viewer sees, the oldest first.
    unseen: whether there are others.
    """

    seen: list[schema.Message]
    unseen: bool


def copies_of(uids: Sequence[str], owners: Owners, using: str) -> Copies:
    """The copies of these messages in the database `using`. As many queries as
    :meth:`MessageManager.find_copies`."""
    found = Message.objects.db_manager(using).find_copies(uids)
    seen = [copy for copy in found if owners is None or copy.thread.resource.uid in owners]
    return Copies(seen, len(seen) < len(found))
