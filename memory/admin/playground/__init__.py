"""Trying out what an agent would be sent: by the code that agents use, and without storing anything."""

from memory.admin.playground.page import PlaygroundMixin, RecalledByMixin

__all__ = ["PlaygroundMixin", "RecalledByMixin"]
