"""Query parameters, as the client library writes them (`http.md`, section 1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.http import QueryDict
from rest_framework import serializers
from rest_framework.fields import empty

from memory.api import fields
from memory.api.fields import WireSerializer, page_cap
from memory.api.transport import read_json
from memory.recall.listing import DEFAULT_PER_PAGE, FIELDS
from memory.validation import Check

MESSAGES_PER_PAGE = 40
SEARCH_LIMIT = 20

_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?")

if TYPE_CHECKING:
    _Parameter = fields.CheckedField
else:
    _Parameter = object


class Parameter(_Parameter):
    """A parameter that may be given once."""

    def get_value(self, dictionary: Any) -> Any:
        values = dictionary.getlist(self.field_name)
        return values[0] if len(values) == 1 else values or empty

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, list):
            raise serializers.ValidationError(f"must be given once, not {len(data)} times")
        return super().to_internal_value(data)


class IdParameter(Parameter, fields.IdField):
    pass


class UndefinedIdParameter(IdParameter):
    """The client writes a missing id as the text `undefined` on one route."""

    def get_value(self, dictionary: Any) -> Any:
        value = super().get_value(dictionary)
        return empty if value == "undefined" else value


class TextParameter(Parameter, fields.TextField):
    pass


class CountParameter(Parameter, fields.CountField):
    """Coerced as JavaScript coerces text: an empty one is 0, `2.0` and `1e2` are whole numbers."""

    def read(self, check: Check, value: Any, path: str) -> Any:
        text = value.strip()
        if _INTEGER.fullmatch(text):
            return super().read(check, int(text), path)
        return super().read(check, float(text) if _NUMBER.fullmatch(text) else value if text else 0, path)


class FlagParameter(Parameter, fields.FlagField):
    """`true` or `false`."""

    def read(self, check: Check, value: Any, path: str) -> Any:
        return super().read(check, {"true": True, "false": False}.get(value, value), path)


class DateParameter(Parameter, fields.DateField):
    pass


class JSONParameter(Parameter):
    """An object as JSON, or one level deep in brackets (`metadata[k]=v`), which the plain name overrides."""

    def get_value(self, dictionary: Any) -> Any:
        value = super().get_value(dictionary)
        return value if value is not empty else _brackets(dictionary, self.field_name or "") or empty

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            return super().to_internal_value(data)
        try:
            value = read_json(data)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from error
        if value is None:
            self.fail("null")
        # A list in JSON is no parameter that was given several times.
        return fields.CheckedField.to_internal_value(self, value)


def _brackets(query: QueryDict, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, values in query.lists():
        if key.startswith(f"{name}[") and key.endswith("]"):
            found[key[len(name) + 1 : -1]] = values[0] if len(values) == 1 else values
    return found


class MetadataParameter(JSONParameter, fields.MetadataFilterField):
    pass


class FilterParameter(JSONParameter, fields.FilterField):
    pass


class IncludeParameter(JSONParameter, fields.IncludeField):
    pass


class ConfigParameter(JSONParameter, fields.ConfigField):
    pass


class OrderParameter(JSONParameter, fields.OrderField):
    """`orderBy`. What is no JSON is ignored, or, where older clients are served, names the field beside
    `sortDirection`."""

    def __init__(self, names: tuple[str, ...], *, legacy: bool = False, **options: Any) -> None:
        self.legacy = legacy
        super().__init__(names, **options)

    def get_value(self, dictionary: Any) -> Any:
        value = super().get_value(dictionary)
        try:
            if isinstance(value, str):
                read_json(value)
        except ValueError:
            value = {"field": value} if self.legacy else empty
        direction = dictionary.get("sortDirection")
        if self.legacy and direction is not None and not isinstance(value, str):
            return {"direction": direction} | (value if isinstance(value, dict) else {})
        return value


class AgentQuery(WireSerializer):
    agent_id = IdParameter(required=False)


class OwnerQuery(AgentQuery):
    resource_id = IdParameter(required=False)


class ThreadListQuery(OwnerQuery):
    metadata = MetadataParameter(required=False)
    page = CountParameter(default=0)
    per_page = CountParameter(maximum=page_cap, default=DEFAULT_PER_PAGE)
    order_by = OrderParameter(FIELDS, legacy=True, required=False)


class MessageListQuery(OwnerQuery):
    page = CountParameter(default=0)
    per_page = CountParameter(maximum=page_cap, default=MESSAGES_PER_PAGE)
    order_by = OrderParameter(("created_at",), required=False)
    filter = FilterParameter(required=False)
    include = IncludeParameter(required=False)
    include_system_reminders = FlagParameter(default=False)


class DeleteMessagesQuery(WireSerializer):
    resource_id = IdParameter(required=False)


class WorkingMemoryQuery(AgentQuery):
    resource_id = UndefinedIdParameter(required=False)
    memory_config = ConfigParameter(required=False)


class SearchQuery(AgentQuery):
    search_query = TextParameter(filled=True)
    resource_id = IdParameter()
    thread_id = IdParameter(required=False)
    limit = CountParameter(minimum=1, maximum=page_cap, default=SEARCH_LIMIT)
    memory_config = ConfigParameter(required=False)


class StatusQuery(OwnerQuery):
    thread_id = IdParameter(required=False)


class ObservationQuery(AgentQuery):
    resource_id = IdParameter()
    thread_id = IdParameter(required=False)
    from_ = DateParameter(required=False)
    to = DateParameter(required=False)
    offset = CountParameter(default=0)
    limit = CountParameter(minimum=1, maximum=page_cap, default=5)
