"""What was written down about the rows of an owner: Django's admin log, and the events of this app."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import router
from django.db.models import Q

from memory.content.controls import visible
from memory.db.expressions import IsOneOf
from memory.db.transactions import run_write
from memory.querysets import tables
from memory.recall.receipts import hashed_id

if TYPE_CHECKING:
    from django.db.models import Model

BATCH = 1_000
# The columns in which an event names objects, the outermost first, and the tables of these.
NAMED: dict[str, Any] = {
    "resource_uid": tables.resources,
    "thread_uid": tables.threads,
    "message_uid": tables.messages,
}
# Characters of a row's name that an entry of the log keeps.
LOGGED = 200


def blank_log(model: type[Model], using: str, *, keys: Iterable[int] = (), uids: Iterable[str] = ()) -> int:
    """Take the texts out of the admin log's entries on rows; the number of entries. 1 query.

    The entries stay: who did something, when, and to which kind of object.

    Args:
        model: of the rows.
        using: the database of the rows.
        keys: their primary keys.
        uids: of rows that may be gone, the ids, by which the log calls them: as they are, or as `str()` of
            the rows shows them.
    """
    objects = [str(key) for key in keys]
    names = [name[:LOGGED] for uid in uids for name in {uid, visible(uid)}]
    # The log names rows by their keys alone: those of the database that the admin works on.
    is_logged = apps.is_installed("django.contrib.admin") and using == router.db_for_write(model)
    if not is_logged or not (objects or names):
        return 0
    log, types = apps.get_model("admin", "LogEntry"), apps.get_model("contenttypes", "ContentType")
    alias = router.db_for_write(log)
    entries = log._default_manager.using(alias).filter(
        Q(IsOneOf("object_id", objects)) | Q(IsOneOf("object_repr", names)),
        content_type=types._default_manager.db_manager(alias).get_for_model(model),
    )
    return entries.exclude(object_repr="", change_message="").update(object_repr="", change_message="")


def hash_events(name: str, uids: Iterable[str], using: str, *, apart_from: str = "") -> Counter[str]:
    """Put hashes in the place of ids in the events on objects, and of what belongs to these, and take the
    texts out of the log's entries that call them by those ids. 1 query, and 14 at most for each 1,000 events.

    Ids may say who somebody is. Whoever knows one still finds what was done, by its hash.

    Args:
        name: the column of the objects, one of `NAMED`.
        uids: their ids. What has the form of a hash counts as one.
        using: database alias.
        apart_from: the owner whose events are left for later.

    Returns:
        The numbers of `admin_events` and `log_entries`.
    """
    plain = [uid for uid in uids if uid != hashed_id(uid)]
    names = list(NAMED)[list(NAMED).index(name) :]
    events = tables.admin_events(using)
    found = events.filter(IsOneOf(name, plain)).exclude(resource_uid=apart_from).only("pk", *NAMED)

    def hash_batch() -> Counter[str]:
        rows, counts = list(found[:BATCH]), Counter[str]()
        for column in names:
            stored = {getattr(row, column) for row in rows} - {""}
            counts["log_entries"] += blank_log(NAMED[column](using).model, using, uids=stored)
            for row in rows:
                setattr(row, column, getattr(row, column) and hashed_id(getattr(row, column)))
        events.bulk_update(rows, names, batch_size=200)
        counts["admin_events"] = len(rows)
        return counts

    hashed = Counter[str]()
    while plain and (counts := run_write(using, events.model._meta.db_table, hash_batch))["admin_events"]:
        hashed.update(counts)
    return hashed
