"""Pure SQL: chainable questions about the rows. Nothing here calls an embedder."""

from memory.querysets.embedding import EmbeddingQuerySet, Hit
from memory.querysets.message import MessageQuerySet
from memory.querysets.thread import ThreadQuerySet
from memory.querysets.windows import Target

__all__ = ["EmbeddingQuerySet", "Hit", "MessageQuerySet", "Target", "ThreadQuerySet"]
