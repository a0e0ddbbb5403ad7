"""Section A of the public bug reports: pages, order, ties."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from memory import Memory
from memory.exceptions import RecallError
from memory.models import Message
from tests.cases import at, message, names, numbered, save, uids

pytestmark = pytest.mark.django_db

ASC = {"field": "created_at", "direction": "ASC"}
DESC = {"field": "created_at", "direction": "DESC"}


def walk(order: dict[str, str], per_page: int) -> list[str]:
    """Ids of all pages, one after the other."""
    found: list[str] = []
    for page in itertools.count():
        result = Memory().recall("t", per_page=per_page, page=page, order_by=order)
        assert result.has_more is (len(found) + len(result) < result.total)
        found += uids(result)
        if not result.has_more:
            return found
    raise AssertionError("unreachable")


def test_case_01_last_messages_are_the_newest() -> None:
    """Rule 3, rule 4: the newest N; oldest first for prompts."""
    numbered(15)
    result = Memory().recall("t", thread_config={"last_messages": 10})
    assert uids(result) == names(*range(15, 5, -1))
    assert uids(result.chronological()) == names(*range(6, 16))
    assert (result.total, result.has_more) == (15, True)


@pytest.mark.parametrize("count", [1, 9, 10, 11])
def test_case_01_around_the_limit(count: int) -> None:
    numbered(count)
    result = Memory().recall("t", thread_config={"last_messages": 10})
    assert uids(result.chronological()) == names(*range(max(1, count - 9), count + 1))
    assert result.has_more is (count > 10)


def test_case_01_the_list_does_not_follow_the_order_of_saving() -> None:
    """The newest are those of the latest dates, however late older ones were saved."""
    save(*(message(f"m{n}", created_at=at(n)) for n in (5, 3, 4, 1, 2)))
    assert uids(Memory().recall("t", per_page=2)) == names(5, 4)
    assert uids(Memory().recall("t", per_page=2, order_by=ASC)) == names(1, 2)


@pytest.mark.parametrize("off", [False, 0])
def test_case_02_history_switched_off(off: Any) -> None:
    """Section 1: False and 0 switch history off; rule 8: total 0, has_more False."""
    numbered(5)
    for result in (
        Memory().recall("t", thread_config={"last_messages": off}),
        Memory(last_messages=off).recall("t", resource_id="r"),
    ):
        assert (result.messages, result.total, result.per_page, result.has_more) == ([], 0, 0, False)


def test_case_02_per_page_of_the_call_goes_before_history_off() -> None:
    """Rule 3: `per_page`, else `last_messages`."""
    numbered(5)
    result = Memory(last_messages=False).recall("t", per_page=2)
    assert uids(result) == names(5, 4)
    assert result.total == 5
    result = Memory(last_messages=3).recall("t", per_page=0)
    assert (result.messages, result.total, result.per_page, result.has_more) == ([], 0, 0, False)


def test_case_02_history_off_still_includes() -> None:
    numbered(5)
    result = Memory(last_messages=False).recall("t", include=[{"id": "m3", "with_next_messages": 1}])
    assert uids(result.chronological()) == names(3, 4)
    assert (result.total, result.has_more) == (0, False)


def test_case_04_pages() -> None:
    numbered(10)
    pages = [Memory().recall("t", per_page=3, page=page, order_by=ASC) for page in range(5)]
    assert [uids(page) for page in pages] == [names(1, 2, 3), names(4, 5, 6), names(7, 8, 9), names(10), []]
    assert [page.has_more for page in pages] == [True, True, True, False, False]
    assert {page.total for page in pages} == {10}
    assert [(page.page, page.per_page) for page in pages] == [(number, 3) for number in range(5)]


def test_case_04_pages_of_last_messages() -> None:
    """`page` counts in pages of `last_messages` where `per_page` is not given."""
    numbered(5)
    result = Memory(last_messages=2).recall("t", page=1)
    assert (uids(result), result.per_page, result.has_more) == (names(3, 2), 2, True)


def test_case_04_far_beyond_the_end() -> None:
    numbered(2)
    result = Memory().recall("t", per_page=3, page=10**12)
    assert (result.messages, result.total, result.has_more) == ([], 2, False)


@pytest.mark.parametrize("per_page", [7, 10, 41, 204, 205, 206])
def test_case_05_equal_timestamps_in_pages(per_page: int) -> None:
    """Rule 4: the order is total, so that no page repeats or loses a message."""
    save(*(message(f"m{n}", created_at=at(0)) for n in range(1, 206)))
    ascending, descending = walk(ASC, per_page), walk(DESC, per_page)
    assert ascending == names(*range(1, 206))
    assert descending == ascending[::-1]


def test_case_05_equal_timestamps_of_several_calls_and_threads() -> None:
    """Insertion order holds across calls; rows of other threads in between change nothing."""
    for number in range(1, 13):
        save(message(f"m{number}", created_at=at(0)), message(f"x{number}", thread="u", created_at=at(0)))
    assert walk(ASC, 5) == names(*range(1, 13))
    assert walk(DESC, 5) == names(*range(12, 0, -1))


def test_case_05_equal_timestamps_in_windows() -> None:
    """Rule 5: neighbours are positional, ties included."""
    save(*(message(f"m{n}", created_at=at(0)) for n in range(1, 8)))
    include = [{"id": "m4", "with_previous_messages": 2, "with_next_messages": 1}]
    for order in (ASC, DESC):
        result = Memory().recall("t", per_page=0, include=include, order_by=order)
        assert uids(result.chronological()) == names(2, 3, 4, 5)


def test_case_07_has_more_knows_what_is_included() -> None:
    """Rule 8: a matching message beyond the page that is not among the messages."""
    numbered(5)
    window = [{"id": "m5", "with_previous_messages": 2}]
    result = Memory().recall("t", per_page=2, order_by=ASC, include=window)
    assert (uids(result), result.has_more, result.total) == (names(1, 2, 3, 4, 5), False, 5)
    result = Memory().recall("t", per_page=2, order_by=ASC, include=[{"id": "m5"}])
    assert (uids(result), result.has_more, result.total) == (names(1, 2, 5), True, 5)


@pytest.mark.parametrize("order", [ASC, DESC], ids=["asc", "desc"])
@pytest.mark.parametrize("matching", [None, True], ids=["all", "filtered"])
def test_case_07_has_more_for_every_page_and_window(order: dict[str, str], matching: bool | None) -> None:
    """The definition of rule 8, spelled out over six messages of which every other one matches."""
    save(
        *(
            message(f"m{n}", {"parts": [], "content": "x", "metadata": {"odd": n % 2 == 1}}, created_at=at(n))
            for n in range(1, 7)
        )
    )
    sequence = names(*range(1, 7)) if order is ASC else names(*range(6, 0, -1))
    matches = [uid for uid in sequence if matching is None or int(uid[1:]) % 2 == 1]
    criterion = None if matching is None else {"metadata": {"odd": True}}
    for per_page, page, target, width in itertools.product((1, 2, 3), (0, 1, 2), (1, 4, 6), (0, 2)):
        include = [{"id": f"m{target}", "with_previous_messages": width}]
        result = Memory().recall(
            "t", per_page=per_page, page=page, order_by=order, include=include, filter=criterion
        )
        start, end = page * per_page, (page + 1) * per_page
        near = names(*range(max(1, target - width), target + 1))
        expected = {*matches[start:end], *near}
        assert uids(result) == [uid for uid in sequence if uid in expected]
        assert result.has_more is bool(set(matches[end:]) - expected), (per_page, page, target, width)
        assert result.total == len(matches)


def test_case_07_has_more_is_not_moved_by_hits_of_other_threads() -> None:
    numbered(3)
    numbered(3, thread="u", prefix="x")
    include = [{"id": "x2", "with_previous_messages": 1, "with_next_messages": 1}]
    result = Memory().recall("t", resource_id="r", per_page=2, include=include)
    assert (result.has_more, result.total) == (True, 3)
    assert set(uids(result)) == {*names(2, 3), "x1", "x2", "x3"}


def test_case_08_long_threads_are_read_whole() -> None:
    text = "y" * 2_000
    save(*(message(f"m{n}", text, created_at=at(n)) for n in range(1, 3_001)))
    everything = Memory().recall("t", per_page=False, order_by=ASC)
    assert uids(everything) == names(*range(1, 3_001))
    assert (everything.total, everything.per_page, everything.has_more) == (3_000, False, False)
    assert all(stored.text == text for stored in everything)
    last = Memory().recall("t")
    assert uids(last.chronological()) == names(*range(2_991, 3_001))
    assert (last.total, last.has_more) == (3_000, True)


def test_case_10_offsets_shift_and_a_date_bound_does_not() -> None:
    """Pages by number shift when messages arrive; an exclusive bound at the oldest seen date does not."""
    numbered(10)
    first = Memory().recall("t", per_page=3)
    assert uids(first) == names(10, 9, 8)
    save(message("m11", created_at=at(11)))
    assert uids(Memory().recall("t", per_page=3, page=1)) == names(8, 7, 6)
    seen = uids(first)
    while True:
        oldest = Memory().get_messages([seen[-1]])[0].created_at
        bound = {"date_range": {"end": oldest, "end_exclusive": True}}
        page = Memory().recall("t", per_page=3, filter=bound)
        seen += uids(page)
        if not page.has_more:
            break
    assert seen == names(*range(10, 0, -1))


def test_case_11_messages_without_dates_keep_the_order_of_the_list() -> None:
    """Section 3: a missing date is now, strictly increasing within the call."""
    stored = save(*(message(f"m{n}") for n in range(1, 21)))
    result = Memory().recall("t", per_page=False, order_by=ASC)
    assert uids(result) == uids(stored) == names(*range(1, 21))
    dates = [row.created_at for row in result]
    assert all(earlier < later for earlier, later in itertools.pairwise(dates))


def test_case_11_without_dates_or_ids() -> None:
    """Ids the product makes change nothing of the order."""
    texts = [f"text {n}" for n in range(20)]
    save(*({"thread_id": "t", "role": "user", "content": text} for text in texts))
    assert [row.text for row in Memory().recall("t", per_page=False).chronological()] == texts


@pytest.mark.parametrize("first", ["a", "z"], ids=["ids ascend", "ids descend"])
def test_case_12_a_question_stays_before_its_answer(first: str) -> None:
    """Equal dates keep the order of saving, whatever the ids are, in one call or in two."""
    ids = [first, "m"]
    question = message(ids[0], created_at=at(1))
    answer = message(ids[1], role="assistant", created_at=at(1))
    save(question, answer)
    save(message(f"{first}2", created_at=at(1)))
    save(message("m2", role="assistant", created_at=at(1)))
    expected = [*ids, f"{first}2", "m2"]
    assert uids(Memory().recall("t").chronological()) == expected
    assert uids(Memory().recall("t")) == expected[::-1]
    assert uids(Message.objects.get_messages(expected[::-1])) == expected


def test_case_12_saving_again_does_not_swap() -> None:
    """An upsert keeps the insertion order."""
    save(message("q", created_at=at(1)), message("a", role="assistant", created_at=at(1)))
    save(message("q", "edited", created_at=at(1)))
    assert uids(Memory().recall("t").chronological()) == ["q", "a"]


def test_case_13_history_sent_again_without_dates() -> None:
    """Known ids keep their date and place; only the new message is added."""
    save(message("u1"), message("a1", role="assistant"))
    before = {row.uid: row.created_at for row in Memory().recall("t")}
    save(message("u1"), message("a1", role="assistant"), message("u2"))
    result = Memory().recall("t")
    assert uids(result.chronological()) == ["u1", "a1", "u2"]
    assert result.total == 3
    assert {row.uid: row.created_at for row in result if row.uid != "u2"} == before


def test_case_15_everything_has_one_page() -> None:
    """Rule 1: with `per_page=False` the page must be 0."""
    numbered(3)
    assert uids(Memory().recall("t", per_page=False, page=0)) == names(3, 2, 1)
    for page in (1, 2, 10**30):
        with pytest.raises(RecallError) as caught:
            Memory().recall("t", per_page=False, page=page)
        assert [issue.field for issue in caught.value.issues] == ["page"]
        with pytest.raises(RecallError):
            Memory().list_threads(per_page=False, page=page)


@pytest.mark.parametrize("value", [True, "5", "false", -1, 1.0, 2.5, 2**63, 2**70, -(2**70), [], {}])
def test_case_15_per_page_is_a_whole_number_or_false(value: Any) -> None:
    with pytest.raises(RecallError) as caught:
        Memory().recall("t", per_page=value)
    assert [issue.field for issue in caught.value.issues] == ["per_page"]


@pytest.mark.parametrize("value", [True, False, "0", -1, 0.0, 2**63, 2**70, []])
def test_case_15_page_is_a_whole_number(value: Any) -> None:
    with pytest.raises(RecallError) as caught:
        Memory().recall("t", page=value)
    assert [issue.field for issue in caught.value.issues] == ["page"]


@pytest.mark.parametrize(
    ("per_page", "page"),
    [(2**63 - 1, 0), (2**63 - 2, 0), (2**62, 1), (1, 2**63 - 2), (1, 2**63 - 1), (2**31, 2**32), (10**9, 0)],
)
def test_case_15_numbers_at_the_databases_limit(per_page: int, page: int) -> None:
    """Rule 1: answered or refused as bad input, never a database exception."""
    numbered(3)
    try:
        result = Memory().recall("t", per_page=per_page, page=page, include=[{"id": "m1"}])
    except RecallError:
        assert per_page * (page + 1) >= 2**62
    else:
        assert uids(result) == (names(3, 2, 1) if page == 0 else names(1))
