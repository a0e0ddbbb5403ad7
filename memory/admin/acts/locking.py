"""The rows of an act, read while no other writer can change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import router

from memory.admin.recording import OWNERS
from memory.db.transactions import RowsMoved
from memory.managers.touching import lock_threads

if TYPE_CHECKING:
    from django.db.models import QuerySet

# By the model of the rows: what leads to the thread that every writer locks first.
_THREAD = {"message": "thread_id", "thread": "pk", "workingmemory": "thread_id"}


def locked(rows: QuerySet[Any]) -> list[Any]:
    """The rows in the database that is written, locked until the transaction ends; jobs are
    locked by what is done with them. At most 4 queries.

    Raises:
        RowsMoved: a row went to another thread meanwhile.
    """
    name, using = rows.model._meta.model_name or "", router.db_for_write(rows.model)
    rows, keys = rows.using(using), set[int]()
    if owners := OWNERS.get(name):
        # Asked for later, a router might answer from a replica.
        rows = rows.select_related(*owners)
    if path := _THREAD.get(name):
        keys = set(rows.order_by().values_list(path, flat=True)) - {None}
        lock_threads(using, keys=keys)
    if name in ("resource", "workingmemory"):
        # Not the rows that are joined, one of which may be none.
        rows = rows.select_for_update(of=("self",), no_key=True)
    found = list(rows)
    if path and {getattr(row, path) for row in found} - keys - {None}:
        raise RowsMoved
    return found
