"""The filters of the contract as Django conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from memory.db.expressions import MetadataMatches

if TYPE_CHECKING:
    from memory.recall.filters import MessageFilter
    from memory.recall.keyset import Position
    from memory.schema import Message, Thread


def matching(message_filter: MessageFilter, prefix: str = "") -> Q:
    """What `message_filter` asks of a message; `prefix` leads to it, such as `message__`."""
    dates, condition = message_filter.date_range, Q()
    if dates.start is not None:
        lookup = "gt" if dates.start_exclusive else "gte"
        condition &= Q(**{f"{prefix}created_at__{lookup}": dates.start})
    if dates.end is not None:
        lookup = "lt" if dates.end_exclusive else "lte"
        condition &= Q(**{f"{prefix}created_at__{lookup}": dates.end})
    if message_filter.metadata:
        condition &= Q(MetadataMatches(f"{prefix}metadata", message_filter.metadata))
    return condition


def beyond(place: Message | Thread | Position, *, descending: bool = False) -> Q:
    """What comes after a row, or after a place, in the order (created_at, primary key)."""
    way = "lt" if descending else "gt"
    later = Q(**{f"created_at__{way}": place.created_at}) | Q(**{f"pk__{way}": place.pk})
    # The bound first: without it, the index would be read from its beginning.
    return Q(**{f"created_at__{way}e": place.created_at}) & later
