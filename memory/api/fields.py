"""Serializers and fields that read with the checks of the verbs, so that HTTP allows what Python allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from memory.api.errors import wire_path
from memory.conf import memory_settings
from memory.content.incoming import read_messages
from memory.exceptions import Issue
from memory.managers.deleting import read_ids
from memory.recall import MemoryConfig, MessageFilter, known_options
from memory.recall.filters import read_metadata_filter
from memory.recall.request import ORDER, read_includes, read_order
from memory.validation import Check, camel_case

if TYPE_CHECKING:
    _Serializer = serializers.Serializer[Any]
    _Field = serializers.Field[Any, Any, Any, Any]
else:
    _Serializer, _Field = serializers.Serializer, serializers.Field

MESSAGES: dict[str, Any] = {"required": "is required", "null": "must not be null"}


class WireSerializer(_Serializer):
    """Fields are declared in snake_case and stand on the wire in camelCase.

    Attributes:
        strict: unknown fields are issues, at every depth; else they are ignored (contract section 6).
    """

    default_error_messages = MESSAGES
    strict = False

    def get_fields(self) -> dict[str, _Field]:
        fields: dict[str, _Field] = {}
        for name, field in super().get_fields().items():
            wire = camel_case(name)
            if wire != name and field.source is None:
                field.source = name
            fields[wire] = field
        return fields

    def to_internal_value(self, data: Any) -> Any:
        check = Check(wire=True, strict=self.strict)
        check.mapping(data, "", [field.source or name for name, field in self.fields.items()])
        unknown = {issue.field: [issue.message] for issue in check.issues}
        if "" in unknown:
            raise serializers.ValidationError(unknown[""])
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            found: Any = error.detail
            raise serializers.ValidationError({**found, **unknown}) from error
        if unknown:
            raise serializers.ValidationError(unknown)
        return values

    @property
    def issues(self) -> list[Issue]:
        """All that is wrong, by dotted paths."""
        return list(_flatten(self.errors, ""))


def _flatten(errors: Any, path: str) -> Iterator[Issue]:
    if isinstance(errors, Mapping):
        for key, nested in errors.items():
            yield from _flatten(nested, f"{path}.{key}" if path and key else path or key)
    else:
        for message in errors:
            yield Issue(path, str(message))


class CheckedField(_Field):
    """A value that is read by one of the checks."""

    default_error_messages = MESSAGES

    def read(self, check: Check, value: Any, path: str) -> Any:
        """The value as it is handed on; what is wrong is noted in `check`."""
        raise NotImplementedError

    def to_internal_value(self, data: Any) -> Any:
        name = self.field_name or ""
        check = Check(wire=True, strict=getattr(self.parent, "strict", False))
        value = self.read(check, data, name)
        if check.issues:
            found: dict[str, list[str]] = {}
            for issue in check.issues:
                path = wire_path(issue.field, {}).removeprefix(name).removeprefix(".")
                found.setdefault(path, []).append(issue.message)
            raise serializers.ValidationError(found)
        return value

    def to_representation(self, value: Any) -> Any:
        return value


class IdField(CheckedField):
    def read(self, check: Check, value: Any, path: str) -> Any:
        return check.identifier(value, path)


class TextField(CheckedField):
    """Text, with what cannot be stored replaced; `filled` refuses the empty one."""

    def __init__(self, *, filled: bool = False, **options: Any) -> None:
        self.filled = filled
        super().__init__(**options)

    def read(self, check: Check, value: Any, path: str) -> Any:
        if value == "" and self.filled:
            check.fail(path, "must not be empty")
        return check.text(value, path)


class FlagField(CheckedField):
    def read(self, check: Check, value: Any, path: str) -> Any:
        return check.boolean(value, path)


class DateField(CheckedField):
    def read(self, check: Check, value: Any, path: str) -> Any:
        return check.bound(value, path)


class CountField(CheckedField):
    """A whole number. `maximum` is asked for each value: it may be a setting. `or_false` lets false pass."""

    def __init__(
        self,
        *,
        minimum: int = 0,
        maximum: Callable[[], int] | None = None,
        or_false: bool = False,
        **options: Any,
    ) -> None:
        self.minimum, self.maximum, self.or_false = minimum, maximum, or_false
        super().__init__(**options)

    def read(self, check: Check, value: Any, path: str) -> Any:
        limits = {} if self.maximum is None else {"maximum": self.maximum()}
        return check.integer(value, path, minimum=self.minimum, or_false=self.or_false, **limits)


def page_cap() -> int:
    """Most rows a page."""
    return memory_settings.HTTP_MAX_PER_PAGE


class ObjectField(CheckedField):
    """Any JSON object; what may stand in it, such as metadata, is checked by the verb that stores it."""

    def read(self, check: Check, value: Any, path: str) -> Any:
        check.mapping(value, path, (), strict=False)
        return value


class MetadataFilterField(CheckedField):
    def read(self, check: Check, value: Any, path: str) -> Any:
        return read_metadata_filter(check, value, path)


# The next three are handed on as they came: the whole request is read once more with its other half.


class FilterField(CheckedField):
    def read(self, check: Check, value: Any, path: str) -> Any:
        MessageFilter.read(check, value, path)
        return value


class IncludeField(CheckedField):
    def read(self, check: Check, value: Any, path: str) -> Any:
        read_includes(check, value, path)
        return value


class OrderField(CheckedField):
    """`{field?, direction?}`; `fields` are those that can be ordered by, the default first.

    Where unknown names are ignored they are taken out: the verb would refuse them.
    """

    def __init__(self, fields: Iterable[str], **options: Any) -> None:
        self.names = tuple(fields)
        super().__init__(**options)

    def read(self, check: Check, value: Any, path: str) -> Any:
        read_order(check, value, path, self.names)
        if isinstance(value, Mapping) and not check.strict:
            return {name: entry for name, entry in value.items() if name in ORDER}
        return value


class ConfigField(CheckedField):
    """Options of an agent. Where unknown ones are ignored they are taken out, at every depth."""

    def read(self, check: Check, value: Any, path: str) -> Any:
        if isinstance(value, Mapping) and not check.strict:
            value = known_options(value)
        config = MemoryConfig.read(check, value, path)
        if isinstance(value, Mapping) and "lastMessages" in value and config.last_messages > page_cap():
            check.fail(f"{path}.lastMessages", f"must be at most {page_cap():,}")
        return value


class IdsField(CheckedField):
    """One id, or a list of ids and of objects that hold one."""

    def read(self, check: Check, value: Any, path: str) -> Any:
        return read_ids(check, value, path)


class MessagesField(CheckedField):
    """Messages to save."""

    def read(self, check: Check, value: Any, path: str) -> Any:
        return read_messages(check, value)
