"""The time zone of the viewer, which Django does not know: a script keeps it in a cookie."""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

if TYPE_CHECKING:
    from datetime import tzinfo

    from django.http import HttpRequest

COOKIE = "memory_zone"
# Names are paths into the system's zone files: nothing else may be asked of them.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,31}(?:/[A-Za-z0-9_+-]{1,31}){0,2}")


def zone_of(request: HttpRequest) -> tzinfo:
    """The zone that the cookie names; that of the site where it names none."""
    name = request.COOKIES.get(COOKIE, "").replace("%2F", "/")
    if _NAME.fullmatch(name):
        try:
            return zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, OSError, ValueError):
            pass
    return timezone.get_default_timezone()


def midnight(day: date, later: int = 0) -> datetime:
    """The beginning of a day in the present zone, or of the day some days `later`.

    Raises:
        ValueError, OverflowError: the day is at the ends of the calendar.
    """
    moment = timezone.make_aware(datetime.combine(day + timedelta(later), time.min))
    # It has to exist in UTC too, where the database compares.
    return moment.astimezone(UTC)
