"""The metadata filter equals a typed comparison in Python, on either database (contract section 2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import Memory
from tests.properties.documents import doubles, integers, neighbours, scalars, storable, texts
from tests.properties.histories import START, Row, fresh, save

MISSING = object()
LARGEST = 1.7976931348623157e308
ODD_NUMBERS: list[float] = [
    0,
    -0.0,
    1,
    1.0,
    0.3,
    0.1 + 0.2,
    1e22,
    1e23,
    2**64,
    10**19,
    10**25,
    LARGEST,
    5e-324,
]
LOOKALIKES: list[Any] = [
    "",
    "1",
    "1.0",
    "true",
    "null",
    "None",
    True,
    False,
    1,
    0,
    None,
    '"1"',
    "\x00",
    "\ufffd",
]

floats_near_each_other = doubles.map(neighbours)
# Values that are easily taken for one another come together.
groups = st.one_of(
    st.lists(scalars, max_size=4),
    st.lists(st.sampled_from([*ODD_NUMBERS, *LOOKALIKES]), max_size=4),
    floats_near_each_other,
    integers.map(lambda n: [n, n + 1, float(n)]),
    texts.map(lambda text: [text, storable(text), f"{text} "]),
)
pools = (
    st.lists(groups, min_size=1, max_size=3)
    .map(lambda drawn: [value for group in drawn for value in group])
    .filter(lambda values: not straddles(values))
)
# What no filter value equals.
containers = st.sampled_from([[], {}, [1], ["a"], {"key": 1}, [None], {"key": None}, MISSING])


def fits(number: float) -> bool:
    """Whether a number lies within 64 bit."""
    return -(2**63) <= number <= 2**63 - 1


def straddles(values: list[Any]) -> bool:
    """One double stands for numbers within and beyond 64 bit: a case of its own in the list below."""
    edges = [value for value in values if isinstance(value, int | float) and abs(float(value)) == 2.0**63]
    return len({(float(value), fits(value)) for value in edges}) > len({float(value) for value in edges})


def same(stored: Any, wanted: Any) -> bool:
    """The one rule: same JSON type and same value."""
    if isinstance(stored, bool) or isinstance(wanted, bool) or stored is None or wanted is None:
        return stored is wanted
    if isinstance(stored, int | float) and isinstance(wanted, int | float):
        # Python compares integers and doubles exactly.
        return stored == wanted if fits(stored) and fits(wanted) else float(stored) == float(wanted)
    return isinstance(stored, str) and isinstance(wanted, str) and storable(stored) == storable(wanted)


def rows_with(values: list[Any], thread: str) -> list[Row]:
    """One message for each value."""
    return [
        Row(fresh("message"), thread, START, {"other": 1} if value is MISSING else {"key": value, "other": 2})
        for value in values
    ]


def check_messages(values: list[Any], sought: list[Any]) -> None:
    """Store a message for each value and hold what each filter finds against :func:`same`."""
    thread = Memory().create_thread("owner", thread_id=fresh("thread")).uid
    rows = rows_with(values, thread)
    save(rows, len(rows) or 1)
    by_uid = {row.uid: value for row, value in zip(rows, values, strict=True)}
    for wanted in sought:
        result = Memory().recall(
            thread, per_page=False, order_by={"direction": "ASC"}, filter={"metadata": {"key": wanted}}
        )
        found = [by_uid[message.uid] for message in result.messages]
        expected = [value for value in values if value is not MISSING and same(value, wanted)]
        assert [repr(value) for value in found] == [repr(value) for value in expected], f"key = {wanted!r}"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "values",
    [
        pytest.param([0, 0.0, False, None, "", "0"], id="zero"),
        pytest.param([0, -0.0, 0.0], id="negative zero"),
        pytest.param([1, 1.0, True, "1", "true", "1.0"], id="one"),
        pytest.param([2**53 - 1, 2**53, 2**53 + 1, 2.0**53, 2.0**53 + 2], id="end of exact doubles"),
        pytest.param([2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1], id="ends of 64 bit"),
        pytest.param([38299593482363008, 3.829959348236301e16, 2**62, 2.0**62], id="whole doubles"),
        pytest.param([-(2**63), -(2.0**63)], id="least of 64 bit"),
        pytest.param([2**63, 2.0**63, 2**63 + 1, 2**64], id="beyond 64 bit"),
        pytest.param([10**25, 10**25 + 1, 1e25, 10**26, 1e300, 10**300, LARGEST], id="large"),
        pytest.param([0.3, 0.1 + 0.2, 1e22, 1e23, 5e-324, 1e-323, 0.0], id="near each other"),
        pytest.param(["a'b", 'a"b', "a\\b", "a\\\\b", "$.key", "%s", "{}", "[1]", "\\u0061"], id="quotes"),
        pytest.param(["\x00", "\ufffd", "\ud800", "é", "e\u0301", "한", "😀", "\ud83d\ude00"], id="unicode"),
    ],
)
def test_values_that_are_easily_confused(values: list[Any]) -> None:
    """Numbers by value as doubles, within 64 bit exactly; booleans, strings and null only their own kind."""
    check_messages([*values, MISSING, [], {}], values)


@pytest.mark.django_db
@pytest.mark.parametrize("wanted", [2**63 - 1, 2**63, 2.0**63, -(2**63), -(2**63) - 1])
def test_across_the_ends_of_64_bit(wanted: float) -> None:
    """Exactly only where both lie within 64 bit; else as doubles, which is the same in either direction."""
    check_messages([2**63 - 1, 2**63, 2.0**63, -(2**63), -(2.0**63), -(2**63) - 1], [wanted])


@pytest.mark.django_db
@settings(max_examples=60)
@given(pool=pools, others=st.lists(containers, max_size=3))
def test_messages_match_by_type_and_value(pool: list[Any], others: list[Any]) -> None:
    """The same over random values."""
    check_messages([*pool, *others], pool)


@pytest.mark.django_db
@settings(max_examples=30)
@given(pool=pools, others=st.lists(containers, max_size=2))
def test_threads_follow_the_same_rule(pool: list[Any], others: list[Any]) -> None:
    """One rule for messages and threads."""
    owner = fresh("owner")
    values = [*pool, *others]
    threads = {
        Memory().create_thread(owner, metadata={} if value is MISSING else {"key": value}).uid: value
        for value in values
    }
    for wanted in pool:
        page = Memory().list_threads(resource_id=owner, metadata={"key": wanted}, per_page=False)
        expected = {uid for uid, value in threads.items() if value is not MISSING and same(value, wanted)}
        assert {thread.uid for thread in page.threads} == expected, repr(wanted)
        assert page.total == len(expected)


@pytest.mark.django_db
@settings(max_examples=40)
@given(
    rows=st.lists(st.dictionaries(st.sampled_from("abc"), scalars, max_size=3), max_size=6),
    wanted=st.dictionaries(st.sampled_from("abc"), scalars, max_size=3),
    chosen=st.integers(0, 5),
)
def test_entries_are_joined_by_and(rows: list[dict[str, Any]], wanted: dict[str, Any], chosen: int) -> None:
    """Every entry must match; `{}` filters nothing."""
    thread = Memory().create_thread("owner", thread_id=fresh("thread")).uid
    stored = [Row(fresh("message"), thread, START, metadata) for metadata in rows]
    save(stored, len(stored) or 1)
    # Half of the filters are taken from what is there, or nothing would ever match.
    sought = rows[chosen] if chosen < len(rows) else wanted
    result = Memory().recall(
        thread, per_page=False, order_by={"direction": "ASC"}, filter={"metadata": sought}
    )
    assert [message.uid for message in result.messages] == [
        row.uid
        for row in stored
        if all(key in row.metadata and same(row.metadata[key], value) for key, value in sought.items())
    ]
