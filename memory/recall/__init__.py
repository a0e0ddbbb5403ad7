"""What a recall is asked and what it answers, as typed values. Plain Python, no models."""

from memory.recall.config import MemoryConfig, SemanticRecallConfig, WorkingMemoryConfig
from memory.recall.filters import DateRange, MessageFilter
from memory.recall.request import Include, RecallRequest
from memory.recall.result import CloneResult, RecallResult, ThreadPage
from memory.recall.search import SearchHit, SearchRequest, SearchResult

__all__ = [
    "CloneResult",
    "DateRange",
    "Include",
    "MemoryConfig",
    "MessageFilter",
    "RecallRequest",
    "RecallResult",
    "SearchHit",
    "SearchRequest",
    "SearchResult",
    "SemanticRecallConfig",
    "ThreadPage",
    "WorkingMemoryConfig",
]
