"""Every error the app raises on purpose.

No text here ever holds message content, and an error about a row of another owner says nothing of that
row: the texts of ``MessageConflict``, ``ThreadConflict`` and ``ResourceConflict`` are constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing wrong with the input: the path of the parameter, and what is allowed there."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class ConversationMemoryError(Exception):
    """Base class: ``except ConversationMemoryError`` catches whatever this app raises on purpose."""


class RecallError(ConversationMemoryError, ValueError):
    """Bad input, in recalling and in saving; raised before anything is read or written.

    Attributes:
        issues: everything that is wrong, in the order of the parameters.
    """

    def __init__(self, issues: Iterable[Issue]) -> None:
        self.issues = tuple(issues)
        super().__init__("; ".join(map(str, self.issues)))

    @classmethod
    def at(cls, field: str, message: str) -> RecallError:
        """The error for a single parameter."""
        return cls([Issue(field, message)])


class ResourceNotFound(ConversationMemoryError, LookupError):
    """No resource has this id."""

    def __init__(self, resource_id: str) -> None:
        self.resource_id = resource_id
        super().__init__(f"There is no resource with the id {resource_id!r}.")


class ThreadNotFound(ConversationMemoryError, LookupError):
    """No thread has this id."""

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        super().__init__(f"There is no thread with the id {thread_id!r}.")


class ThreadNotOwned(ConversationMemoryError, PermissionError):
    """The thread belongs to another resource than the one that was named."""

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        super().__init__(f"The thread {thread_id!r} does not belong to the resource that was named.")


class ThreadConflict(ConversationMemoryError):
    """The id of a new thread is taken."""

    def __init__(self) -> None:
        super().__init__("This thread id is taken. Choose another one, or leave it out.")


class MessageConflict(ConversationMemoryError):
    """The id of a message is taken by another resource."""

    def __init__(self) -> None:
        super().__init__("A message id is taken. Choose another one, or leave it out.")


class ResourceConflict(ConversationMemoryError):
    """The resource that would be made for a user exists already and is not linked to that user."""

    def __init__(self) -> None:
        super().__init__(
            "The resource of this account exists already without being linked to it. An administrator has "
            "to link the two."
        )


class RowsProtected(ConversationMemoryError):
    """Rows of another app refer to what is to be deleted, and do not let it go; nothing was deleted.

    Args:
        labels: of their models, such as "shop.Ticket".
    """

    def __init__(self, labels: Iterable[str]) -> None:
        super().__init__(f"{', '.join(labels)} refers to it, and has to let it go first.")


class WriteConflict(ConversationMemoryError):
    """Others changed the same rows at the same time, again and again; nothing was written."""

    def __init__(self) -> None:
        super().__init__("Others are changing the same rows. Try again.")


class SemanticRecallNotConfigured(ConversationMemoryError):
    """A search would run, but no embedder is usable; the text names the setting or command to use."""


class EmbedderError(ConversationMemoryError):
    """The embedder failed, or answered something that cannot be used.

    Attributes:
        retryable: True when the same call may succeed later (time-out, rate limit, server error); False
            when the input or the configuration has to change first.
        retry_after: seconds the service asked to wait, where it said so.
        refused_input: True when a text itself was refused, so that others may pass without it.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        refused_input: bool = False,
    ) -> None:
        self.retryable = retryable
        self.retry_after = retry_after
        self.refused_input = refused_input
        super().__init__(message)


class WorkingMemoryDisabled(ConversationMemoryError):
    """Working memory was to be written, but the agent's configuration has it off."""

    def __init__(self, agent: str | None = None) -> None:
        name = agent or "default"
        super().__init__(
            "Working memory is off. Give working_memory={'enabled': True} to the call, or set "
            f"MEMORY['AGENTS'][{name!r}]['working_memory']['enabled'] = True."
        )
