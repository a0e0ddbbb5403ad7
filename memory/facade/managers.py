"""The managers behind the facade.

The models are imported by the first call, not with this module: agent code may import it at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.managers.message import MessageManager
    from memory.managers.resource import ResourceManager
    from memory.managers.thread import ThreadManager
    from memory.managers.working_memory import WorkingMemoryManager


def messages(using: str | None) -> MessageManager:
    from memory.models import Message

    return Message.objects.db_manager(using)


def threads(using: str | None) -> ThreadManager:
    from memory.models import Thread

    return Thread.objects.db_manager(using)


def working_memories(using: str | None) -> WorkingMemoryManager:
    from memory.models import WorkingMemory

    return WorkingMemory.objects.db_manager(using)


def resources(using: str | None) -> ResourceManager:
    from memory.models import Resource

    return Resource.objects.db_manager(using)
