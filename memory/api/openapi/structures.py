"""JSON schemas of what the checks of the verbs read, with the limits of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from memory.api import fields
from memory.api.answers import ConfigurationShape
from memory.api.openapi.vocabulary import (
    Schema,
    any_object,
    choice,
    false,
    identifier,
    integer,
    keyed,
    metadata_filter,
    moment,
    nullable,
    string,
    switch,
)
from memory.api.parameters import DateParameter
from memory.conf import memory_settings
from memory.content.incoming import MAX_TYPE_LENGTH, ROLES
from memory.recall.config import SCOPES
from memory.recall.request import DIRECTIONS
from memory.validation import MAX_INTEGER, camel_case

if TYPE_CHECKING:
    from rest_framework.serializers import Field

    _Field = Field[Any, Any, Any, Any]

# Those that are worth a name of their own.
_COMPONENTS: Mapping[type[Any], str] = {
    fields.FilterField: "Filter",
    fields.IncludeField: "Include",
    fields.ConfigField: "Options",
    fields.MessagesField: "Messages",
}


def component_name(field: _Field) -> str | None:
    """The name of a field's schema; None = it stands where it is used. Strict shapes have their own."""
    for kind, name in _COMPONENTS.items():
        if isinstance(field, kind):
            return f"Strict{name}" if is_strict(field) else name
    return None


def is_strict(field: _Field) -> bool:
    """Whether unknown keys are refused in it."""
    return getattr(field.parent, "strict", False)


def without_shared_enum(schema: Schema) -> Schema:
    """drf-spectacular names enums of a whole site by their property alone: ours stay where they are."""
    values = schema.get("items", schema)
    if "enum" not in values:
        return schema
    hidden = {key: value for key, value in values.items() if key not in ("enum", "x-spec-enum-id")}
    hidden["allOf"] = [{"enum": values["enum"]}]
    return {**schema, "items": hidden} if "items" in schema else hidden


@singledispatch
def schema_of(field: _Field) -> Schema:
    """The JSON schema of a field, without what every field may have: null, default, description.

    Raises:
        NotImplementedError: nothing is known of this kind of field.
    """
    raise NotImplementedError(f"{type(field).__name__} has no OpenAPI schema: register one for it.")


@schema_of.register
def _id(field: fields.IdField) -> Schema:
    return identifier()


@schema_of.register
def _text(field: fields.TextField) -> Schema:
    return {**string(), "minLength": 1} if field.filled else string()


@schema_of.register
def _flag(field: fields.FlagField) -> Schema:
    return {"type": "boolean"}


@schema_of.register
def _date(field: fields.DateField) -> Schema:
    return moment()


@schema_of.register
def _date_parameter(field: DateParameter) -> Schema:
    return moment(numbers=False)


@schema_of.register
def _count(field: fields.CountField) -> Schema:
    number = integer(field.minimum, MAX_INTEGER if field.maximum is None else field.maximum())
    return {"oneOf": [number, false()]} if field.or_false else number


@schema_of.register
def _any_object(field: fields.ObjectField) -> Schema:
    return any_object()


@schema_of.register
def _metadata(field: fields.MetadataFilterField) -> Schema:
    return metadata_filter()


@schema_of.register
def _filter(field: fields.FilterField) -> Schema:
    strict = is_strict(field)
    dates = {
        "start": nullable(moment(), "The first moment."),
        "end": nullable(moment(), "The last moment, its whole millisecond."),
        "startExclusive": nullable({"type": "boolean"}, "The start itself is left out."),
        "endExclusive": nullable({"type": "boolean"}, "The end itself is left out."),
    }
    return keyed(
        {
            "dateRange": nullable(keyed(dates, strict=strict), "Bounds of `createdAt`."),
            "metadata": metadata_filter() | {"description": "What metadata must hold, all of it."},
        },
        strict=strict,
    )


@schema_of.register
def _include(field: fields.IncludeField) -> Schema:
    neighbours = integer(0, memory_settings.MAX_WINDOW)
    item = keyed(
        {
            "id": identifier() | {"description": "The message; an unknown one is passed over."},
            "threadId": nullable(identifier(), "Only if it is a message of this thread."),
            "withPreviousMessages": nullable(neighbours, "How many messages before it come along."),
            "withNextMessages": nullable(neighbours, "How many messages after it come along."),
        },
        required=["id"],
        strict=is_strict(field),
    )
    return {"type": "array", "maxItems": memory_settings.MAX_INCLUDES, "items": item}


@schema_of.register
def _order(field: fields.OrderField) -> Schema:
    return keyed(
        {
            "field": choice(map(camel_case, field.names), "What is ordered by."),
            "direction": choice(DIRECTIONS, "`ASC`: oldest first."),
        },
        strict=is_strict(field),
    )


