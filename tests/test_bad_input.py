"""Bad input to `recall()`: one clear error that names the parameter, before any query (section 2, rule 1)."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from memory import Memory
from memory.exceptions import RecallError
from tests.bad_input import BAD_IDS, HUGE, INFINITY, NAIVE, NAN, TOO_EARLY, TOO_LATE, refused, seed, shown

PAGING: list[tuple[dict[str, Any], str]] = [
    *(
        ({"per_page": value}, "per_page")
        for value in (-1, 1.5, 1.0, True, "5", "", [], {}, NAN, 2**63, HUGE, -HUGE)
    ),
    *(({"page": value}, "page") for value in (-1, 1.5, 0.0, True, False, "0", [], INFINITY, 2**63, HUGE)),
    ({"per_page": False, "page": 1}, "page"),
    ({"per_page": 10, "page": 2**63 - 1}, "page"),
    ({"page": 2**63 - 1}, "page"),
]
IDS: list[tuple[dict[str, Any], str]] = [
    ({name: value}, name) for name in ("thread_id", "resource_id") for value in BAD_IDS
]
ORDER: list[tuple[dict[str, Any], str]] = [
    ({"order_by": {"field": "updated_at"}}, "order_by.field"),
    ({"order_by": {"field": 1}}, "order_by.field"),
    ({"order_by": {"direction": "sideways"}}, "order_by.direction"),
    ({"order_by": {"direction": True}}, "order_by.direction"),
    ({"order_by": {"order": "ASC"}}, "order_by.order"),
    ({"order_by": "created_at"}, "order_by"),
    ({"order_by": ["created_at", "ASC"]}, "order_by"),
]
RESERVED = ("__proto__", "prototype", "constructor")
FILTERS: list[tuple[Any, str]] = [
    ([], "filter"),
    ("x", "filter"),
    ({"date": {}}, "filter.date"),
    ({"role": "user"}, "filter.role"),
    ({"metadata": None}, "filter.metadata"),
    ({"metadata": []}, "filter.metadata"),
    ({"metadata": "a"}, "filter.metadata"),
    *(
        ({"metadata": {key: 1}}, f"filter.metadata.{key or chr(34) * 2}")
        for key in ("a.b", "", "1a", "a-b", "a b", "a\n", "\n", "é", "a\x00", "a'", *RESERVED)
    ),
    *(
        ({"metadata": {"priority": value}}, "filter.metadata.priority")
        for value in (NAN, INFINITY, -INFINITY, [], [1], {}, {"a": 1}, (), b"x", NAIVE, HUGE, -HUGE)
    ),
    ({"date_range": []}, "filter.date_range"),
    ({"date_range": {"from": NAIVE}}, "filter.date_range.from"),
    ({"date_range": {"start_exclusive": 1}}, "filter.date_range.start_exclusive"),
    ({"dateRange": {"endExclusive": "true"}}, "filter.dateRange.endExclusive"),
    *(
        ({"date_range": {bound: value}}, f"filter.date_range.{bound}")
        for bound in ("start", "end")
        for value in (
            NAIVE, TOO_EARLY, TOO_LATE, "2026-01-31T09:00:00", "yesterday", "", "2026-02-30", "10000-01-01",
            date(2026, 1, 31), 1_769_850_000, 1.5, True, [], HUGE,
        )
    ),
]  # fmt: skip
INCLUDES: list[tuple[Any, str]] = [
    ({"id": "m1"}, "include"),
    ("m1", "include"),
    (["m1"], "include[0]"),
    ([None], "include[0]"),
    ([{}], "include[0].id"),
    ([{"thread_id": "t"}], "include[0].id"),
    *(([{"id": value}], "include[0].id") for value in ("", " ", None, 5, "a\x00", "\udfff", "x" * 513)),
    ([{"id": "m1"}, {"id": "m2", "thread_id": ""}], "include[1].thread_id"),
    *(
        ([{"id": "m1", name: value}], f"include[0].{name}")
        for name in ("with_previous_messages", "with_next_messages", "withNextMessages")
        for value in (-1, 1.5, True, "2", 1_001, 2**63, HUGE, NAN, [])
    ),
    ([{"id": "m1", "vector": 1}], "include[0].vector"),
    ([{"id": "m1"}] * 1_001, "include"),
]
CASES: list[tuple[dict[str, Any], str]] = [
    *PAGING,
    *IDS,
    *ORDER,
    *(({"filter": value}, path) for value, path in FILTERS),
    *(({"include": value}, path) for value, path in INCLUDES),
    *(({"vector_search_string": value}, "vector_search_string") for value in (5, b"x", "x" * 1_000_001)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _stored(db: None) -> None:
    seed()


@pytest.mark.parametrize(("options", "field"), CASES, ids=shown)
def test_one_wrong_parameter(options: dict[str, Any], field: str) -> None:
    """Each is refused by its path."""
    with refused(field):
        Memory().recall(**{"thread_id": "t", **options})


@pytest.mark.parametrize(("options", "field"), [case for case in CASES if len(case[1]) < 20], ids=shown)
def test_thread_that_does_not_exist(options: dict[str, Any], field: str) -> None:
    """Validation comes before the thread is looked for."""
    with refused(field):
        Memory().recall(**{"thread_id": "unknown", "resource_id": "r", **options})


@pytest.mark.parametrize("key", ["x" * 129, "x" * 100_000, 5, None, True, 1.5, HUGE, ("a",)], ids=shown)
def test_metadata_keys_that_cannot_be_shown(key: Any) -> None:
    """The path begins with the container's; what follows is short."""
    with pytest.raises(RecallError) as caught:
        Memory().recall("t", filter={"metadata": {key: 1}})
    (issue,) = caught.value.issues
    assert issue.field.startswith("filter.metadata")
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("name", [HUGE, None, 5, ("a",)], ids=shown)
@pytest.mark.parametrize("place", ["filter", "order_by", "thread_config", "include"])
def test_options_that_are_no_strings(place: str, name: Any) -> None:
    """Refused like unknown ones, whatever they are."""
    value = [{"id": "m1", name: 1}] if place == "include" else {name: 1}
    with pytest.raises(RecallError) as caught:
        Memory().recall("t", **{place: value})
    assert all(issue.field.startswith(place) for issue in caught.value.issues)


