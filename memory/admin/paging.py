"""Pages of rows that are never all counted, and sorted by nothing but an index."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.functional import cached_property

from memory.admin.display import grouped

if TYPE_CHECKING:
    from django.http import HttpRequest

    _Paginator = Paginator[Any]
else:
    _Paginator = Paginator

CAP = 10_000


class CappedPaginator(_Paginator):
    """A paginator that counts up to `cap` rows, and shows no page beyond them."""

    cap = CAP

    @cached_property
    def _counted(self) -> int:
        rows = self.object_list
        if isinstance(rows, QuerySet):
            return rows.order_by()[: self.cap + 1].count()
        return len(rows)

    @cached_property
    def count(self) -> int:
        return min(self._counted, self.cap)

    @property
    def shown_count(self) -> str:
        """The number of rows as it is shown: "10,000+" where there are more than were counted."""
        return capped(self._counted, self.cap)


def capped(count: int, cap: int = CAP) -> str:
    """A number of which it is only known that it exceeds `cap`, where it does: "10,000+"."""
    return f"{grouped(min(count, cap))}{'+' if count > cap else ''}"


class BoundedList(ChangeList):
    """A list whose address asks for nothing that a database refuses or takes long for."""

    @property
    def zone(self) -> str:
        """The zone of the dates that it shows."""
        return timezone.get_current_timezone_name()

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """See Django. PostgreSQL has no null character in its texts.

        Raises:
            IncorrectLookupParameters: a value has one.
        """
        found: dict[str, Any] = super().get_filters_params(params)
        if any("\x00" in value for values in found.values() for value in values):
            raise IncorrectLookupParameters
        return found

    def get_results(self, request: HttpRequest) -> None:
        """The rows of the page, without the columns that the list does not show."""
        admin: Any = self.model_admin
        self.queryset = self.queryset.defer(*admin.unlisted)
        super().get_results(request)

    def get_ordering_field(self, field_name: Any) -> Any:
        """Django's `sortable_by` takes the links away, but not what they ask for."""
        return super().get_ordering_field(field_name) if field_name in (self.sortable_by or ()) else None


@cache
def bounded(base: Any) -> Any:
    """A class of lists, which may be that of a theme, with the rules above."""
    return type("BoundedChangeList", (BoundedList, base), {})
