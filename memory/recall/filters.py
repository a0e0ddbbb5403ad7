"""Filters over messages and threads (contract section 2)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from memory.validation import Check, clean_text, show_key

Scalar = str | int | float | bool | None

# From the first to the last microsecond of a millisecond.
_LAST = timedelta(microseconds=999)

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_RESERVED = frozenset({"__proto__", "prototype", "constructor"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRange:
    """Bounds on `created_at`, inclusive unless exclusive; None = no bound on that side.

    A bound that came over the wire means its whole millisecond, as the wire shows no more of a date than
    that (contract section 2).
    """

    start: datetime | None = None
    end: datetime | None = None
    start_exclusive: bool = False
    end_exclusive: bool = False

    @classmethod
    def read(cls, check: Check, value: Any, path: str) -> DateRange:
        given = check.mapping(value, path, ("start", "end", "start_exclusive", "end_exclusive"))
        options: dict[str, Any] = {}
        for name in ("start", "end"):
            if name in given and given[name].value is not None:
                options[name] = check.bound(*given[name])
        for name in ("start_exclusive", "end_exclusive"):
            if name in given and given[name].value is not None:
                options[name] = check.boolean(*given[name])
        bounds = cls(**options)
        return bounds.in_milliseconds() if check.wire else bounds

    def in_milliseconds(self) -> DateRange:
        """The bounds moved to the edges of their milliseconds."""
        start, end = _milliseconds(self.start), _milliseconds(self.end)
        return replace(
            self,
            start=start + _LAST if start is not None and self.start_exclusive else start,
            end=end + _LAST if end is not None and not self.end_exclusive else end,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """What messages must match; empty matches all."""

    date_range: DateRange = DateRange()
    metadata: dict[str, Scalar] = field(default_factory=dict)

    @classmethod
    def read(cls, check: Check, value: Any, path: str = "filter") -> MessageFilter:
        if value is None:
            return cls()
        given = check.mapping(value, path, ("date_range", "metadata"))
        options: dict[str, Any] = {}
        if "date_range" in given and given["date_range"].value is not None:
            options["date_range"] = DateRange.read(check, *given["date_range"])
        if "metadata" in given:
            options["metadata"] = read_metadata_filter(check, *given["metadata"])
        return cls(**options)


def read_metadata_filter(check: Check, value: Any, path: str) -> dict[str, Scalar]:
    """Top-level keys with the scalars they must equal, in type and value; `{}` filters nothing.

    Keys: 1-128 characters, an ASCII letter or `_` first, then letters, digits, `_`; the reserved prototype
    keys are refused. Values: string, boolean, null, finite number.
    """
    if not isinstance(value, Mapping):
        check.fail(path, "must be an object of metadata keys and scalar values")
        return {}
    wanted: dict[str, Scalar] = {}
    for key, scalar in value.items():
        at = f"{path}.{show_key(key)}"
        if not isinstance(key, str) or not _KEY.fullmatch(key) or key in _RESERVED:
            check.fail(
                at,
                "is no metadata key: 1 to 128 ASCII letters, digits and `_`, not starting with a digit, "
                "and not __proto__, prototype or constructor",
            )
        elif isinstance(scalar, str):
            wanted[key] = clean_text(scalar)
        elif scalar is None or isinstance(scalar, bool) or _is_double(scalar):
            wanted[key] = scalar
        else:
            check.fail(at, "must be a string, a finite number, a boolean or null")
    return wanted


def _milliseconds(moment: datetime | None) -> datetime | None:
    """The first microsecond of a moment's millisecond."""
    return moment and moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)


def _is_double(value: Any) -> bool:
    if not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
