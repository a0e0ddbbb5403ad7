"""Writing down what members of the staff did: in `AdminEvent`, and in Django's log of the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.admin.models import CHANGE, DELETION, LogEntry
from django.db.models import prefetch_related_objects
from django.utils.translation import override

from memory import schema
from memory.models import AdminEvent
from memory.schema import Embedding, EmbeddingJob, Message, Resource, Thread, WorkingMemory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import Model
    from django.http import HttpRequest


# By the name of a model, what leads from a row to its owner.
OWNERS = {
    "thread": ("resource",),
    "message": ("thread__resource",),
    "embeddingjob": ("message__thread__resource",),
    "workingmemory": ("thread__resource", "resource"),
}


def ids_of(row: Model) -> dict[str, str]:
    """What an event names a row by: its id, and those of what it belongs to."""
    match row:
        case Resource():
            return {"resource_id": row.uid}
        case Thread():
            return {"resource_id": row.resource.uid, "thread_id": row.uid}
        case Message():
            return {**ids_of(row.thread), "message_id": row.uid}
        case Embedding() | EmbeddingJob():
            return ids_of(row.message)
        case WorkingMemory():
            return ids_of(row.thread or row.resource)  # type: ignore[arg-type]
    raise TypeError(f"{row._meta.label} has no id that an event could name.")


def record(request: HttpRequest, action: str, row: Model | None = None, **details: Any) -> schema.AdminEvent:
    """An event of the viewer. 1 query.

    Args:
        request: says who, and from where.
        action: an `AdminEvent.Action`.
        row: the object.
        details: more arguments of :meth:`AdminEventManager.record`; ids given here go before those of `row`.
    """
    ids = {} if row is None else ids_of(row)
    return AdminEvent.objects.record(action, **{**_who(request), **ids, **details})


def record_all(request: HttpRequest, action: str, rows: Sequence[Model], **details: Any) -> None:
    """Events of the viewer, one a row and all of one group. 1 query, on SQLite 1 for about 80 rows, and at
    most 3 for what the rows belong to.

    Args:
        request: says who, and from where.
        action: an `AdminEvent.Action`.
        rows: the objects, all of one model.
        details: more arguments of :meth:`AdminEventManager.record_all`.
    """
    for name in {row._meta.model_name for row in rows}:
        prefetch_related_objects(rows, *OWNERS.get(name or "", ()))
    AdminEvent.objects.record_all(action, [ids_of(row) for row in rows], **{**_who(request), **details})


def _who(request: HttpRequest) -> dict[str, Any]:
    return {"actor": request.user, "ip": request.META.get("REMOTE_ADDR")}


def write_log(request: HttpRequest, rows: Sequence[Model], action: str, *, deleted: bool = False) -> None:
    """Entries in the admin's log, which say the kind of act and nothing more. 1 query, on SQLite 1 for
    about 140 rows.

    The log keeps the words of a language for good: they are in that of the site.
    """
    with override(settings.LANGUAGE_CODE):
        LogEntry.objects.log_actions(
            user_id=request.user.pk,  # type: ignore[arg-type]
            queryset=rows,
            action_flag=DELETION if deleted else CHANGE,
            change_message=str(AdminEvent.Action(action).label),
        )
