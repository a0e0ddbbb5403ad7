"""A page of a conversation, found by its place and not by its number."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Exists, OuterRef, Subquery

from memory.models import Embedding, EmbeddingJob, EmbeddingSpace
from memory.recall import Position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.querysets import MessageQuerySet
    from memory.schema import Message

SIZE = 50
AROUND = 25


@dataclass(frozen=True, slots=True)
class Conversation:
    """A page of messages, oldest first.

    Attributes:
        older, newer: whether there are more on that side.
        focus: the message that the page was asked for.
    """

    messages: list[Message] = field(default_factory=list)
    older: bool = False
    newer: bool = False
    focus: Message | None = None


class EmbeddingState(NamedTuple):
    """`embedded`, `waiting`, `failed`, `none` = there is no text to embed, or `missing` = it was never asked
    for; with what went wrong last."""

    name: str
    error: str = ""


def newest(rows: MessageQuerySet) -> Conversation:
    """The end of the conversation. 1 query, as many as the pages below have on each of their sides."""
    messages, older = _side(rows, None, SIZE, descending=True)
    return Conversation(messages[::-1], older=older)


def oldest(rows: MessageQuerySet) -> Conversation:
    messages, newer = _side(rows, None, SIZE, descending=False)
    return Conversation(messages, newer=newer)


def before(rows: MessageQuerySet, place: Message) -> Conversation:
    messages, older = _side(rows, place, SIZE, descending=True)
    return Conversation(messages[::-1], older=older, newer=True)


def after(rows: MessageQuerySet, place: Message) -> Conversation:
    messages, newer = _side(rows, place, SIZE, descending=False)
    return Conversation(messages, older=True, newer=newer)


def around(rows: MessageQuerySet, message: Message) -> Conversation:
    """A message with 25 before and 25 after it."""
    left, older = _side(rows, message, AROUND, descending=True)
    right, newer = _side(rows, message, AROUND, descending=False)
    return Conversation([*left[::-1], message, *right], older=older, newer=newer, focus=message)


def since(rows: MessageQuerySet, moment: datetime) -> Conversation:
    """What was said at `moment` or later, which is the end where nothing was."""
    messages, newer = _side(rows, Position(moment, 0), SIZE, descending=False)
    if not messages:
        return newest(rows)
    _none, older = _side(rows, Position(moment, 0), 0, descending=True)
    return Conversation(messages, older=older, newer=newer, focus=messages[0])


def embedding_states(rows: MessageQuerySet, messages: Sequence[Message]) -> dict[int, EmbeddingState]:
    """Whether some messages can be found by meaning, by their primary keys. 1 query, apart from that of the
    messages: together, PostgreSQL would look at the vectors of the whole thread."""
    active = EmbeddingSpace.objects.using(rows.db).filter(state=EmbeddingSpace.State.ACTIVE)
    vectors = Embedding.objects.using(rows.db).filter(message=OuterRef("pk"), space__in=active)
    # "failed" comes before "open".
    jobs = EmbeddingJob.objects.using(rows.db).filter(message=OuterRef("pk")).order_by("state")
    found = (
        rows.order_by()
        .filter(pk__in=[message.pk for message in messages])
        .values_list(
            "pk",
            "text",
            Exists(vectors),
            Subquery(jobs.values("state")[:1]),
            Subquery(jobs.values("error")[:1]),
        )
    )
    states: dict[int, EmbeddingState] = {}
    for pk, text, is_embedded, job, error in found:
        if job is not None:
            states[pk] = EmbeddingState("failed" if job == EmbeddingJob.State.FAILED else "waiting", error)
        elif is_embedded:
            states[pk] = EmbeddingState("embedded")
        else:
            states[pk] = EmbeddingState("missing" if text else "none")
    return states


def _side(rows: MessageQuerySet, place: Any, size: int, *, descending: bool) -> tuple[list[Message], bool]:
    """Up to `size` rows on one side of a place, the nearest first, and whether there are more."""
    beyond = rows if place is None else rows.beyond(place, descending=descending)
    ordered = beyond.newest_first() if descending else beyond.chronological()
    found = list(ordered[: size + 1])
    return found[:size], len(found) > size
