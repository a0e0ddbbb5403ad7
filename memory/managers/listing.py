"""Pages of threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Subquery

from memory.querysets import tables
from memory.recall import ThreadPage
from memory.recall.listing import ThreadListing

if TYPE_CHECKING:
    from memory.querysets import ThreadQuerySet


def page_of(threads: ThreadQuerySet, listing: ThreadListing) -> ThreadPage:
    """Those of `threads` that are asked for. 2 queries."""
    threads = threads.matching(listing.metadata).select_related("resource")
    if listing.resource_uid is not None:
        # The owner by its key, not by a join: the index then gives the order too.
        owner = tables.resources(threads.db).filter(uid=listing.resource_uid).values("pk")
        threads = threads.filter(resource_id=Subquery(owner[:1]))
    total = threads.count()
    threads = threads.order_by(*listing.ordering)
    offset, end = listing.bounds(total)
    return ThreadPage(
        threads=list(threads[offset:end]),
        total=total,
        page=listing.page,
        per_page=listing.per_page,
        has_more=end < total,
    )
