"""Checks of input from outside, shared by recalling and saving.

A :class:`Check` gathers everything that is wrong, each with the path the caller wrote, and raises one
:class:`~memory.exceptions.RecallError` at the end. Option names are known in snake_case and in the
camelCase of the wire (contract section 7).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from memory.conf import memory_settings
from memory.exceptions import Issue, RecallError

MAX_ID_LENGTH = 512
# What a database counts with, and room to add to it.
MAX_INTEGER = 2**62
# Inside the calendar, so that every stored date, and every bound beyond them all, exists in every time zone.
MIN_DATE, MAX_DATE = datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, tzinfo=UTC)
MIN_BOUND, MAX_BOUND = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PLAIN_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class Given(NamedTuple):
    """A value with the path under which the caller gave it."""

    value: Any
    path: str


def clean_text(text: str) -> str:
    """`text` with U+0000 and lone surrogates as U+FFFD, which neither database can store (section 3)."""
    if not _UNSTORABLE.search(text):
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return paired.replace("\x00", "\ufffd")


@cache
def camel_case(name: str) -> str:
    """`with_next_messages` as the wire writes it: `withNextMessages`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def show_key(key: Any) -> str:
    """A key of an object in a path: as it is, cut where it is long, `""` where it is empty; of another type,
    that type."""
    return key[:128] or '""' if isinstance(key, str) else type(key).__name__


