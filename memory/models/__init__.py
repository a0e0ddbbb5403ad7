"""The tables: the columns of :mod:`memory.schema`, bound to their managers.

Rows are named by `uid`, the id on the wire; primary keys give the insertion order.
"""

from __future__ import annotations

from memory import schema
from memory.managers.admin_event import AdminEventManager
from memory.managers.message import MessageManager
from memory.managers.resource import ResourceManager
from memory.managers.thread import ThreadManager
from memory.managers.working_memory import WorkingMemoryManager
from memory.querysets import EmbeddingQuerySet


class Resource(schema.Resource):
    objects = ResourceManager()


class Thread(schema.Thread):
    objects = ThreadManager()


class Message(schema.Message):
    objects = MessageManager()


class EmbeddingSpace(schema.EmbeddingSpace):
    pass


class Embedding(schema.Embedding):
    objects = EmbeddingQuerySet.as_manager()


class EmbeddingJob(schema.EmbeddingJob):
    pass


class WorkingMemory(schema.WorkingMemory):
    objects = WorkingMemoryManager()


class WorkingMemoryVersion(schema.WorkingMemoryVersion):
    pass


class AdminEvent(schema.AdminEvent):
    objects = AdminEventManager()
