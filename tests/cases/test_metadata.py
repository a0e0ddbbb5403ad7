"""Section E of the public bug reports: filters and metadata (contract section 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.exceptions import RecallError, ThreadNotFound
from memory.models import Thread
from tests.cases import HITS_ONLY, at, in_parallel, message, names, save, uids

if TYPE_CHECKING:
    from pytest_django import Settings

pytestmark = pytest.mark.django_db

WIDE = 2**53
MISSING = object()
VALUES: dict[str, Any] = {
    "text one": "1",
    "one": 1,
    "true": True,
    "null": None,
    "missing": MISSING,
    "zero": 0,
    "false": False,
    "empty": "",
    "text true": "true",
    "text null": "null",
    "list": [1],
    "object": {"k": 1},
    "half": 0.5,
    "tenth": 0.1,
    "wide": WIDE,
    "wide + 1": WIDE + 1,
    "least": -(2**63),
    "huge": 2**70,
    "float": 1e300,
    "quotes": 'it\'s "so" % _ \\ \u2603',
    "upper": "A",
    "lower": "a",
    "accent": "\u00e9",
    "two": "e\u0301",
    "spaced": " a",
}


@pytest.fixture
def stored() -> None:
    """One message and one thread for each of the values, under the key k."""
    rows = []
    for name, value in VALUES.items():
        metadata = {"other": 1} if value is MISSING else {"k": value, "other": 1}
        rows.append(message(name, {"content": "x", "metadata": metadata}))
        Memory().create_thread("r", thread_id=name, metadata=metadata)
    save(*rows)


def matching(metadata: Any) -> set[str]:
    """Ids a metadata filter finds; messages and threads follow one rule."""
    result = Memory().recall("t", per_page=False, filter={"metadata": metadata})
    assert result.total == len(result)
    threads = Memory().list_threads(metadata=metadata, per_page=False)
    assert {thread.uid for thread in threads.threads} - {"t"} == set(uids(result))
    return set(uids(result))


def test_case_69_type_and_value(stored: None) -> None:
    """Same JSON type and same value; numbers by value, booleans never numbers, null never missing."""
    for wanted, expected in (
        (1, {"one"}),
        (1.0, {"one"}),
        (True, {"true"}),
        (False, {"false"}),
        (0, {"zero"}),
        (0.0, {"zero"}),
        (-0.0, {"zero"}),
        (None, {"null"}),
        ("1", {"text one"}),
        ("", {"empty"}),
        ("true", {"text true"}),
        ("null", {"text null"}),
        (0.5, {"half"}),
        (0.1, {"tenth"}),
        (0.1 + 1e-18, {"tenth"}),
        (0.10000000000000002, set()),
        (WIDE, {"wide"}),
        (WIDE + 1, {"wide + 1"}),
        (WIDE + 2, set()),
        (-(2**63), {"least"}),
        (2**70, {"huge"}),
        (float(2**70), {"huge"}),
        (1e300, {"float"}),
        (VALUES["quotes"], {"quotes"}),
        ("A", {"upper"}),
        ("a", {"lower"}),
        ("\u00e9", {"accent"}),
        ("e\u0301", {"two"}),
        (" a", {"spaced"}),
        ("[1]", set()),
    ):
        assert matching({"k": wanted}) == expected, repr(wanted)


def test_case_69_entries_combine_by_and(stored: None) -> None:
    assert matching({"k": 1, "other": 1}) == {"one"}
    assert matching({"k": 1, "other": 2}) == set()
    assert matching({"absent": None}) == matching({"K": 1}) == set()
    assert matching({"other": 1}) == matching({}) == set(VALUES)


BAD_KEYS = [
    "a-b",
    "1a",
    "",
    "k" * 129,
    "__proto__",
    "prototype",
    "constructor",
    "\u00e9",
    "a.b",
    "k\n",
    "\nk",
]
BAD_KEYS += [" k", "k'", 'k"', "k->x", "$", "k[0]", "\u212a", "\uff4b", "k\x00"]


@pytest.mark.parametrize("key", [*BAD_KEYS, 5, None, ("k",)])
def test_case_69_what_is_no_key(key: Any) -> None:
    with pytest.raises(RecallError) as caught:
        Memory().recall("t", filter={"metadata": {key: 1}})
    assert [issue.field.startswith("filter.metadata.") for issue in caught.value.issues] == [True]
    with pytest.raises(RecallError):
        Memory().list_threads(metadata={key: 1})


@pytest.mark.parametrize("key", ["k" * 128, "_", "__proto", "Constructor", "a1_B", "null", "select", "type"])
def test_case_69_what_is_a_key(key: str) -> None:
    metadata = {key: "v", f"{key}2": "w"}
    save(message("m1", {"content": "x", "metadata": metadata}), message("m2"))
    assert uids(Memory().recall("t", filter={"metadata": {key: "v"}})) == names(1)
    assert Memory().recall("t", filter={"metadata": {key: "w"}}).total == 0


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), [1], [], {}, {"a": 1}, (1,), b"x", object(), 10**400],
    ids=repr,
)
def test_case_69_what_is_no_value(value: Any) -> None:
    """Refused, naming the key and the permitted kinds."""
    with pytest.raises(RecallError) as caught:
        Memory().recall("t", filter={"metadata": {"fine": 1, "priority": value}})
    (issue,) = caught.value.issues
    assert issue.field == "filter.metadata.priority"
    assert all(kind in issue.message for kind in ("string", "number", "boolean", "null"))


@pytest.mark.parametrize("container", [[], None, [["k", 1]], "k", 1, True])
def test_case_69_what_is_no_filter(container: Any) -> None:
    with pytest.raises(RecallError):
        Memory().recall("t", filter={"metadata": container})
    if container is not None:
        with pytest.raises(RecallError):
            Memory().list_threads(metadata=container)
        with pytest.raises(RecallError):
            Memory().recall("t", filter=container)


def test_case_69_unknown_filters_are_named() -> None:
    """Rule 1: a "did you mean"."""
    for wrong in ({"metdata": {}}, {"date_range": {"form": None}}, {"dateRange": {"startt": None}}):
        with pytest.raises(RecallError, match="filter"):
            Memory().recall("t", filter=wrong)
    with pytest.raises(RecallError, match="did you mean 'metadata'"):
        Memory().recall("t", filter={"metdata": {}})


def test_case_70_filters_restrict_the_hits(on_commit: Callable[..., Any]) -> None:
    """Rule 6: `filter` restricts hits, not their neighbours; `top_k` counts what matches."""
    with on_commit():
        for thread in ("t", "u"):
            save(
                *(
                    message(
                        f"{thread}{n}",
                        {"content": "purple rain", "metadata": {"odd": n % 2 == 1}},
                        thread=thread,
                        created_at=at(n * 3_600),
                    )
                    for n in range(1, 6)
                )
            )

    def hits(criterion: Any, **semantic: Any) -> set[str]:
        options = {**HITS_ONLY, "semantic_recall": {"message_range": 0, **semantic}}
        search = {"vector_search_string": "purple rain", "thread_config": options}
        return set(uids(Memory().recall("t", resource_id="r", filter=criterion, **search)))

    last_hours = {"date_range": {"start": at(4 * 3_600)}}
    assert hits(last_hours) == {"t4", "t5", "u4", "u5"}
    assert hits({**last_hours, "metadata": {"odd": True}}) == {"t5", "u5"}
    assert hits({"metadata": {"odd": False}}, scope="thread") == {"t2", "t4"}
    assert hits({"metadata": {"odd": "true"}}) == set()
    assert hits({"date_range": {"end": at(3_600)}}, top_k=1) == {"u1"}
    assert hits({"date_range": {"end": at(3_600), "end_exclusive": True}}) == set()
    near = hits(
        {"date_range": {"start": at(5 * 3_600)}}, scope="thread", message_range={"before": 1, "after": 1}
    )
    assert near == {"t4", "t5"}


def test_case_73_thread_metadata_is_merged() -> None:
    """Section 3: neither update nor creating again wipes what others wrote."""
    Memory().create_thread("r", thread_id="t", title="T", metadata={"a": 1})
    Memory().update_thread("t", metadata={"b": 2})
    save(message("m1"))
    again = Memory().create_thread("r", thread_id="t")
    assert (again.metadata, again.title) == ({"a": 1, "b": 2}, "T")
    again = Memory().create_thread("r", thread_id="t", metadata={"a": {"x": 1}})
    assert again.metadata == {"a": {"x": 1}, "b": 2}
    updated = Memory().update_thread("t", metadata={"a": {"y": None}}, title="")
    assert (updated.metadata, updated.title) == ({"a": {"y": None}, "b": 2}, "")
    assert Memory().update_thread("t", metadata={}).metadata == updated.metadata
    assert Thread.objects.get().metadata == updated.metadata


def test_case_73_merging_does_not_pass_the_limit(settings: Settings) -> None:
    """Section 7: metadata within the limit for each call, and beyond it when merged, is refused."""
    settings.MEMORY = {**settings.MEMORY, "MAX_METADATA": 100}
    first, second = {"a": "x" * 70}, {"b": "x" * 70}
    Memory().create_thread("r", thread_id="t", metadata=first)
    save(message("m1", {"content": "x", "metadata": first}))
    with pytest.raises(RecallError):
        Memory().update_messages([{"id": "m1", "content": {"metadata": second}}])
    with pytest.raises(RecallError):
        Memory().update_thread("t", metadata=second)
    with pytest.raises(RecallError):
        Memory().create_thread("r", thread_id="t", metadata=second)
    assert Thread.objects.get().metadata == Memory().get_messages(["m1"])[0].metadata == first


def test_case_73_a_missing_thread_cannot_be_updated() -> None:
    with pytest.raises(ThreadNotFound):
        Memory().update_thread("t", metadata={"b": 2})
    assert Thread.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_case_73_updates_at_the_same_time_are_all_kept() -> None:
    Memory().create_thread("r", thread_id="t", metadata={"a": 1})
    outcomes = in_parallel(
        *(lambda n=n: Memory().update_thread("t", metadata={f"k{n}": n}) for n in range(6))
    )
    assert all(isinstance(outcome, Thread) for outcome in outcomes), outcomes
    assert Thread.objects.get().metadata == {"a": 1} | {f"k{n}": n for n in range(6)}