@schema_of.register
def _options(field: fields.ConfigField) -> Schema:
    strict = is_strict(field)
    window = integer(0, memory_settings.MAX_WINDOW)
    search = {
        "topK": integer(1, memory_settings.MAX_TOP_K) | {"description": "Most messages that are found."},
        "messageRange": {
            "description": "Neighbours of a hit: on both sides, or on each; a missing half is 2.",
            "anyOf": [window, keyed({"before": window, "after": window}, strict=strict)],
        },
        "scope": choice(SCOPES, "All threads of the resource, or the one thread."),
        "threshold": nullable({"type": "number", "minimum": 0, "maximum": 1}, "The least similarity."),
        "indexName": nullable(identifier(), "The alias of an embedder."),
    }
    memory = {
        "enabled": {"type": "boolean"},
        "template": nullable(string(), "Its form, in Markdown; not beside `schema`."),
        "schema": nullable(any_object(), "Its form, as a JSON schema."),
        "scope": choice(SCOPES, "Whose it is."),
        "readOnly": {"type": "boolean"},
    }
    title = {
        "model": nullable(string(), "The model that writes it."),
        "instructions": nullable(string(), "What the model is told."),
        "minMessages": integer(1, MAX_INTEGER) | {"description": "Messages before there is a title."},
    }
    titles = switch(title, "Titles for threads without one.", strict=strict)
    return keyed(
        {
            "lastMessages": {
                "description": "Messages of the thread's history; 0 or false: none.",
                "oneOf": [integer(0, MAX_INTEGER), false()],
            },
            "semanticRecall": switch(search, "Search by meaning.", strict=strict),
            "workingMemory": keyed(memory, strict=strict),
            "generateTitle": titles,
            "threads": keyed({"generateTitle": titles}, strict=strict),
            "readOnly": {"type": "boolean", "description": "Turns of the agent store nothing."},
        },
        strict=strict,
    )


@schema_of.register
def _ids(field: fields.IdsField) -> Schema:
    one = {"anyOf": [identifier(), keyed({"id": identifier()}, required=["id"])]}
    many = {"type": "array", "maxItems": memory_settings.MAX_MESSAGES, "items": one}
    return {"anyOf": [*one["anyOf"], many]}


@schema_of.register
def _messages(field: fields.MessagesField) -> Schema:
    part = keyed(
        {
            "type": {"type": "string", "description": "`text`, `tool-invocation`, `reasoning`, `file`..."},
            "text": string() | {"description": "Required in a part of the type `text`."},
        },
        required=["type"],
    )
    parts = {"type": "array", "maxItems": memory_settings.MAX_PARTS, "items": part}
    content = keyed(
        {
            "format": {"type": "integer", "minimum": 2, "maximum": 2},
            "parts": parts,
            "content": nullable(string(), "The text as a whole, where it is not that of the parts."),
            "metadata": nullable(any_object(), "What filters look at."),
        },
        description="Format 2. Other keys, and parts of any type, are kept as they are.",
    )
    message = keyed(
        {
            "id": nullable(identifier(), "One that is known is written over in place; none: a new one."),
            "threadId": identifier(),
            "resourceId": identifier() | {"description": "The owner of the thread."},
            "role": choice(ROLES, "Messages of the role `system` are not stored."),
            "type": nullable({"type": "string", "maxLength": MAX_TYPE_LENGTH}, "Free text."),
            "content": {"anyOf": [content, string() | {"description": "One text."}, parts]},
            "createdAt": nullable(moment(), "Now, where it is missing."),
        },
        required=["threadId", "resourceId", "role", "content"],
    )
    return {"type": "array", "maxItems": memory_settings.MAX_MESSAGES, "items": message}


@schema_of.register
def _configuration(field: ConfigurationShape) -> Schema:
    count = integer(0, MAX_INTEGER)
    search = {
        "topK": count,
        "messageRange": keyed({"before": count, "after": count}, required=["before", "after"]),
        "scope": choice(SCOPES, "All threads of the resource, or the one thread."),
        "threshold": {"type": "number", "description": "The least similarity; missing: any."},
        "indexName": {"type": "string", "description": "The alias of an embedder."},
    }
    needed = ["topK", "messageRange", "scope", "indexName"]
    memory = {
        "enabled": {"type": "boolean"},
        "scope": choice(SCOPES, "Whose it is."),
        "template": {"type": "string", "description": "Its form, in Markdown."},
        "schema": any_object() | {"description": "Its form, as a JSON schema."},
    }
    properties = {
        "lastMessages": {"oneOf": [integer(1, MAX_INTEGER), false()]},
        "semanticRecall": {"oneOf": [keyed(search, required=needed), false()]},
        "generateTitle": {"type": "boolean"},
        "workingMemory": keyed(memory, required=["enabled", "scope"]),
        "readOnly": {"type": "boolean"},
    }
    return keyed(properties, required=list(properties))
