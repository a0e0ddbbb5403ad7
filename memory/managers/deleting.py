"""Deleting messages and threads, without reading them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import ProtectedError, RestrictedError

from memory.conf import memory_settings
from memory.db.expressions import IsOneOf
from memory.db.transactions import run_write
from memory.exceptions import RowsProtected, ThreadNotOwned
from memory.managers.touching import lock_messages, lock_threads, touch
from memory.querysets import tables
from memory.validation import Check

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from memory.schema import Message, Thread


def read_ids(check: Check, ids: Any, path: str = "ids") -> list[str]:
    """Ids of messages, as strings or as `{"id"}` objects; a single one need not stand in a list."""
    if isinstance(ids, str | Mapping):
        ids = [ids]
    found = []
    for value, at in check.sequence(ids, path, maximum=memory_settings.MAX_MESSAGES):
        if isinstance(value, Mapping):
            value, at = value.get("id"), f"{at}.id"
        found.append(check.identifier(value, at))
    return [uid for uid in found if uid is not None]


def delete_messages(
    ids: str | Sequence[str | Mapping[str, Any]],
    *,
    resource_id: str | None,
    owners: Collection[str] | None,
    refuse: bool,
    using: str,
) -> int:
    """See :meth:`MessageManager.delete_messages`."""
    check = Check()
    uids = read_ids(check, ids)
    owner = None if resource_id is None else check.identifier(resource_id, "resource_id")
    check.finish()
    if not uids:
        return 0
    messages = tables.messages(using).with_ids(uids)
    mine = messages
    if owners is not None:
        mine = mine.filter(IsOneOf("thread__resource__uid", list(owners)))
    if owner is not None and not refuse:
        mine = mine.filter(thread__resource__uid=owner)

    def delete() -> int:
        rows = lock_messages(messages, mine, using)
        for row in rows:
            if owner not in (None, row.thread.resource.uid):
                raise ThreadNotOwned(row.thread.uid)
        if not rows:
            return 0
        deleted = delete_rows(tables.messages(using).filter(IsOneOf("pk", [row.pk for row in rows])))
        threads = {row.thread for row in rows}
        touch(using, threads, lost=[thread.pk for thread in threads])
        return deleted

    return run_write(using, messages.model._meta.db_table, delete)


def delete_threads(ids: Sequence[str], *, owners: Collection[str] | None, using: str) -> list[str]:
    """See :meth:`ThreadManager.delete_threads`."""
    check = Check()
    uids = read_ids(check, ids)
    check.finish()

    def delete() -> list[str]:
        threads = lock_threads(using, uids=uids, owners=owners)
        delete_locked(threads, using)
        return [thread.uid for thread in threads]

    return run_write(using, tables.threads(using).model._meta.db_table, delete)


def delete_locked(threads: Sequence[Thread], using: str) -> None:
    """Delete threads, which are locked, with all that they have. The number of queries depends neither on
    theirs nor on that of their messages."""
    keys = [thread.pk for thread in threads]
    delete_rows(tables.messages(using).filter(IsOneOf("thread_id", keys)))
    delete_hung_on(tables.threads(using).filter(IsOneOf("pk", keys)))


def delete_embeddings(keys: Sequence[int], using: str) -> dict[str, int]:
    """Delete the vectors of messages, and the jobs that would make new ones; the numbers. 2 queries."""
    of_messages = IsOneOf("message_id", keys)
    return {
        "embeddings": tables.embeddings(using).filter(of_messages)._raw_delete(using),
        "jobs": tables.jobs(using).filter(of_messages)._raw_delete(using),
    }


def delete_rows(messages: QuerySet[Message]) -> int:
    """Delete messages with what hangs on them, one statement a table.

    Django's own `delete()` first loads every row, to find what hangs on it; a long thread has 100,000.
    """
    using = messages.db
    hanging = {"message__in": messages.order_by().values("pk")}
    tables.embeddings(using).filter(**hanging).order_by()._raw_delete(using)
    tables.jobs(using).filter(**hanging).order_by()._raw_delete(using)
    return delete_bare(messages)


def delete_bare(messages: QuerySet[Message]) -> int:
    """Delete messages without vectors and jobs; their number. 1 query, unless other apps refer to messages.

    Raises:
        RowsProtected: another app does not let one go.
    """
    model = messages.model
    referring = (
        field.related_model._meta.app_label
        for field in model._meta.get_fields(include_hidden=True)
        if field.auto_created and not field.concrete and field.related_model
    )
    if any(label != model._meta.app_label for label in referring):
        return delete_hung_on(messages.order_by())
    return messages.order_by()._raw_delete(messages.db)


def delete_hung_on(rows: QuerySet[Any]) -> int:
    """Delete rows with what other apps hang on them: Django's own way; their number.

    Raises:
        RowsProtected: another app does not let one go.
    """
    try:
        return rows.delete()[1].get(rows.model._meta.label, 0)
    except ProtectedError as error:
        raise RowsProtected(sorted({row._meta.label for row in error.protected_objects})) from error
    except RestrictedError as error:
        raise RowsProtected(sorted({row._meta.label for row in error.restricted_objects})) from error
