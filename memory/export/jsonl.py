"""JSON Lines: everything that is stored, the same from every database."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.content.dates import exact_date
from memory.content.json import stable_json
from memory.export.base import Format

if TYPE_CHECKING:
    from memory.schema import Message, Resource, Thread, WorkingMemory, WorkingMemoryVersion

# Raised when a reader of the present version would go wrong.
VERSION = 1
# JSON allows these in a string; some readers take them for the end of a line.
BREAKS = re.compile("[\x85\u2028\u2029]")


class JSONLines(Format):
    """An object a line, its keys in the order of the alphabet; `kind` says what it is of."""

    has_working_memory = True

    def head(self) -> str:
        heading = self.heading
        told: dict[str, Any] = {}
        if heading.exported_at is not None:
            told["exportedAt"] = exact_date(heading.exported_at)
        if heading.exported_by:
            told["exportedBy"] = heading.exported_by
        return _line(
            "header",
            format="django-recall",
            version=VERSION,
            scope=heading.scope,
            id=heading.uid,
            masked=heading.masked,
            **told,
        )

    def resource(self, resource: Resource) -> str:
        return _line(
            "resource",
            id=resource.uid,
            createdAt=exact_date(resource.created_at),
            updatedAt=exact_date(resource.updated_at),
            **self._content(metadata=resource.metadata),
        )

    def thread(self, thread: Thread) -> str:
        return _line(
            "thread",
            id=thread.uid,
            resourceId=thread.resource.uid,
            createdAt=exact_date(thread.created_at),
            updatedAt=exact_date(thread.updated_at),
            lastMessageAt=_date_or_none(thread.last_message_at),
            **self._content(title=thread.title, metadata=thread.metadata),
        )

    def message(self, message: Message) -> str:
        return _line(
            "message",
            id=message.uid,
            threadId=message.thread.uid,
            role=message.role,
            createdAt=exact_date(message.created_at),
            redactedAt=_date_or_none(message.redacted_at),
            clonedFrom=message.cloned_from or None,
            **self._content(type=message.type or None, content=message.content),
        )

    def working_memory(self, memory: WorkingMemory, owner: Resource | Thread) -> str:
        return _line(
            "workingMemory",
            updatedAt=exact_date(memory.updated_at),
            **_owned_by(owner),
            **self._content(value=memory.value),
        )

    def version(self, version: WorkingMemoryVersion, owner: Resource | Thread) -> str:
        return _line(
            "workingMemoryVersion",
            number=version.number,
            createdAt=exact_date(version.created_at),
            **_owned_by(owner),
            **self._content(value=version.value),
        )

    def _content(self, **fields: Any) -> dict[str, Any]:
        return {} if self.heading.masked else fields


def _line(kind: str, **fields: Any) -> str:
    line = stable_json({"kind": kind, **fields})
    return BREAKS.sub(lambda found: f"\\u{ord(found.group()):04x}", line) + "\n"


def _owned_by(owner: Resource | Thread) -> dict[str, str]:
    return {f"{owner._meta.model_name}Id": owner.uid}


def _date_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else exact_date(moment)
