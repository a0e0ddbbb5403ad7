"""Section F of the public bug reports: time zones (case 74)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone as django_timezone

from memory import Memory
from memory.exceptions import RecallError
from memory.models import Message, Thread
from tests.cases import at, message, names, numbered, save, uids

pytestmark = pytest.mark.django_db

LOS_ANGELES, TOKYO = ZoneInfo("America/Los_Angeles"), ZoneInfo("Asia/Tokyo")
KATHMANDU = timezone(timedelta(hours=5, minutes=45))
MOMENT = datetime(2024, 5, 1, 9, 0, 0, 123_456, tzinfo=UTC)


@pytest.fixture(params=["UTC", "America/Los_Angeles", "Asia/Tokyo", "Pacific/Kiritimati"])
def zone(request: pytest.FixtureRequest) -> Iterator[None]:
    """The time zone that is active in the process; no result hangs on it."""
    with django_timezone.override(request.param):
        yield


def within(**bounds: Any) -> list[str]:
    """Ids of a date filter, oldest first."""
    result = Memory().recall("t", per_page=False, filter={"date_range": bounds})
    return uids(result.chronological())


@pytest.mark.parametrize(
    "given",
    [
        MOMENT,
        MOMENT.astimezone(TOKYO),
        MOMENT.astimezone(LOS_ANGELES),
        MOMENT.astimezone(KATHMANDU),
        "2024-05-01T09:00:00.123456Z",
        "2024-05-01T18:00:00.123456+09:00",
        "2024-05-01T02:00:00.123456-07:00",
    ],
    ids=str,
)
def test_case_74_dates_come_back(zone: None, given: Any) -> None:
    """Microseconds are stored, in whatever zone they were given; the wire shows milliseconds in UTC."""
    save(message("m1", created_at=given))
    stored = Memory().recall("t").messages[0]
    assert stored.created_at == MOMENT
    assert django_timezone.is_aware(stored.created_at)
    assert stored.as_dict()["createdAt"] == "2024-05-01T09:00:00.123Z"
    assert Thread.objects.get().last_message_at == MOMENT


def test_case_74_now_is_now(zone: None) -> None:
    """No write puts a date hours ahead or behind: naive and aware ones do not meet."""
    before = django_timezone.now()
    made = Memory().create_thread("r", thread_id="t")
    save(message("m1"))
    Memory().update_thread("t", title="T")
    clone = Memory().clone_thread("t").thread
    after = django_timezone.now()
    thread = Thread.objects.get(uid="t")
    stored = Message.objects.get(uid="m1")
    moments = [made.created_at, stored.created_at, thread.updated_at, clone.created_at]
    assert [before, *moments, after] == sorted([before, *moments, after])
    assert thread.created_at == made.created_at <= thread.updated_at
    assert clone.updated_at >= clone.created_at
    cloned_at = datetime.fromisoformat(clone.metadata["clone"]["clonedAt"])
    assert before - timedelta(milliseconds=1) <= cloned_at <= after


def test_case_74_the_order_of_threads(zone: None) -> None:
    for uid in ("a", "b", "c"):
        Memory().create_thread("r", thread_id=uid)
    save(message("m1", thread="a"))

    def listed(field: str) -> list[str]:
        page = Memory().list_threads(resource_id="r", order_by={"field": field, "direction": "DESC"})
        return [thread.uid for thread in page.threads]

    assert listed("updated_at") == ["a", "c", "b"]
    assert listed("createdAt") == ["c", "b", "a"]


@pytest.mark.parametrize("tzinfo", [UTC, TOKYO, LOS_ANGELES, KATHMANDU], ids=str)
@pytest.mark.parametrize("write", [lambda moment: moment, datetime.isoformat], ids=["datetime", "text"])
def test_case_74_offsets_equal_utc(zone: None, tzinfo: Any, write: Callable[[datetime], Any]) -> None:
    """A bound with an offset is the same instant in UTC; inclusive unless exclusive."""
    numbered(5)
    start, end = write(at(2).astimezone(tzinfo)), write(at(4).astimezone(tzinfo))
    assert within(start=start, end=end) == names(2, 3, 4)
    assert within(start=start, end=end, start_exclusive=True) == names(3, 4)
    assert within(start=start, end=end, endExclusive=True) == names(2, 3)
    assert within(start=start, end=start) == names(2)
    assert within(start=start, end=start, end_exclusive=True) == []
    assert within(start=end, end=start) == []
    assert within(start=None, end=end) == names(1, 2, 3, 4)
    clone = Memory().clone_thread("t", start_date=start, end_date=end)
    assert list(clone.message_id_map) == names(2, 3, 4)


def test_case_74_a_plain_date_is_midnight_in_utc(zone: None) -> None:
    midnight = datetime(2024, 5, 2, tzinfo=UTC)
    for number, shift in enumerate((-1, 0, 1), 1):
        save(message(f"m{number}", created_at=midnight + timedelta(microseconds=shift)))
    save(message("m4", created_at="2024-05-02"))
    assert within(start="2024-05-02") == ["m2", "m4", "m3"]
    assert within(end="2024-05-02") == ["m1", "m2", "m4"]
    assert within(end="2024-05-02", end_exclusive=True) == names(1)


def test_case_74_microseconds_count(zone: None) -> None:
    for number in range(1, 4):
        save(message(f"m{number}", created_at=MOMENT + timedelta(microseconds=number)))
    bound = MOMENT + timedelta(microseconds=2)
    assert (within(end=bound), within(start=bound, start_exclusive=True)) == (names(1, 2), names(3))


def test_case_74_the_night_the_clocks_go_back(zone: None) -> None:
    """2024-11-03 in Los Angeles: the hour from 1 to 2 comes twice, and its second run is later."""
    night = [
        datetime(2024, 11, 3, 0, 50, tzinfo=LOS_ANGELES),
        datetime(2024, 11, 3, 1, 30, tzinfo=LOS_ANGELES),
        datetime(2024, 11, 3, 1, 10, tzinfo=LOS_ANGELES, fold=1),
        datetime(2024, 11, 3, 1, 50, tzinfo=LOS_ANGELES, fold=1),
        datetime(2024, 11, 3, 2, 0, tzinfo=LOS_ANGELES),
    ]
    order = list(enumerate(night, 1))
    save(*(message(f"m{number}", created_at=moment) for number, moment in reversed(order)))
    result = Memory().recall("t").chronological()
    assert uids(result) == names(1, 2, 3, 4, 5)
    assert result[1].as_dict()["createdAt"] == "2024-11-03T08:30:00.000Z"
    assert result[2].as_dict()["createdAt"] == "2024-11-03T09:10:00.000Z"
    assert within(start=night[1], end=night[2]) == names(2, 3)
    assert within(start=night[1].replace(fold=1)) == names(4, 5)
    include = [{"id": "m3", "with_previous_messages": 1}]
    assert uids(Memory().recall("t", per_page=0, include=include)) == names(3, 2)


def test_case_74_the_hour_that_does_not_exist(zone: None) -> None:
    """2024-03-10 2:30 in Los Angeles is read as Python reads it: before the change at fold 0."""
    given = datetime(2024, 3, 10, 2, 30, tzinfo=LOS_ANGELES)
    stored = save(message("m1", created_at=given))[0]
    assert stored.created_at == datetime(2024, 3, 10, 10, 30, tzinfo=UTC)


def everywhere(moment: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every verb that takes a date, by the path of the parameter."""
    yield "filter.date_range.start", lambda: within(start=moment)
    yield "filter.date_range.end", lambda: within(end=moment)
    yield "messages[0].created_at", lambda: save(message("new", created_at=moment))
    yield "messages[0].createdAt", lambda: save(message("new", createdAt=moment))
    yield "start_date", lambda: Memory().clone_thread("t", start_date=moment)
    yield "end_date", lambda: Memory().clone_thread("t", end_date=moment)


