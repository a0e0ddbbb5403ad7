"""The columns, and what a row knows of itself, as abstract models.

Querysets and managers are written for these; :mod:`memory.models` binds the two together.
"""

from memory.schema.admin_event import AdminEvent
from memory.schema.embedding import Embedding, EmbeddingJob, EmbeddingSpace
from memory.schema.message import Message, MessageRecall
from memory.schema.resource import Resource
from memory.schema.thread import Thread
from memory.schema.working_memory import WorkingMemory, WorkingMemoryVersion

__all__ = [
    "AdminEvent",
    "Embedding",
    "EmbeddingJob",
    "EmbeddingSpace",
    "Message",
    "MessageRecall",
    "Resource",
    "Thread",
    "WorkingMemory",
    "WorkingMemoryVersion",
]
