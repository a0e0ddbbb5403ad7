"""How much there is, how much of it waits, and whose it is."""

from memory.admin.overview.page import OverviewMixin

__all__ = ["OverviewMixin"]
