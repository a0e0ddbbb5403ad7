"""The tables: the columns of :mod:`memory.schema`, bound to their managers.

Rows are named by `uid`, the id on the wire; primary keys give the insertion order.
"""

from __future__ import annotations

from memory import schema
from memory.managers.embedding import EmbeddingManager
from memory.managers.message import MessageManager
from memory.managers.resource import ResourceManager
from memory.managers.thread import ThreadManager
from memory.managers.working_memory import WorkingMemoryManager


class Resource(schema.Resource):
    objects = ResourceManager()

    class Meta(schema.Resource.Meta):
        pass


class Thread(schema.Thread):
    objects = ThreadManager()

    class Meta(schema.Thread.Meta):
        pass


class Message(schema.Message):
    objects = MessageManager()

    class Meta(schema.Message.Meta):
        pass


class EmbeddingSpace(schema.EmbeddingSpace):
    class Meta(schema.EmbeddingSpace.Meta):
        pass


class Embedding(schema.Embedding):
    objects = EmbeddingManager()

    class Meta(schema.Embedding.Meta):
        pass


class EmbeddingJob(schema.EmbeddingJob):
    class Meta(schema.EmbeddingJob.Meta):
        pass


class WorkingMemory(schema.WorkingMemory):
    objects = WorkingMemoryManager()

    class Meta(schema.WorkingMemory.Meta):
        pass


class WorkingMemoryVersion(schema.WorkingMemoryVersion):
    class Meta(schema.WorkingMemoryVersion.Meta):
        pass
