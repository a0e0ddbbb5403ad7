"""Filters of the lists that need neither all values nor a count of rows."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.admin.display import grouped
from memory.admin.masks import can_read
from memory.admin.owners import of_account
from memory.admin.zones import midnight
from memory.db.expressions import MetadataMatches
from memory.models import Embedding, EmbeddingJob, Message, Resource
from memory.querysets import MessageQuerySet
from memory.querysets.newest import within_owners
from memory.recall.filters import read_metadata_filter
from memory.validation import MAX_ID_LENGTH, Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.admin.views.main import ChangeList
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest
    from django.utils.functional import _StrOrPromise

FROM, TO = pgettext_lazy("the first day", "From"), pgettext_lazy("the last day", "To")
# Most resources of one account.
MAX_OWNERS = 100


class FormFilter(admin.ListFilter):
    """A filter that is typed in. Its form sends the rest of the address along.

    Attributes:
        parameters: names in the address, with what each is called in the form.
        max_length: of what may be typed.
        error: what is wrong with what was typed; then no row is shown.
    """

    template = "admin/memory/filter.html"
    input_type: ClassVar = "text"
    max_length: ClassVar = MAX_ID_LENGTH
    parameters: ClassVar[dict[str, Any]] = {}
    help_text: _StrOrPromise = ""

    def __init__(
        self,
        request: HttpRequest,
        params: dict[str, Any],
        model: type[Model],
        model_admin: admin.ModelAdmin[Any],
    ) -> None:
        super().__init__(request, params, model, model_admin)
        self.error: _StrOrPromise = ""
        self.typed: dict[str, str] = {}
        for name in self.parameters:
            given = params.pop(name, [""])[-1]
            if len(given) > self.max_length:
                self.error = _("At most %(most)s characters.") % {"most": grouped(self.max_length)}
                given = given[: self.max_length]
            if given.strip():
                self.typed[name] = given

    def expected_parameters(self) -> list[str | None]:
        return list(self.parameters)

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:
        """What the template needs: first the form, then links."""
        # A filter that changes begins with the first page again.
        own = [*self.parameters, "p", "e"]
        rest = [
            (name, value)
            for name, values in changelist.filter_params.items()
            for value in values
            if name not in own
        ]
        yield {
            "hidden": rest,
            "fields": [(name, label, self.typed.get(name, "")) for name, label in self.parameters.items()],
            "clear": changelist.get_query_string(remove=own) if self.typed else "",
        }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.error:
            return queryset.none()
        return self.narrowed(request, queryset) if self.typed else queryset

    def narrowed(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that what was typed asks for."""
        condition = self.condition(queryset.model)
        return queryset.none() if condition is None else queryset.filter(condition)

    def condition(self, model: type[Model]) -> Any:
        """What the rows must be; None, with an `error`, where that cannot be told."""
        raise NotImplementedError


