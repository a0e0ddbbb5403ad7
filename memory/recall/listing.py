"""The parameters of a list of threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from memory.recall.filters import Scalar, read_metadata_filter
from memory.recall.request import read_order
from memory.validation import MAX_INTEGER, Check

FIELDS = ("created_at", "updated_at")
DEFAULT_PER_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadListing:
    """What :meth:`ThreadManager.list_threads` is asked."""

    resource_uid: str | None
    metadata: dict[str, Scalar]
    ordering: tuple[str, str]
    page: int
    per_page: int | Literal[False]

    @classmethod
    def read(
        cls, *, resource_id: Any, metadata: Any, order_by: Any, page: Any, per_page: Any
    ) -> ThreadListing:
        """Validate all parameters.

        Raises:
            RecallError: with one issue for each thing that is wrong.
        """
        check = Check()
        resource_uid = None if resource_id is None else check.identifier(resource_id, "resource_id")
        wanted = {} if metadata is None else read_metadata_filter(check, metadata, "metadata")
        field, descending = read_order(check, order_by, "order_by", FIELDS)
        page = 0 if page is None else check.integer(page, "page")
        per_page = (
            DEFAULT_PER_PAGE if per_page is None else check.integer(per_page, "per_page", or_false=True)
        )
        if per_page is False and page:
            check.fail("page", "must be 0 when per_page is false: there is one page of everything")
        elif page and per_page and (page + 1) * per_page > MAX_INTEGER:
            check.fail("page", "is beyond what a database can count")
        check.finish()
        sign = "-" if descending else ""
        return cls(
            resource_uid=resource_uid,
            metadata=wanted,
            ordering=(sign + field, f"{sign}pk"),
            page=page or 0,
            per_page=per_page if per_page is not None else False,
        )

    def bounds(self, total: int) -> tuple[int, int]:
        """First row of the page, and the row after its last."""
        if self.per_page is False:
            return 0, total
        offset = self.page * self.per_page
        return offset, offset + self.per_page
