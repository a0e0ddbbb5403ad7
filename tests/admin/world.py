"""Two owners with something of each kind, and content with a marker wherever it can stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory import Memory
from memory.models import EmbeddingJob, EmbeddingSpace, Message, Resource, Thread, WorkingMemory
from tests.support import MARKER, make_owner

WORKING_MEMORY: dict[str, Any] = {"working_memory": {"enabled": True}}


@dataclass(frozen=True)
class World:
    """The rows of the owner `r`, by the names of their models; those of `other` likewise."""

    message: Any
    thread: Any
    resource: Any
    workingmemory: Any
    embeddingjob: Any

    def row(self, model: str) -> Any:
        return getattr(self, model)


def make_world(uid: str = "r") -> World:
    """An owner with two threads of three messages, a working memory with two versions, and a failed job."""
    resource = make_owner(uid)
    thread = Thread.objects.get(uid=f"{uid}-0")
    message = Message.objects.get(uid=f"{uid}-0-0")
    space, _ = EmbeddingSpace.objects.get_or_create(
        alias="default", state="active", defaults={"model": "hash-64", "dimensions": 64}
    )
    job, _ = EmbeddingJob.objects.update_or_create(
        message=message,
        space=space,
        defaults={"state": EmbeddingJob.State.FAILED, "attempts": 3, "error": f"refused: {MARKER}"},
    )
    return World(message, thread, resource, WorkingMemory.objects.get(resource=resource), job)


def clone_of(thread: Any, uid: str = "clone") -> Any:
    return Memory().clone_thread(thread.uid, new_thread_id=uid).thread


__all__ = ["MARKER", "Resource", "World", "clone_of", "make_world"]
