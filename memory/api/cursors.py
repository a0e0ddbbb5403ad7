"""Cursors of `POST recall`: signed places in the order of a thread.

A cursor holds a date and a primary key and names no row, so new messages and the deletion of the one it was
made from do not move it. It is good for the recall it was made by and for no other.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.core import signing

from memory.exceptions import RecallError
from memory.recall import Keyset, Position

if TYPE_CHECKING:
    from memory.recall import RecallRequest

SALT = "memory.api.cursors"


def write_cursor(position: Position | None, request: RecallRequest, *, backwards: bool = False) -> str | None:
    """The cursor of a place; None where there is none."""
    if position is None:
        return None
    place = [position.created_at.isoformat(), position.pk, int(backwards), _fingerprint(request)]
    return signing.Signer(salt=SALT).sign_object(place)


def read_cursor(cursor: str, request: RecallRequest) -> Keyset:
    """Where the page of `request` begins.

    Raises:
        RecallError: this is no cursor, or one of another thread, filter, order or page size.
    """
    try:
        created_at, pk, backwards, fingerprint = signing.Signer(salt=SALT).unsign_object(cursor)
    except (signing.BadSignature, ValueError) as error:
        raise RecallError.at("cursor", "is no cursor of this server; send one back as it came") from error
    if fingerprint != _fingerprint(request):
        raise RecallError.at(
            "cursor", "belongs to another recall: threadId, filter, orderBy and perPage have to stay the same"
        )
    return Keyset(Position(datetime.fromisoformat(created_at), pk), bool(backwards))


def _fingerprint(request: RecallRequest) -> str:
    """Names what a cursor is bound to."""
    bound: list[Any] = [
        request.thread_uid,
        asdict(request.filter),
        request.descending,
        request.per_page,
    ]
    text = json.dumps(bound, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
