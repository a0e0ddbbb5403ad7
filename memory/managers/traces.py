"""What was written down about the rows of an owner: Django's admin log, and the events of this app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.apps import apps
from django.db import router

from memory.db.expressions import IsOneOf
from memory.db.transactions import run_write
from memory.querysets import tables
from memory.recall.receipts import hashed_id

if TYPE_CHECKING:
    from django.db.models import Model

BATCH = 1_000
NAMED = ("resource_uid", "thread_uid", "message_uid")


def blank_log(model: type[Model], keys: Sequence[int], using: str) -> int:
    """Take the texts out of the admin log's entries on these rows; the number of entries. 1 query.

    The entries stay: who did something, when, and to which kind of object.
    """
    # The log names rows by their keys alone: those of the database that the admin works on.
    if not keys or not apps.is_installed("django.contrib.admin") or using != router.db_for_write(model):
        return 0
    log, types = apps.get_model("admin", "LogEntry"), apps.get_model("contenttypes", "ContentType")
    alias = router.db_for_write(log)
    entries = log._default_manager.using(alias).filter(
        IsOneOf("object_id", [str(key) for key in keys]),
        content_type=types._default_manager.db_manager(alias).get_for_model(model),
    )
    return entries.exclude(object_repr="", change_message="").update(object_repr="", change_message="")


def hash_events(uid: str, using: str) -> int:
    """Put hashes in the place of the ids in the events on an owner; their number. 1 query, and 2 for each
    1,000 events.

    Ids may say who somebody is. Whoever knows one still finds what was done, by its hash.
    """
    events = tables.admin_events(using)

    def hash_batch() -> int:
        rows = list(events.filter(resource_uid=uid).only("pk", *NAMED)[:BATCH])
        for row in rows:
            for name in NAMED:
                if stored := getattr(row, name):
                    setattr(row, name, hashed_id(stored))
        events.bulk_update(rows, NAMED, batch_size=200)
        return len(rows)

    hashed = 0
    while count := run_write(using, events.model._meta.db_table, hash_batch):
        hashed += count
    return hashed
