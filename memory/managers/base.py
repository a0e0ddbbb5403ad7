"""What the managers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.db import models, router

from memory.db.transactions import run_write

T = TypeVar("T")
M = TypeVar("M", bound=models.Model)


class WritingManager(models.Manager[M]):
    """A manager whose verbs write."""

    @property
    def write_db(self) -> str:
        """The database that was named with `using`, else what the site's routers say for writing."""
        return self._db or router.db_for_write(self.model)

    def run_write(self, work: Callable[[str], T]) -> T:
        """`work` in a write transaction, see :func:`memory.db.transactions.run_write`; it is given the alias
        of the database."""
        using = self.write_db
        return run_write(using, self.model._meta.db_table, lambda: work(using))