class Check:
    """Collects issues; every method answers the value as it is to be used, or None with an issue noted.

    Args:
        wire: the input came as JSON over HTTP: names are known in camelCase only, dates may be epoch
            milliseconds, and 5.0 is an integer, as JSON has one kind of number.
        strict: unknown names of mappings are issues; else they are ignored.
    """

    def __init__(self, *, wire: bool = False, strict: bool = True) -> None:
        self.wire = wire
        self.strict = strict
        self.issues: list[Issue] = []

    def spell(self, name: str) -> str:
        """A snake_case name as this caller writes it."""
        return camel_case(name) if self.wire else name

    def fail(self, path: str, message: str) -> None:
        """Note one issue."""
        self.issues.append(Issue(path, message))

    def finish(self) -> None:
        """Raise :class:`RecallError` if anything was wrong."""
        if self.issues:
            raise RecallError(self.issues)

    def mapping(
        self, value: Any, path: str, names: Iterable[str], *, strict: bool = True
    ) -> dict[str, Given]:
        """The entries of a mapping under their snake_case names.

        Args:
            value: the mapping as it was given.
            path: where it was given; "" for the top level.
            names: the snake_case names that are known.
            strict: False = unknown names are ignored, whatever this check is set to.
        """
        if not isinstance(value, Mapping):
            self.fail(path, f"must be an object, not {_kind(value)}")
            return {}
        spellings = self.spellings(names)
        found: dict[str, Given] = {}
        for key, entry in value.items():
            entry_path = f"{path}.{show_key(key)}" if path else show_key(key)
            name = spellings.get(key) if isinstance(key, str) else None
            if name is None:
                if strict and self.strict:
                    self.fail(entry_path, _unknown(show_key(key), spellings, wire=self.wire))
            elif name in found:
                self.fail(entry_path, f"is given twice, as {found[name].path} too")
            else:
                found[name] = Given(entry, entry_path)
        return found

    def required(self, given: Mapping[str, Given], name: str, path: str) -> Given | None:
        """The entry of a mapping that has to be there."""
        if name not in given:
            self.fail(f"{path}.{self.spell(name)}", "is required")
        return given.get(name)

    def spellings(self, names: Iterable[str]) -> dict[str, str]:
        """The spellings that are known, each with its snake_case name."""
        if self.wire:
            return {camel_case(name): name for name in names}
        return {spelling: name for name in names for spelling in (name, camel_case(name))}

    def sequence(self, value: Any, path: str, *, maximum: int) -> list[Given]:
        """The elements of a list or tuple, with their paths."""
        if not isinstance(value, list | tuple):
            self.fail(path, f"must be a list, not {_kind(value)}")
            return []
        if len(value) > maximum:
            self.fail(path, f"must have at most {maximum:,} elements, not {len(value):,}")
            return []
        return [Given(element, f"{path}[{index}]") for index, element in enumerate(value)]

    def identifier(self, value: Any, path: str) -> str | None:
        """An id (contract section 1): 1 to 512 characters, not blank, no U+0000 or lone surrogate."""
        if not isinstance(value, str):
            self.fail(path, f"must be a string, not {_kind(value)}")
        elif not value.strip():
            self.fail(path, "must not be blank")
        elif len(value) > MAX_ID_LENGTH:
            self.fail(path, f"must have at most {MAX_ID_LENGTH} characters, not {len(value):,}")
        elif _UNSTORABLE.search(value):
            self.fail(path, "must not contain U+0000 or a lone surrogate")
        else:
            return value
        return None

    def text(self, value: Any, path: str) -> str | None:
        """A text within the limit, with what cannot be stored replaced."""
        if not isinstance(value, str):
            self.fail(path, f"must be a string, not {_kind(value)}")
        elif len(value) > memory_settings.MAX_TEXT:
            self.fail(path, f"must have at most {memory_settings.MAX_TEXT:,} characters, not {len(value):,}")
        else:
            return clean_text(value)
        return None

    def boolean(self, value: Any, path: str) -> bool | None:
        if isinstance(value, bool):
            return value
        self.fail(path, f"must be true or false, not {_kind(value)}")
        return None

    def integer(
        self, value: Any, path: str, *, minimum: int = 0, maximum: int = MAX_INTEGER, or_false: bool = False
    ) -> int | None:
        """A whole number (`True` and "5" are none); False passes where `or_false`."""
        if or_false and value is False:
            return value
        allowed = f"an integer from {minimum}" + (f" to {maximum:,}" if maximum < MAX_INTEGER else "")
        allowed += " or false" if or_false else ""
        if self.wire and isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail(path, f"must be {allowed}, not {_kind(value)}")
        elif not minimum <= value <= maximum:
            self.fail(path, f"must be {allowed}, not {_brief(value)}")
        else:
            return value
        return None

    def choice(self, value: Any, path: str, allowed: Iterable[str]) -> str | None:
        allowed = tuple(allowed)
        if isinstance(value, str) and value in allowed:
            return value
        given = repr(value) if isinstance(value, str) and len(value) <= 40 else _kind(value)
        self.fail(path, f"must be one of {', '.join(map(repr, allowed))}, not {given}")
        return None

    def date(self, value: Any, path: str) -> datetime | None:
        """A date to store: see :meth:`bound`, without the ends of the calendar."""
        moment = self.bound(value, path)
        if moment is None or MIN_DATE <= moment <= MAX_DATE:
            return moment
        self.fail(path, "must lie between 0001-01-03 and 9999-12-29")
        return None

    def bound(self, value: Any, path: str) -> datetime | None:
        """An aware datetime, or ISO 8601 text with an offset, `Z`, or a plain date (UTC midnight), in UTC;
        over the wire epoch milliseconds too.

        A date at the ends of the calendar becomes one that still lies beyond all stored dates.
        """
        if self.wire and isinstance(value, int | float) and not isinstance(value, bool):
            try:
                parsed = EPOCH + timedelta(milliseconds=value)
            except (OverflowError, ValueError):
                self.fail(path, "is beyond the years 1 to 9999")
                return None
        elif isinstance(value, str):
            try:
                parsed = datetime.fromisoformat(value)
            except ValueError:
                self.fail(path, "must be an ISO 8601 date with an offset, such as 2026-01-31T09:00:00Z")
                return None
            if _PLAIN_DATE.fullmatch(value):
                parsed = parsed.replace(tzinfo=UTC)
        elif isinstance(value, datetime):
            parsed = value
        else:
            self.fail(path, f"must be an aware datetime or an ISO 8601 string, not {_kind(value)}")
            return None
        if _offset(parsed) is None:
            self.fail(path, "has no time zone: give an aware datetime, or a string ending in Z or an offset")
            return None
        # Aware datetimes compare by their place in UTC, also where that has no datetime of its own.
        if not datetime.min.replace(tzinfo=UTC) <= parsed <= datetime.max.replace(tzinfo=UTC):
            self.fail(path, "has no equivalent in UTC between the years 1 and 9999")
            return None
        return min(max(parsed, MIN_BOUND), MAX_BOUND).astimezone(UTC)


def _offset(moment: datetime) -> timedelta | None:
    """The offset from UTC; None without a time zone, and where the time zone cannot tell."""
    try:
        return moment.utcoffset()
    except Exception:  # whatever a tzinfo of the caller may raise
        return None


def after(moment: datetime, previous: datetime | None) -> datetime:
    """`moment`, or the first microsecond after `previous` if that is later."""
    if previous is None or moment > previous:
        return moment
    return previous + timedelta(microseconds=1)


def _kind(value: Any) -> str:
    """What a wrong value is, without showing what it holds."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"the number {_brief(value)}"
    names = {type(None): "null", str: "a string", dict: "an object", list: "a list"}
    return names.get(type(value), type(value).__name__)


def _brief(number: int | float) -> str:
    return str(number) if isinstance(number, float) or abs(number) < 10**20 else "a number of over 20 digits"


def _unknown(key: str, spellings: Mapping[str, str], *, wire: bool) -> str:
    close = difflib.get_close_matches(key, spellings, n=1)
    if close:
        return f"is unknown; did you mean {close[0]!r}?"
    return f"is unknown; allowed are {', '.join(sorted(spellings if wire else set(spellings.values())))}"