class OwnerFilter(FormFilter):
    """By the id of a resource, or for viewers of content the name of the user account it is linked to. At
    most 4 queries."""

    title = _("resource")
    parameter_name = "owner"
    parameters: ClassVar = {"owner": _("Id or user account")}

    def narrowed(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        text, keys = self.typed["owner"], list[int]()
        conditions = [Q(uid__in=typed_ids(text))]
        if can_read(request):
            conditions.append(of_account(text.strip()))
        # One after the other: the two together would use neither index.
        for condition in conditions:
            found = Resource.objects.filter(condition).values_list("pk", flat=True)
            keys = keys or list(found[: MAX_OWNERS + 1])
        if len(keys) > MAX_OWNERS:
            self.error = _("This account has more than %(number)s resources. Give the id of one.") % {
                "number": grouped(MAX_OWNERS)
            }
            return queryset.none()
        if isinstance(queryset, MessageQuerySet):
            return within_owners(queryset, keys)
        return queryset.filter(resource__in=keys)


class DateFilter(FormFilter):
    """From one day to another, both whole and in the viewer's zone."""

    title = _("date")
    parameter_name = "from"
    field: ClassVar = "created_at"
    input_type = "date"
    parameters: ClassVar = {"from": FROM, "to": TO}
    periods: ClassVar = ((_("Today"), 0), (_("Past 7 days"), 6), (_("Past 30 days"), 29))

    @property
    def help_text(self) -> str:  # type: ignore[override]
        return timezone.get_current_timezone_name()

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:
        yield from super().choices(changelist)
        today = timezone.localdate()
        for label, days in self.periods:
            start = (today - timedelta(days)).isoformat()
            yield {
                "display": label,
                "selected": self.typed == {"from": start},
                "query_string": changelist.get_query_string({"from": start}, ["to", "p"]),
            }

    def condition(self, model: type[Model]) -> Any:
        condition = Q()
        try:
            for name, lookup, days in (("from", "gte", 0), ("to", "lt", 1)):
                if name in self.typed:
                    moment = midnight(date.fromisoformat(self.typed[name].strip()), days)
                    condition &= Q(**{f"{self.field}__{lookup}": moment})
        except (ValueError, OverflowError):
            self.error = _("A date looks like 2026-01-31.")
            return None
        return condition


class ChangeFilter(DateFilter):
    """Threads by their latest change."""

    title = _("updated at")
    field = "updated_at"


def typed_ids(text: str) -> list[str]:
    """The ids that a text may be, typed or pasted: spaces at the ends of an id are a part of it."""
    return list(dict.fromkeys((text, text.strip())))


class MetadataFilter(FormFilter):
    """One entry of the metadata, `key=value`, equal in type and value (contract section 2).

    A value that is JSON is what it says: 3, true, null, "3"; any other is a string as it stands.
    """

    title = _("metadata")
    parameter_name = "metadata"
    max_length = 2_000
    parameters: ClassVar = {"metadata": _("key=value")}
    help_text = 'plan=pro, level=3, vip=true, code="3"'

    def condition(self, model: type[Model]) -> Any:
        try:
            wanted = read_entry(self.typed["metadata"])
        except ValidationError as error:
            self.error = error.messages[0]
            return None
        return MetadataMatches("metadata", wanted)


def read_entry(text: str) -> dict[str, Any]:
    """One entry that metadata must have, of `key=value`.

    Raises:
        ValidationError: `text` is something else, or the contract allows no such key or value.
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise ValidationError(_("Write key=value."))
    check = Check()
    wanted = read_metadata_filter(check, {key.strip(): scalar(value.strip())}, "metadata")
    if check.issues:
        raise ValidationError(
            _(
                "A key has 1 to 128 ASCII letters, digits and underscores, does not start with a digit, and "
                "is not __proto__, prototype or constructor. A value is a text, a finite number, true, false "
                "or null."
            )
        )
    return wanted


def scalar(text: str) -> Any:
    """A JSON scalar as its value, all else as the string it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, dict | list) else value


class EmbeddingFilter(admin.SimpleListFilter):
    """Whether messages can be found by meaning, and if not, why."""

    title = _("embedding")
    parameter_name = "embedding"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("embedded", _("embedded")),
            ("waiting", _("waiting")),
            ("failed", _("failed")),
            ("none", _("no text")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Message]) -> QuerySet[Message]:
        jobs = EmbeddingJob.objects.using(queryset.db).values("message")
        match self.value():
            case "embedded":
                own = Embedding.objects.using(queryset.db).filter(message=OuterRef("pk"))
                return queryset.filter(Exists(own))
            case "waiting":
                return queryset.filter(pk__in=jobs.filter(state=EmbeddingJob.State.OPEN))
            case "failed":
                return queryset.filter(pk__in=jobs.filter(state=EmbeddingJob.State.FAILED))
            case "none":
                return queryset.filter(text="")
        return queryset


class RedactedFilter(admin.SimpleListFilter):
    """Messages of which only the place is left."""

    title = _("redacted")
    parameter_name = "redacted"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("yes"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Message]) -> QuerySet[Message]:
        return queryset.filter(redacted_at__isnull=False) if self.value() == "yes" else queryset
