"""Dates as the wire writes them."""

from __future__ import annotations

from datetime import UTC, datetime


def wire_date(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and `Z`: 2026-01-31T09:00:00.000Z."""
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds") + "Z"


def exact_date(moment: datetime) -> str:
    """ISO 8601 in UTC with the microseconds that are stored: 2026-01-31T09:00:00.000000Z."""
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="microseconds") + "Z"
