"""What redacting and erasing answer: numbers and ids, no content."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from memory.db.erasing import Erasing, LeavesDisk

# By the `leaves_disk` of a receipt, in words.
LEAVES_DISK = {
    "now": _("Nothing of it is left in the database's files."),
    "checkpoint": _(
        "Another connection is reading: until it is done, the write-ahead log of SQLite holds some of it."
    ),
    "vacuum": _(
        "Nothing reaches it any more. In the database's files it stays until the next VACUUM frees its place "
        "and new rows take it."
    ),
    "reuse": _(
        "Nothing reaches it any more. Its place in the database's files is free: it is gone when new rows "
        "take it, or by VACUUM FULL."
    ),
}


_HASHED = re.compile("sha256:[0-9a-f]{64}")


def hashed_id(uid: str) -> str:
    """What an event names an object of an erased owner by. What has the form of such a hash stays as it
    is."""
    return uid if _HASHED.fullmatch(uid) else f"sha256:{hashlib.sha256(uid.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactReceipt:
    """What one call of `redact_messages` has done.

    Attributes:
        messages: ids of the messages redacted, in the order of their primary keys.
        embeddings, jobs: rows deleted with their text.
        titled_threads: ids of the threads whose title shows a piece of a text, or is shown by one; their
            titles are empty now where that was asked for.
        erased: what became of it on the disk.
    """

    messages: list[str]
    embeddings: int
    jobs: int
    titled_threads: list[str]
    erased: Erasing = field(repr=False)

    @property
    def leaves_disk(self) -> LeavesDisk:
        """See :class:`memory.db.erasing.Erasing`; within a transaction of the caller, as it is by now."""
        return self.erased.leaves_disk

    @property
    def counts(self) -> dict[str, int]:
        """The numbers, as an `AdminEvent` takes them."""
        return {
            "messages": len(self.messages),
            "embeddings": self.embeddings,
            "jobs": self.jobs,
            "titled_threads": len(self.titled_threads),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseReceipt:
    """What is left of an owner: this.

    Attributes:
        resource_uid: what events name the owner by from now on: `sha256:`, and the SHA-256 of its id in
            hexadecimal digits.
        erased_at: when it was done.
        counts: what this run has erased, by the names in `COUNTED`; of an erasure that was interrupted, the
            rest. `words` are texts in the word index, `log_entries` those of Django's admin log, whose texts
            are blank now, `admin_events` those of this app, which name the owner by its hash now.
            `copies_left` were not erased: messages of other owners that were cloned from these.
        leaves_disk: see :class:`memory.db.erasing.Erasing`.
    """

    COUNTED: ClassVar = (
        "resources",
        "threads",
        "messages",
        "words",
        "embeddings",
        "jobs",
        "working_memories",
        "versions",
        "log_entries",
        "admin_events",
        "copies_left",
    )

    resource_uid: str
    erased_at: datetime
    counts: dict[str, int]
    leaves_disk: LeavesDisk
