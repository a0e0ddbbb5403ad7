"""What a recall is asked and what it answers, as typed values. Plain Python, no models."""

from memory.recall.config import MemoryConfig, SemanticRecallConfig, WorkingMemoryConfig, known_options
from memory.recall.filters import DateRange, MessageFilter
from memory.recall.keyset import Keyset, Position
from memory.recall.receipts import LEAVES_DISK, EraseReceipt, RedactReceipt
from memory.recall.request import Include, RecallRequest
from memory.recall.result import CloneResult, RecallResult, ThreadPage, WorkingMemoryState
from memory.recall.search import SearchHit, SearchRequest, SearchResult

__all__ = [
    "LEAVES_DISK",
    "CloneResult",
    "DateRange",
    "EraseReceipt",
    "Include",
    "Keyset",
    "MemoryConfig",
    "MessageFilter",
    "Position",
    "RecallRequest",
    "RecallResult",
    "RedactReceipt",
    "SearchHit",
    "SearchRequest",
    "SearchResult",
    "SemanticRecallConfig",
    "ThreadPage",
    "WorkingMemoryConfig",
    "WorkingMemoryState",
    "known_options",
]
