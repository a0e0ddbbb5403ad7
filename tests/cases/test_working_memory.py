"""Section G of the public bug reports: the core of working memory (contract section 5)."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.exceptions import RecallError, ThreadNotFound, ThreadNotOwned, WorkingMemoryDisabled
from memory.models import WorkingMemory, WorkingMemoryVersion
from tests.cases import in_parallel

if TYPE_CHECKING:
    from pytest_django import Settings

pytestmark = pytest.mark.django_db

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}


def schema_memory(scope: str = "resource") -> Memory:
    """An agent that keeps JSON."""
    return Memory(working_memory={"enabled": True, "schema": SCHEMA, "scope": scope})


def template_memory(scope: str = "resource") -> Memory:
    """An agent that keeps text."""
    return Memory(working_memory={"enabled": True, "template": "# User\n- Name:", "scope": scope})


def merged(*updates: Any) -> Any:
    """What is stored after some updates of an empty memory."""
    for update in updates:
        answered = schema_memory().update_working_memory(update, resource_id="r")
        assert answered == (schema_memory().get_working_memory(resource_id="r") or "")
    return json.loads(answered)


def test_case_75_a_mapping_is_merged() -> None:
    """Schema mode: what an update does not name is kept."""
    assert merged({"about": {"name": "J", "city": "SF"}}, {"work": {"co": "T"}}) == {
        "about": {"name": "J", "city": "SF"},
        "work": {"co": "T"},
    }
    assert merged({"about": {"city": None}}) == {"about": {"name": "J"}, "work": {"co": "T"}}
    assert merged({"about": {"city": "LA"}, "work": None}) == {"about": {"name": "J", "city": "LA"}}


@pytest.mark.parametrize(
    ("stored", "update", "expected"),
    [
        ({"a": [1, 2, 3]}, {"a": [4]}, {"a": [4]}),
        ({"a": [1]}, {"a": []}, {"a": []}),
        ({"a": [{"x": 1, "y": 2}]}, {"a": [{"x": None}]}, {"a": [{"x": None}]}),
        ({"a": {"b": 1}}, {"a": 5}, {"a": 5}),
        ({"a": 5}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": [1]}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        (
            {"a": {"b": {"c": {"d": 1, "e": 1}}}},
            {"a": {"b": {"c": {"d": None}}}},
            {"a": {"b": {"c": {"e": 1}}}},
        ),
        ({"a": 1}, {"a": None}, {}),
        ({"a": 1}, {"b": None}, {"a": 1}),
        ({"a": 1}, {"a": ""}, {"a": ""}),
        ({"a": 1}, {"a": False}, {"a": False}),
        ({"a": 1}, {"a": 0}, {"a": 0}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}),
        ({"\ud55c": "\U0001f600"}, {"\u4e2d": "\u6587"}, {"\ud55c": "\U0001f600", "\u4e2d": "\u6587"}),
    ],
)
def test_case_75_what_merging_means(stored: Any, update: Any, expected: Any) -> None:
    """Null deletes a key, lists and scalars replace, objects merge at every depth."""
    assert merged(stored, update) == expected


def test_case_75_a_string_replaces() -> None:
    """Section 5: an explicit write of a string, in schema mode too; a mapping starts afresh over no JSON."""
    memory = schema_memory()
    merged({"a": 1})
    for text in ('{"b": 2}', "no JSON at all", "[1, 2]", "null"):
        assert memory.update_working_memory(text, resource_id="r") == text
        assert memory.get_working_memory(resource_id="r") == text
    assert merged({"a": 1}) == {"a": 1}
    assert memory.update_working_memory("", resource_id="r") == ""
    assert memory.get_working_memory(resource_id="r") is None


def test_case_75_text_is_not_merged() -> None:
    """Template mode: a string replaces, kept as it came; a mapping is bad input."""
    memory = template_memory()
    for text in ("first", "  second \n\n", "# User\n- Name:"):
        assert memory.update_working_memory(text, resource_id="r") == text
        assert memory.get_working_memory(resource_id="r") == text
    with pytest.raises(RecallError):
        memory.update_working_memory({"a": 1}, resource_id="r")
    assert memory.get_working_memory(resource_id="r") == "# User\n- Name:"


def test_case_77_null_is_not_stored_by_a_first_write() -> None:
    assert merged({"name": "A", "role": None, "x": {"y": None}}) == {"name": "A", "x": {}}


def test_case_77_an_empty_update_changes_nothing() -> None:
    """On an empty memory and on a full one; it makes no version either."""
    memory = schema_memory()
    assert memory.update_working_memory({}, resource_id="r") in ("", "{}")
    assert memory.get_working_memory(resource_id="r") in (None, "{}")
    before = memory.update_working_memory('{"a":  1, "b":2}', resource_id="r")
    versions = WorkingMemoryVersion.objects.count()
    assert memory.update_working_memory({}, resource_id="r") == before
    assert WorkingMemoryVersion.objects.count() == versions


def test_case_77_the_callers_object_is_left_alone() -> None:
    given = {"name": "A", "role": None, "x": {"y": None}, "list": [{"z": None}]}
    kept = copy.deepcopy(given)
    merged(given)
    assert given == kept
    given["list"].append({"late": 1})
    text = schema_memory().get_working_memory(resource_id="r")
    assert json.loads(text or "") == {"name": "A", "x": {}, "list": [{"z": None}]}


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": {1: 2}}, {"a": object()}, 5, None, ["a"], b"x"])
def test_case_77_what_is_no_update(value: Any) -> None:
    """Refused as bad input; nothing is written."""
    with pytest.raises(RecallError):
        schema_memory().update_working_memory(value, resource_id="r")
    assert WorkingMemory.objects.count() == 0


def test_case_77_working_memory_has_a_limit(settings: Settings) -> None:
    """Section 7: beyond the limit of a text it is refused, however it came there; what was stored stays."""
    settings.MEMORY = {**settings.MEMORY, "MAX_TEXT": 100}
    merged({"a": "x" * 80})
    memory = schema_memory()
    writes: list[Callable[[], object]] = [
        lambda: memory.update_working_memory("x" * 101, resource_id="r"),
        lambda: memory.update_working_memory({"a": "x" * 101}, resource_id="r"),
        lambda: memory.update_working_memory({"b": "x" * 80}, resource_id="r"),
        lambda: memory.create_thread("r", metadata={"workingMemory": "x" * 101}),
    ]
    for write in writes:
        with pytest.raises(RecallError):
            write()
        assert json.loads(memory.get_working_memory(resource_id="r") or "") == {"a": "x" * 80}


def test_case_77_unstorable_text() -> None:
    """Section 3: U+0000 and lone surrogates become U+FFFD in both forms."""
    assert merged({"a\x00": "b\ud83d"}) == {"a\ufffd": "b\ufffd"}
    assert template_memory().update_working_memory("a\x00b", resource_id="r") == "a\ufffdb"


def test_case_80_a_fresh_memory_is_no_word() -> None:
    """The core of 80: None, never the text "null"; where it is off too."""
    for memory in (schema_memory(), template_memory()):
        assert memory.get_working_memory(resource_id="r") is None
    assert Memory().get_working_memory(resource_id="r") is None


def test_case_78_every_version_is_kept() -> None:
    memory = template_memory()
    for text in ("one", "two", "two", "three"):
        memory.update_working_memory(text, resource_id="r")
    versions = WorkingMemoryVersion.objects.order_by("number").values_list("number", "value")
    assert list(versions) == [(1, "one"), (2, "two"), (3, "three")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_case_78_parallel_updates_are_all_kept(scope: str) -> None:
    """Section 5: updates are serialised in the database and never lost; the first write too."""
    Memory().create_thread("r", thread_id="t")
    memory = schema_memory(scope)
    ids = {"thread_id": "t", "resource_id": "r"}
    outcomes = in_parallel(
        *(lambda n=n: memory.update_working_memory({f"k{n}": n}, **ids) for n in range(10))
    )
    assert all(isinstance(outcome, str) for outcome in outcomes), outcomes
    stored = memory.get_working_memory(**ids) or ""
    assert json.loads(stored) == {f"k{n}": n for n in range(10)}
    versions = WorkingMemoryVersion.objects.order_by("number")
    assert [version.number for version in versions] == list(range(1, 11))
    assert versions.last().value == stored


@pytest.mark.django_db(transaction=True)
def test_case_78_parallel_first_writes_of_a_new_resource() -> None:
    """The resource and its memory are made once."""
    memory = schema_memory()
    outcomes = in_parallel(
        *(lambda n=n: memory.update_working_memory({f"k{n}": n}, resource_id="new") for n in range(4))
    )
    assert all(isinstance(outcome, str) for outcome in outcomes), outcomes
    assert json.loads(memory.get_working_memory(resource_id="new") or "") == {f"k{n}": n for n in range(4)}


@pytest.mark.parametrize("verb", ["create", "create again", "update"])
@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_case_81_working_memory_in_thread_metadata(verb: str, scope: str) -> None:
    """A string at `metadata.workingMemory` becomes a version in its scope and leaves the metadata."""
    memory = template_memory(scope)
    if verb != "create":
        memory.create_thread("r", thread_id="t", metadata={"a": 1})
    metadata = {"workingMemory": "x", "b": 2}
    if verb == "update":
        thread = memory.update_thread("t", metadata=metadata)
    else:
        thread = memory.create_thread("r", thread_id="t", metadata=metadata)
    assert memory.get_working_memory(thread_id="t", resource_id="r") == "x"
    assert thread.metadata == ({"b": 2} if verb == "create" else {"a": 1, "b": 2})
    assert metadata == {"workingMemory": "x", "b": 2}
    assert WorkingMemoryVersion.objects.get().value == "x"
    other = "thread" if scope == "resource" else "resource"
    assert template_memory(other).get_working_memory(thread_id="t", resource_id="r") is None


@pytest.mark.parametrize("value", [None, 5, True, ["x"], {"a": 1}])
def test_case_81_other_values_stay_metadata(value: Any) -> None:
    """Only a string is working memory, and only where the agent has it on."""
    thread = template_memory().create_thread("r", thread_id="t", metadata={"workingMemory": value})
    assert thread.metadata == {"workingMemory": value}
    thread = Memory().create_thread("r", thread_id="u", metadata={"workingMemory": "x"})
    assert thread.metadata == {"workingMemory": "x"}
    assert WorkingMemory.objects.count() == 0


def test_case_81_updating_leaves_thread_metadata_alone() -> None:
    """Thread scope: neither the metadata nor the title of the thread change."""
    Memory().create_thread("r", thread_id="t", title="T", metadata={"a": 1})
    template_memory("thread").update_working_memory("note", thread_id="t")
    thread = Memory().get_thread("t")
    assert thread is not None
    assert (thread.metadata, thread.title) == ({"a": 1}, "T")


def test_case_81_scopes_are_apart() -> None:
    """The table is the truth: one memory a resource, one a thread."""
    for uid in ("t", "u"):
        Memory().create_thread("r", thread_id=uid)
    template_memory().update_working_memory("of r", resource_id="r", thread_id="t")
    template_memory("thread").update_working_memory("of t", thread_id="t")
    assert template_memory().get_working_memory(resource_id="r", thread_id="u") == "of r"
    assert template_memory("thread").get_working_memory(thread_id="t", resource_id="r") == "of t"
    assert template_memory("thread").get_working_memory(thread_id="u") is None
    assert template_memory().get_working_memory(resource_id="other") is None


def test_case_81_what_a_scope_needs() -> None:
    """Resource scope needs a `resource_id`, thread scope a thread that exists and is the owner's."""
    Memory().create_thread("r", thread_id="t")
    for memory, ids, error in (
        (template_memory(), {"thread_id": "t"}, RecallError),
        (template_memory("thread"), {"resource_id": "r"}, RecallError),
        (template_memory("thread"), {"thread_id": "unknown"}, ThreadNotFound),
        (template_memory("thread"), {"thread_id": "t", "resource_id": "r2"}, ThreadNotOwned),
        (template_memory(), {"thread_id": "t", "resource_id": "r2"}, ThreadNotOwned),
        (Memory(), {"resource_id": "r"}, WorkingMemoryDisabled),
    ):
        with pytest.raises(error):
            memory.update_working_memory("x", **ids)
    assert WorkingMemory.objects.count() == 0
