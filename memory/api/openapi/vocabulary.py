"""The words that the schemas of this app are made of.

They are written for OpenAPI 3.0 and 3.1 alike, as it is the site that chooses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.plumbing import append_meta, is_jsonschema_compliant

from memory.conf import memory_settings
from memory.validation import MAX_ID_LENGTH

Schema = dict[str, Any]

# The years 1 to 9999, in milliseconds since 1970.
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999


def identifier() -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": MAX_ID_LENGTH, "pattern": r"\S"}


def string() -> Schema:
    return {"type": "string", "maxLength": memory_settings.MAX_TEXT}


def integer(minimum: int, maximum: int) -> Schema:
    return {"type": "integer", "minimum": minimum, "maximum": maximum}


def false() -> Schema:
    return {"type": "boolean", "enum": [False]}


def moment(*, numbers: bool = True) -> Schema:
    """A date as it comes in; `numbers` where JSON can hold one."""
    texts: list[Schema] = [
        {"type": "string", "format": "date-time", "description": "With an offset or `Z`."},
        {"type": "string", "format": "date", "description": "Midnight in UTC."},
    ]
    number = {
        "type": "number",
        "minimum": _FIRST,
        "maximum": _LAST,
        "description": "Epoch milliseconds.",
    }
    return {"anyOf": [*texts, number] if numbers else texts}


def any_object() -> Schema:
    return {"type": "object", "additionalProperties": {}}


def metadata_filter() -> Schema:
    scalars = [{"type": "string"}, {"type": "number"}, nullable({"type": "boolean"})]
    found: Schema = {"type": "object", "additionalProperties": {"anyOf": scalars}}
    if is_jsonschema_compliant():
        # OpenAPI 3.0 has no word for it.
        found["propertyNames"] = {"pattern": "^[A-Za-z_][A-Za-z0-9_]{0,127}$"}
    return found


def choice(values: Iterable[str], description: str) -> Schema:
    return {"type": "string", "enum": list(values), "description": description}


def nullable(schema: Schema, description: str | None = None) -> Schema:
    """`null` is the same as nothing."""
    found: Schema = append_meta(schema, {"nullable": True})
    return found if description is None else {**found, "description": description}


def switch(properties: Schema, description: str, *, strict: bool) -> Schema:
    """On, off, or on with options."""
    either = {"anyOf": [{"type": "boolean"}, keyed(properties, strict=strict)]}
    return nullable(either, description)


def keyed(
    properties: Schema, *, required: list[str] | None = None, strict: bool = False, description: str = ""
) -> Schema:
    found: Schema = {"type": "object", "properties": properties}
    if required:
        found["required"] = required
    if strict:
        found["additionalProperties"] = False
    if description:
        found["description"] = description
    return found