def refused(moment: Any) -> None:
    """Every verb refuses the date as bad input, naming the parameter, and writes nothing."""
    numbered(1)
    for path, call in everywhere(moment):
        with pytest.raises(RecallError) as caught:
            call()
        assert [issue.field for issue in caught.value.issues] == [path]
    assert (Message.objects.count(), Thread.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    "naive", [datetime(2024, 5, 1, 9), "2024-05-01T09:00:00", "2024-05-01 09:00", "20240501", "2024-W18-3"]
)
def test_case_74_naive_dates_are_refused_everywhere(zone: None, naive: Any) -> None:
    """Date filter: only a plain date may be without an offset."""
    refused(naive)


def test_case_74_naive_dates_of_instances_are_refused(zone: None) -> None:
    thread = Memory().create_thread("r", thread_id="t")
    unsaved = Message(thread=thread, role="user", content="x", created_at=datetime(2024, 5, 1, 9))
    with pytest.raises(RecallError):
        Memory().save_messages([unsaved])


NO_DATES = ["", "now", "2024-13-01T00:00:00Z", "2024-02-30", "10000-01-01T00:00:00Z", "-0001-01-01", "09:00Z"]


@pytest.mark.parametrize(
    "value", [*NO_DATES, 1_714_550_400_000, 0, 1.5, True, [], {}, MOMENT.date(), MOMENT.timetz()], ids=repr
)
def test_case_74_what_is_no_date(value: Any) -> None:
    """Numbers are dates over HTTP only."""
    refused(value)


@pytest.mark.parametrize(
    "edge",
    [
        datetime.min.replace(tzinfo=TOKYO),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=23, minutes=59))),
        datetime.max.replace(tzinfo=LOS_ANGELES),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-23, minutes=-59))),
        "0001-01-01T00:00:00+00:01",
        "0001-01-01T08:59:59+09:00",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T17:00:00-07:00",
    ],
    ids=str,
)
def test_case_74_no_equivalent_in_utc(zone: None, edge: Any) -> None:
    """Rule 1: refused as bad input, never an overflow or a database exception."""
    refused(edge)


@pytest.mark.parametrize(
    "edge", [datetime.min, datetime.max, datetime(9999, 12, 31), datetime(1, 1, 2)], ids=str
)
def test_case_74_the_ends_of_the_calendar(zone: None, edge: datetime) -> None:
    """In UTC they are instants like others: each verb either takes them whole or refuses them."""
    numbered(1)
    moment = edge.replace(tzinfo=UTC)
    for _, call in everywhere(moment):
        with suppress(RecallError):
            call()
    for stored in Memory().recall("t", per_page=False):
        assert stored.created_at in (at(1), moment)
        assert stored.as_dict()["createdAt"].endswith("Z")


@pytest.mark.parametrize("year", [2, 1883, 1969, 1970, 2038, 9998])
def test_case_74_distant_years(zone: None, year: int) -> None:
    """Stored, ordered, filtered and shown, with four digits of the year."""
    moment = datetime(year, 6, 15, 12, 0, 0, 1, tzinfo=UTC)
    numbered(1)
    save(message("far", created_at=moment))
    assert Memory().get_messages(["far"])[0].created_at == moment
    assert Memory().get_messages(["far"])[0].as_dict()["createdAt"] == f"{year:04}-06-15T12:00:00.000Z"
    assert within(start=moment, end=moment) == ["far"]
    order = ["far", "m1"] if year < 2024 else ["m1", "far"]
    assert uids(Memory().recall("t").chronological()) == order