def test_everything_wrong_is_reported_at_once() -> None:
    """Rule 1: validation first, all of it, in one error."""
    with refused(
        "thread_id",
        "resource_id",
        "vector_search_string",
        "per_page",
        "page",
        "include[0].id",
        "include[1].with_next_messages",
        "filter.metadata.a.b",
        "filter.metadata.c",
        "filter.date_range.start",
        "order_by.field",
        "order_by.direction",
    ):
        Memory().recall(
            "",
            resource_id=5,  # type: ignore[arg-type]
            vector_search_string=1,  # type: ignore[arg-type]
            per_page=-1,
            page="1",  # type: ignore[arg-type]
            include=[{"id": ""}, {"id": "m1", "with_next_messages": -1}],
            filter={"metadata": {"a.b": 1, "c": []}, "date_range": {"start": NAIVE}},
            order_by={"field": "id", "direction": "up"},
        )


@pytest.mark.parametrize(
    "options",
    [
        {"per_page": 0},
        {"per_page": False, "page": 0},
        {"per_page": 2**31},
        {"page": 2**31},
        {"filter": {}},
        {"filter": {"metadata": {}}},
        {"filter": {"metadata": {"x" * 128: None, "_": True, "A1_": -0.0}}},
        {"filter": {"date_range": {"start": None, "end": None}}},
        {"filter": {"date_range": {"start": "2026-01-31", "end": "2020-01-01T00:00:00Z"}}},
        {"filter": {"date_range": {"start": datetime(2026, 1, 31, tzinfo=UTC)}}},
        {"filter": {"dateRange": {"start": "2026-01-31T09:00:00+09:00", "startExclusive": True}}},
        {"include": []},
        {"include": [{"id": "x" * 512, "with_previous_messages": 1_000, "with_next_messages": 1_000}]},
        {"order_by": {}},
        {"resource_id": "r", "vector_search_string": " \x00\ud800"},
    ],
    ids=shown,
)  # fmt: skip
def test_what_is_allowed(options: dict[str, Any]) -> None:
    """The neighbours of the refused that are right."""
    Memory().recall("t", **options)


@pytest.mark.parametrize(
    "options", [{"per_page": 2**63 - 1}, {"per_page": 2**63 - 1, "include": [{"id": "m1"}]}]
)
def test_largest_integer(options: dict[str, Any]) -> None:
    """Integers beyond what the databases hold are errors or work, never database exceptions."""
    issues: list[str] = []
    found: list[str] = []
    try:
        found = [message.uid for message in Memory().recall("t", **options).chronological()]
    except RecallError as error:
        issues = [issue.field for issue in error.issues]
    assert found == ["m1", "m2"] or issues == ["per_page"]
