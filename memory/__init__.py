"""Durable conversation memory for Django: threads, messages and semantic recall.

``from memory import Memory`` is the door for agent code. The name is resolved on first use, so the
import is safe in settings and before the app registry is ready.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.facade import Memory

__all__ = ["Memory"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "Memory":
        return import_module("memory.facade").Memory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
