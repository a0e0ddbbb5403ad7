"""Wrong options of an agent, of the facade and of one call (contract section 1)."""

from __future__ import annotations

from typing import Any

import pytest

from memory import Memory
from memory.exceptions import ConversationMemoryError
from tests.bad_input import HUGE, INFINITY, NAN, nested, refused, seed, shown

SEMANTIC: list[tuple[Any, str]] = [
    (1, ""),
    ("on", ""),
    *(({"top_k": value}, ".top_k") for value in (0, -1, 1.5, True, "4", None, 1_001, 2**63, HUGE)),
    *(({"threshold": value}, ".threshold") for value in (1.5, -0.1, True, "0.5", NAN, INFINITY, [], HUGE)),
    *(({"message_range": value}, ".message_range") for value in (-1, 1.5, True, "2", None, 1_001, HUGE)),
    ({"message_range": {"before": -1}}, ".message_range.before"),
    ({"message_range": {"after": 1_001}}, ".message_range.after"),
    ({"message_range": {"around": 1}}, ".message_range.around"),
    *(({"scope": value}, ".scope") for value in ("user", "", None, 1, True)),
    ({"index_name": 5}, ".index_name"),
    ({"limit": 5}, ".limit"),
]
CONFIGS: list[tuple[Any, str]] = [
    ([], ""),
    ("default", ""),
    *(({"last_messages": value}, ".last_messages") for value in (-1, 1.5, True, "5", None, 2**63, HUGE)),
    *(({"semantic_recall": value}, f".semantic_recall{path}") for value, path in SEMANTIC),
    ({"working_memory": True}, ".working_memory"),
    ({"working_memory": {"enabled": "yes"}}, ".working_memory.enabled"),
    ({"working_memory": {"scope": "user"}}, ".working_memory.scope"),
    ({"working_memory": {"template": 5}}, ".working_memory.template"),
    ({"working_memory": {"schema": "x"}}, ".working_memory.schema"),
    ({"read_only": 1}, ".read_only"),
    ({"generate_title": 1}, ".generate_title"),
    ({"generate_title": {"min_messages": 0}}, ".generate_title.min_messages"),
    ({"threads": 5}, ".threads"),
    ({"threads": "generate_title"}, ".threads"),
    ({"threads": {"generate_title": 1}}, ".threads.generate_title"),
    ({"last_messages": nested(100_000)}, ".last_messages"),
    ({"lastMessage": 5}, ".lastMessage"),
    ({5: 5}, ".int"),
]


@pytest.fixture(autouse=True)
def _stored(db: None) -> None:
    seed()


@pytest.mark.parametrize(("options", "path"), CONFIGS, ids=shown)
def test_one_wrong_option_of_a_call(options: Any, path: str) -> None:
    """Each is refused by its path, before any query."""
    with refused(f"thread_config{path}"):
        Memory().recall("t", thread_config=options)


@pytest.mark.parametrize(
    ("options", "field", "meant"),
    [
        ({"include": [{"withNextMessage": 1}]}, "include[0].withNextMessage", "withNextMessages"),
        ({"include": [{"with_next_message": 1}]}, "include[0].with_next_message", "with_next_messages"),
        ({"filter": {"metdata": {}}}, "filter.metdata", "metadata"),
        ({"filter": {"date_rang": {}}}, "filter.date_rang", "date_range"),
        ({"filter": {"date_range": {"stat": None}}}, "filter.date_range.stat", "start"),
        ({"order_by": {"directon": "ASC"}}, "order_by.directon", "direction"),
        ({"thread_config": {"last_message": 1}}, "thread_config.last_message", "last_messages"),
        ({"thread_config": {"semanticRecal": True}}, "thread_config.semanticRecal", "semanticRecall"),
        ({"thread_config": {"generate_titl": True}}, "thread_config.generate_titl", "generate_title"),
    ],
)  # fmt: skip
def test_misspelt_options(options: dict[str, Any], field: str, meant: str) -> None:
    """Unknown keys are errors with a "did you mean"."""
    with refused(field) as caught:
        Memory().recall("t", **options)
    assert f"did you mean {meant!r}" in str(caught.value)


def test_option_given_twice() -> None:
    """In both spellings."""
    with refused("thread_config.lastMessages"):
        Memory().recall("t", thread_config={"last_messages": 1, "lastMessages": 2})


def test_options_of_the_call_are_reported_with_the_rest() -> None:
    """Rule 1: `thread_config` is a parameter like the others."""
    with refused("per_page", "thread_config.last_messages", "thread_config.semantic_recall.top_k"):
        Memory().recall(
            "t", per_page=-1, thread_config={"last_messages": -1, "semantic_recall": {"top_k": 0}}
        )


@pytest.mark.parametrize(
    ("options", "field"),
    [({"last_messages": -1}, "last_messages"), ({"semantic": True}, "semantic"), ({"threads": 5}, "threads")],
)
def test_options_of_the_facade(options: dict[str, Any], field: str) -> None:
    """Section 7: wrong options of `Memory(...)` are bad input, too."""
    with refused(f"options.{field}"):
        Memory(**options).recall("t")


def test_unknown_index_name() -> None:
    """Section 4: an unknown `index_name` is an error that names it."""
    with pytest.raises(ConversationMemoryError, match="no-such-space"):
        Memory().recall(
            "t",
            vector_search_string="x",
            thread_config={"semantic_recall": {"index_name": "no-such-space"}},
        )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"last_messages": False, "semantic_recall": {"top_k": 1_000, "message_range": 1_000}},
        {"semanticRecall": {"threshold": 1, "messageRange": {"before": 0}}},
        {"threads": {"generateTitle": False}},
        {"generate_title": {"minMessages": 3}, "read_only": True},
        {"workingMemory": {"enabled": True, "scope": "thread", "template": "# Notes"}},
    ],
    ids=shown,
)
def test_what_is_allowed(options: dict[str, Any]) -> None:
    """The neighbours of the refused that are right, with each other and by themselves."""
    assert len(Memory(**options).recall("t", thread_config=options)) == (
        0 if "last_messages" in options else 2
    )
