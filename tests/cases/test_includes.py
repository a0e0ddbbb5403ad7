"""Case 50: messages that a recall names, with their neighbours."""

from __future__ import annotations

from typing import Any

import pytest

from memory import Memory
from memory.exceptions import RecallError
from tests.cases import at, names, numbered, uids

pytestmark = pytest.mark.django_db


def test_case_50_include_widens_the_page() -> None:
    """Rules 5 and 7: page, includes and windows, each once, with the reason on each."""
    numbered(6)
    result = Memory().recall("t", per_page=2, include=[{"id": "m1", "with_next_messages": 1}])
    assert uids(result.chronological()) == names(1, 2, 5, 6)
    sources = {row.uid: set(row.recall.sources) for row in result}
    assert sources == {"m1": {"include"}, "m2": {"context"}, "m5": {"history"}, "m6": {"history"}}
    assert (result.total, result.has_more) == (6, True)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"id": "m3"}, (3,)),
        ({"id": "m3", "with_previous_messages": 0, "with_next_messages": 0}, (3,)),
        ({"id": "m3", "withPreviousMessages": 2}, (1, 2, 3)),
        ({"id": "m3", "with_previous_messages": 1, "withNextMessages": 1}, (2, 3, 4)),
        ({"id": "m1", "with_previous_messages": 5, "with_next_messages": None}, (1,)),
        ({"id": "m6", "with_next_messages": 1000}, (6,)),
        ({"id": "m6", "with_previous_messages": 1000}, (1, 2, 3, 4, 5, 6)),
    ],
)
def test_case_50_neighbours_of_an_include(item: dict[str, Any], expected: tuple[int, ...]) -> None:
    """Rule 5: default 0/0; each half counts for itself."""
    numbered(6)
    result = Memory().recall("t", per_page=0, include=[item])
    assert uids(result.chronological()) == names(*expected)


def test_case_50_includes_are_not_filtered() -> None:
    """Rule 5; an include on the page is both."""
    numbered(4)
    only_last = {"date_range": {"start": at(4)}}
    include = [{"id": "m4"}, {"id": "m1", "with_next_messages": 1}, {"id": "m1"}]
    result = Memory().recall("t", filter=only_last, include=include)
    assert uids(result.chronological()) == names(1, 2, 4)
    assert result.messages[0].recall.sources == {"history", "include"}
    assert (result.total, result.has_more) == (1, False)


@pytest.mark.parametrize(
    "include",
    [
        [{"id": "m1", "with_previous_messages": -1}],
        [{"id": "m1", "with_next_messages": True}],
        [{"id": "m1", "with_next_messages": "1"}],
        [{"id": "m1", "with_next_messages": 1.0}],
        [{"id": "m1", "with_next_messages": 1_001}],
        [{"id": "m1", "with_next_messages": 2**64}],
        [{"id": "m1", "with_next_message": 1}],
        [{}],
        ["m1"],
        "m1",
        {"id": "m1"},
        [{"id": "m1"}] * 1_001,
    ],
)
def test_case_50_what_is_no_include(include: Any) -> None:
    numbered(1)
    with pytest.raises(RecallError) as caught:
        Memory().recall("t", include=include)
    assert all(issue.field.startswith("include") for issue in caught.value.issues)
