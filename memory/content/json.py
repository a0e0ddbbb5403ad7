"""JSON documents from outside, made storable: one walk that checks and cleans."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from memory.conf import memory_settings
from memory.validation import Check, clean_text


def clean_json(check: Check, value: Any, path: str, *, depth: int = 1) -> Any:
    """A copy of `value` that both databases store alike.

    U+0000 and lone surrogates become U+FFFD. NaN, infinity, integers with no finite double, nesting
    beyond ``MAX_JSON_DEPTH`` and what is not JSON are issues at their path (contract section 3).
    """
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(check, value, path)
    if not isinstance(value, Mapping | list | tuple):
        check.fail(path, f"must be JSON, not {type(value).__name__}")
        return None
    if depth > memory_settings.MAX_JSON_DEPTH:
        check.fail(path, f"is nested deeper than {memory_settings.MAX_JSON_DEPTH} levels")
        return None
    if isinstance(value, Mapping):
        cleaned = {}
        for key, entry in value.items():
            if not isinstance(key, str):
                check.fail(path, "must have strings as keys")
                continue
            key = clean_text(key)
            cleaned[key] = clean_json(check, entry, f"{path}.{key}", depth=depth + 1)
        return cleaned
    return [
        clean_json(check, entry, f"{path}[{index}]", depth=depth + 1) for index, entry in enumerate(value)
    ]


def clean_metadata(check: Check, value: Any, path: str) -> dict[str, Any] | None:
    """A metadata object within ``MAX_METADATA`` bytes."""
    if not isinstance(value, Mapping):
        check.fail(path, f"must be an object, not {type(value).__name__}")
        return None
    known = len(check.issues)
    cleaned: dict[str, Any] = clean_json(check, value, path)
    if len(check.issues) > known:
        return None
    return cleaned if _is_small(check, cleaned, path) else None


def merge_metadata(stored: Mapping[str, Any], update: Mapping[str, Any], path: str) -> dict[str, Any]:
    """`update` laid over `stored`, key by key.

    Raises:
        RecallError: together they exceed ``MAX_METADATA``.
    """
    check = Check()
    merged = {**stored, **update}
    if update:
        _is_small(check, merged, path)
        check.finish()
    return merged


def _is_small(check: Check, metadata: dict[str, Any], path: str) -> bool:
    size = len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode())
    if size > memory_settings.MAX_METADATA:
        check.fail(path, f"must have at most {memory_settings.MAX_METADATA:,} bytes of JSON, not {size:,}")
        return False
    return True


def stable_json(value: Any) -> str:
    """Compact JSON text of a storable document, the same before it is stored and after.

    PostgreSQL keeps neither the order of an object's keys nor how a whole number was written.
    """
    return json.dumps(plain_json(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def plain_json(value: Any) -> Any:
    """A storable document with its numbers as PostgreSQL keeps them."""
    if isinstance(value, str):
        return value
    # A dict is told from other mappings at once.
    if isinstance(value, dict | Mapping):
        return {key: plain_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(entry) for entry in value]
    if isinstance(value, float) and value.is_integer():
        # The number that was written, which is what PostgreSQL keeps, not the double next to it.
        return int(Decimal(repr(value)))
    return value


def _number(check: Check, value: float, path: str) -> float | None:
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        check.fail(path, "must be a finite number that a double can hold")
        return None
    return value
