"""One message of a prompt or an answer, before it is stored or after it was read."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from memory.content.incoming import ROLES
from memory.content.normalise import normalise_content
from memory.content.text import text_of
from memory.ids import uuid7
from memory.processors.ui_parts import canonical_part
from memory.validation import Check

if TYPE_CHECKING:
    from memory.schema import Message

Source = Literal["memory", "input", "response", "context"]

# Key in the metadata of an answer that broke off.
INCOMPLETE = "incomplete"
USER_SIGNALS = ("user", "user-message")


def as_mapping(value: Any) -> Any:
    """An object of a pydantic model as the JSON it stands for; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json", warnings=False) if callable(dump) and not isinstance(value, type) else value


@dataclass(kw_only=True)
class ChatMessage:
    """A message in format 2 (contract section 1), apart from any database.

    Attributes:
        role: user, assistant, system, tool or signal.
        content: format 2, metadata included.
        id: default a new UUIDv7.
        created_at: None = not given, and taken when it is stored.
        source: where it came from; `memory` = read from the database, or recalled.
        row: place of the stored row in its thread's order, which equal dates leave open.
    """

    role: str
    content: dict[str, Any]
    id: str = field(default_factory=uuid7)
    thread_id: str | None = None
    resource_id: str | None = None
    created_at: datetime | None = None
    type: str = ""
    source: Source = "input"
    row: int | None = None

    @classmethod
    def of_row(cls, row: Message, source: Source = "memory") -> ChatMessage:
        """The message of a stored row, or of an unsaved instance; no query, and nothing shared with it.

        `resource_id` is that of the thread where the row has it loaded, as recalled rows have.
        """
        thread = getattr(row, "thread", None)
        resource = None if thread is None else thread._state.fields_cache.get("resource")
        content = deepcopy(row.content)
        content["parts"] = [canonical_part(part) for part in content["parts"]]
        return cls(
            id=row.uid,
            role=row.role,
            content=content,
            thread_id=None if thread is None else thread.uid,
            resource_id=None if resource is None else resource.uid,
            created_at=row.created_at,
            type=row.type,
            source=source,
            row=row.pk,
        )

    @property
    def parts(self) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = self.content["parts"]
        return parts

    @property
    def metadata(self) -> dict[str, Any]:
        return self.content.get("metadata") or {}

    @property
    def text(self) -> str:
        """The text that is embedded and searched; "" for none."""
        return text_of(self.content)

    @property
    def is_user_turn(self) -> bool:
        """Said by the user: as a message, or as a signal that stands for one."""
        if self.role != "signal":
            return self.role == "user"
        signal = self.metadata.get("signal")
        return isinstance(signal, dict) and signal.get("type") in USER_SIGNALS

    def normalise(self, check: Check, path: str) -> None:
        """Make the message storable (contract section 3), in format 2's own words; issues go to `check`."""
        check.identifier(self.id, f"{path}.id")
        check.choice(self.role, f"{path}.role", ROLES)
        content = normalise_content(check, self.content, f"{path}.content")
        if content is not None:
            metadata = {"metadata": content.metadata} if "metadata" in content.body else {}
            parts = [canonical_part(part) for part in content.body["parts"]]
            self.content = {**content.body, **metadata, "parts": parts}

    def copy(self) -> ChatMessage:
        """The same message, sharing nothing with this one."""
        return deepcopy(self)

    def as_dict(self) -> dict[str, Any]:
        """What `save_messages` takes."""
        shape = {
            "id": self.id,
            "thread_id": self.thread_id,
            "resource_id": self.resource_id,
            "role": self.role,
            "type": self.type or None,
            "content": deepcopy(self.content),
            "created_at": self.created_at,
        }
        return {name: value for name, value in shape.items() if value is not None}
