"""The neighbours of messages, as one hand-written statement for each database.

The ORM's window function reads the whole thread (249 ms where this reads a few index entries in 5 ms, in
a thread of 100,000 messages).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connections

if TYPE_CHECKING:
    from memory.schema import Message


class Target(NamedTuple):
    """A message by its id, the number of neighbours on each side, and the thread it must be in, if any."""

    uid: str
    before: int = 0
    after: int = 0
    thread_uid: str | None = None


def window_sql(
    model: type[Message], using: str, resource_pk: int, targets: Sequence[Target]
) -> tuple[str, list[Any]]:
    """A query of the primary keys of all targets and neighbours, and its parameters.

    Targets of other resources, of another thread than the one they name, and unknown ones are left out.
    """
    connection = connections[using]
    quote = connection.ops.quote_name
    message = quote(model._meta.db_table)
    thread = quote(model._meta.get_field("thread").related_model._meta.db_table)
    wanted = json.dumps([target._asdict() for target in targets])
    named = f"""
        SELECT m.id, m.thread_id, m.created_at, t.before_count, t.after_count
        FROM {_targets(connection.vendor)} t
        JOIN {message} m ON m.uid = t.uid
        JOIN {thread} th ON th.id = m.thread_id
        WHERE th.resource_id = %s AND (t.thread_uid IS NULL OR th.uid = t.thread_uid)
    """
    sides = [
        ("<=", "DESC", max(target.before for target in targets) + 1, "before_count + 1"),
        (">", "ASC", max(target.after for target in targets), "after_count"),
    ]
    selects = []
    limits = []
    for comparison, direction, limit, count in sides:
        # Targets may want windows of different sizes, and LIMIT takes no column: the walk reads up to the
        # largest, and each target keeps its own number of rows.
        walk = f"""
            SELECT id FROM (
                SELECT w.id, row_number() OVER (ORDER BY w.created_at {direction}, w.id {direction}) AS place
                FROM {message} w
                WHERE w.thread_id = target.thread_id
                  AND (w.created_at, w.id) {comparison} (target.created_at, target.id)
                ORDER BY w.created_at {direction}, w.id {direction}
                LIMIT %s
            ) walk WHERE walk.place <= target.{count}
        """
        if connection.vendor == "postgresql":
            selects.append(f"SELECT near.id FROM target CROSS JOIN LATERAL ({walk}) near")
        else:
            selects.append(f"SELECT near.id FROM target JOIN {message} near ON near.id IN ({walk})")
        limits.append(limit)
    return f"WITH target AS ({named}) {' UNION '.join(selects)}", [wanted, resource_pk, *limits]


def _targets(vendor: str) -> str:
    """The JSON parameter as rows."""
    if vendor == "postgresql":
        return """(
            SELECT uid, thread_uid, before AS before_count, after AS after_count
            FROM jsonb_to_recordset(%s::jsonb) AS r(uid text, thread_uid text, before int, after int)
        )"""
    return """(
        SELECT value ->> '$.uid' AS uid, value ->> '$.thread_uid' AS thread_uid,
               value ->> '$.before' AS before_count, value ->> '$.after' AS after_count
        FROM json_each(%s)
    )"""
