"""What every format of an export does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from memory.schema import Message, Resource, Thread, WorkingMemory, WorkingMemoryVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What stands at the top of an export.

    Attributes:
        scope, uid: what is exported.
        masked: content is left out.
        zone: of the times in a transcript.
        exported_at, exported_by: when and by whom, where that is to be told.
    """

    scope: Literal["resource", "thread"]
    uid: str
    masked: bool
    zone: tzinfo
    exported_at: datetime | None
    exported_by: str


class ExportOptions(TypedDict, total=False):
    """What an export is asked besides its object.

    Attributes:
        format: `jsonl`, the default = everything, an object a line, the same from PostgreSQL and SQLite;
            `markdown` or `html` = a transcript to read, without working memory and metadata.
        masked: leave content out: types, texts, titles, metadata, working memory.
        zone: of the times in a transcript; default the current one. JSON Lines are in UTC.
        exported_at, exported_by: when and by whom, to be told at the top; None and "" = not told.
    """

    format: str
    masked: bool
    zone: tzinfo | None
    exported_at: datetime | None
    exported_by: str


class Format(ABC):
    """Turns rows into text, in the order in which it is given them: the head; the resource; threads, each
    before its messages; the foot. Working memories come after what they belong to."""

    # Whether working memories are told.
    has_working_memory = False

    def __init__(self, heading: Heading) -> None:
        self.heading = heading

    @abstractmethod
    def head(self) -> str: ...

    def resource(self, resource: Resource) -> str:
        return ""

    @abstractmethod
    def thread(self, thread: Thread) -> str:
        """Its resource is loaded."""

    @abstractmethod
    def message(self, message: Message) -> str:
        """Its thread is loaded."""

    def working_memory(self, memory: WorkingMemory, owner: Resource | Thread) -> str:
        return ""

    def version(self, version: WorkingMemoryVersion, owner: Resource | Thread) -> str:
        return ""

    def foot(self) -> str:
        return ""
