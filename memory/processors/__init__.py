"""The steps around each call of a model, and the turn that puts them together (contract section 5)."""

from __future__ import annotations

from memory.processors.base import Processor, RequestContext
from memory.processors.message_history import MessageHistory
from memory.processors.message_list import MessageList
from memory.processors.semantic_recall import SemanticRecall
from memory.processors.turn import Turn
from memory.processors.working_memory import WorkingMemory

__all__ = [
    "MessageHistory",
    "MessageList",
    "Processor",
    "RequestContext",
    "SemanticRecall",
    "Turn",
    "WorkingMemory",
]
