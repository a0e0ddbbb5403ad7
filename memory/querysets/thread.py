"""Questions about threads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from django.db import models

from memory.db.expressions import IsOneOf, MetadataMatches
from memory.db.transactions import write_transaction
from memory.signals import threads_transferred

if TYPE_CHECKING:
    from memory.recall.filters import Scalar
    from memory.schema import Thread  # noqa: F401 - named by the base class


class ThreadQuerySet(models.QuerySet["Thread"]):
    """A queryset of threads."""

    def of_owners(self, owners: Collection[str] | None) -> ThreadQuerySet:
        """Threads of the resources of these ids; None = of all."""
        return self.all() if owners is None else self.filter(IsOneOf("resource__uid", list(owners)))

    def matching(self, metadata: Mapping[str, Scalar]) -> ThreadQuerySet:
        """Threads whose metadata holds every entry, in type and value."""
        return self.filter(MetadataMatches("metadata", metadata)) if metadata else self.all()

    def locked(self) -> ThreadQuerySet:
        """Locked against other writers until the transaction ends.

        In the order of the primary keys, so that two writers never wait for each other; the lock lets
        foreign keys to the thread be checked meanwhile. Without a join: PostgreSQL would test it again
        after waiting, and drop a thread that went to another resource meanwhile.
        """
        return self.select_for_update(no_key=True).order_by("pk")

    def update(self, **kwargs: Any) -> int:
        """Django's, with the vectors following when the threads go to another resource."""
        if not {"resource", "resource_id"} & set(kwargs):
            return super().update(**kwargs)
        self._for_write = True
        with write_transaction(self.db, self.model._meta.db_table):
            keys = list(self.order_by().values_list("pk", flat=True))
            rows = type(self)(self.model, using=self.db).filter(IsOneOf("pk", keys))
            changed = models.QuerySet.update(rows, **kwargs)
            threads_transferred.send(sender=self.model, threads=keys, using=self.db)
        return changed
