"""Places in the order of a thread, from which a walk through its pages goes on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple


class Position(NamedTuple):
    """A place in the order (created_at, primary key). It names no row: the message that stood there may be
    gone."""

    created_at: datetime
    pk: int


@dataclass(frozen=True, slots=True)
class Keyset:
    """Where a page begins: right behind a position in the requested order, or, backwards, right before it."""

    position: Position
    backwards: bool = False
