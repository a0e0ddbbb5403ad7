"""The limits of the contract, at and over each (section 7), and the settings that move them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings as django_settings

from memory import Memory
from tests.bad_input import nested, refused, seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django import Settings

MAX_TEXT = 1_000_000
MAX_METADATA = 4 * 1024 * 1024
MAX_PARTS = 10_000
MAX_MESSAGES = 10_000
MAX_DEPTH = 100
MAX_WINDOW = MAX_INCLUDES = MAX_TOP_K = 1_000

pytestmark = [pytest.mark.django_db, pytest.mark.once]


@pytest.fixture
def _stored() -> None:
    seed()


def save(content: Any, **message: Any) -> Any:
    """Save one message, and read it again."""
    saved = Memory().save_messages(
        [{"thread_id": "t", "role": "user", "content": content, **message}],
        create_thread=True,
        resource_id="r",
    )
    return Memory().get_messages([message.uid for message in saved])[0]


def metadata_of(size: int, character: str = "x") -> dict[str, str]:
    """Metadata of that many bytes of JSON."""
    width = len(character.encode())
    filler = size - len('{"a":""}')
    return {"a": character * (filler // width) + "x" * (filler % width)}


TEXTS: list[tuple[Callable[[int], Any], str]] = [
    (lambda size: "x" * size, "messages[0].content"),
    (lambda size: "한" * size, "messages[0].content"),
    (lambda size: {"parts": [], "content": "x" * size}, "messages[0].content"),
    (lambda size: [{"type": "text", "text": "x" * (size - 501)}, {"type": "text", "text": "x" * 500}],
     "messages[0].content"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "path"), TEXTS)
def test_text(content: Callable[[int], Any], path: str) -> None:
    """1,000,000 characters, not bytes; of all text parts together."""
    assert len(save(content(MAX_TEXT)).text) == MAX_TEXT
    with refused(path, queries=None):
        save(content(MAX_TEXT + 1))


@pytest.mark.usefixtures("_stored")
def test_text_of_titles_and_searches() -> None:
    """The same limit."""
    thread = Memory().create_thread("r", title="x" * MAX_TEXT)
    assert len(thread.title) == MAX_TEXT
    with refused("title", queries=None):
        Memory().update_thread("t", title="x" * (MAX_TEXT + 1))
    Memory().recall("t", vector_search_string="x" * MAX_TEXT)
    with refused("vector_search_string"):
        Memory().recall("t", vector_search_string="x" * (MAX_TEXT + 1))


def test_parts() -> None:
    """10,000 parts."""
    assert len(save([{"type": "step"}] * MAX_PARTS).content["parts"]) == MAX_PARTS
    with refused("messages[0].content.parts", queries=None):
        save({"parts": [{"type": "step"}] * (MAX_PARTS + 1)})


@pytest.mark.parametrize("character", ["x", "한", '"'])
def test_metadata(character: str) -> None:
    """4 MB: at the limit it is stored, one byte above it is refused."""
    # A quotation mark takes two bytes in JSON.
    size = MAX_METADATA if character != '"' else MAX_METADATA // 2
    metadata = metadata_of(size, character)
    message = save({"parts": [{"type": "text", "text": "t"}], "metadata": metadata})
    assert message.metadata == metadata
    over = {**metadata, "a": metadata["a"] + "x"} if character != '"' else metadata_of(MAX_METADATA, '"')
    with refused("messages[0].content.metadata", queries=None):
        save({"parts": [{"type": "text", "text": "t"}], "metadata": over})
    with refused("metadata", queries=None):
        Memory().create_thread("r", metadata=over)


@pytest.mark.usefixtures("_stored")
def test_metadata_does_not_grow_past_the_limit_by_merging(settings: Settings) -> None:
    """The limit is one of what is stored, not of one call."""
    settings.MEMORY = {**django_settings.MEMORY, "MAX_METADATA": 100}
    first, second = {"a": "x" * 60}, {"b": "x" * 60}
    Memory().update_thread("t", metadata=first)
    with refused("metadata", queries=None):
        Memory().update_thread("t", metadata=second)
    Memory().update_messages([{"id": "m1", "content": {"metadata": first}}])
    with refused("changes[0].content.metadata", queries=None):
        Memory().update_messages([{"id": "m1", "content": {"metadata": second}}])


@pytest.mark.usefixtures("_stored")
def test_text_does_not_grow_past_the_limit_by_merging(settings: Settings) -> None:
    """A short text in `content.content` hides long parts only as long as it stands there."""
    settings.MEMORY = {**django_settings.MEMORY, "MAX_TEXT": 100}
    with refused("messages[0].content", queries=None):
        save([{"type": "text", "text": "x" * 60}] * 2)
    save({"parts": [{"type": "text", "text": "x" * 60}], "content": "short"}, id="both")
    changed = [{"type": "text", "text": "x" * 60}, {"type": "text", "text": "y" * 60}]
    with refused("changes[0].content", queries=None):
        Memory().update_messages([{"id": "both", "content": {"parts": changed}}])


def test_depth_of_metadata() -> None:
    """100 levels of objects or lists; 101 are refused at the path of the one that is too deep."""
    deepest = nested(MAX_DEPTH)
    thread = Memory().create_thread("r", metadata=deepest)
    assert Memory().get_thread(thread.uid).metadata == deepest  # type: ignore[union-attr]
    with refused("metadata" + ".a" * MAX_DEPTH, queries=None):
        Memory().create_thread("r", metadata=nested(MAX_DEPTH + 1))
    with refused("metadata" + ".a" * MAX_DEPTH, queries=None):
        Memory().create_thread("r", metadata=nested(MAX_DEPTH, leaf=[]))


@pytest.mark.usefixtures("_stored")
def test_depth_of_content() -> None:
    """The content is the first level; nothing is too deep to be refused in peace."""
    deepest = nested(MAX_DEPTH - 1)
    assert save({"parts": [{"type": "text", "text": "t"}], "more": deepest}).content["more"] == deepest
    for depth in (MAX_DEPTH, 100_000):
        with refused("messages[0].content.more" + ".a" * (MAX_DEPTH - 1), queries=None):
            save({"parts": [], "more": nested(depth)})


@pytest.mark.usefixtures("_stored")
def test_messages_of_one_call() -> None:
    """10,000 messages, ids or changes."""
    one = {"thread_id": "t", "role": "user", "content": "x"}
    ids = [f"n{n}" for n in range(MAX_MESSAGES)]
    with refused("messages", queries=None):
        Memory().save_messages([one] * (MAX_MESSAGES + 1))
    with refused("changes", queries=None):
        Memory().update_messages([{"id": "m1", "role": "user"}] * (MAX_MESSAGES + 1))
    for verb in (Memory().get_messages, Memory().delete_messages):
        with refused("ids", queries=None):
            verb([*ids, "m1"])
    assert len(Memory().save_messages([{**one, "id": uid} for uid in ids])) == MAX_MESSAGES
    assert len(Memory().get_messages(ids)) == MAX_MESSAGES
    assert Memory().delete_messages(["m1", *(f"unknown{n}" for n in range(MAX_MESSAGES - 1))]) == 1


@pytest.mark.parametrize("character", ["x", "é", "한", "😀"])
def test_ids(character: str) -> None:
    """512 characters of any width; case and white space count, and nothing is trimmed."""
    longest = character * 511
    for uid in (f"{longest}a", f"{longest}A", f"{longest} "):
        thread = Memory().create_thread(uid, thread_id=uid)
        Memory().save_messages(
            [{"id": uid, "thread_id": uid, "role": "user", "content": "x"}], resource_id=uid
        )
        assert [message.uid for message in Memory().recall(uid, resource_id=uid).messages] == [uid]
        assert (thread.uid, thread.resource.uid) == (uid, uid)
    with refused("thread_id", queries=None):
        Memory().create_thread("r", thread_id=f"{longest}aa")


@pytest.mark.usefixtures("_stored")
def test_windows_includes_and_top_k() -> None:
    """1,000 each."""
    Memory().recall(
        "t",
        include=[{"id": "m1", "with_previous_messages": MAX_WINDOW, "with_next_messages": MAX_WINDOW}]
        * MAX_INCLUDES,
        vector_search_string="x",
        thread_config={"semantic_recall": {"top_k": MAX_TOP_K, "message_range": MAX_WINDOW}},
    )
    with refused("include[0].with_previous_messages"):
        Memory().recall("t", include=[{"id": "m1", "with_previous_messages": MAX_WINDOW + 1}])
    with refused("include"):
        Memory().recall("t", include=[{"id": "m1"}] * (MAX_INCLUDES + 1))
    with refused("thread_config.semantic_recall.top_k", "thread_config.semantic_recall.message_range.after"):
        Memory().recall(
            "t",
            thread_config={
                "semantic_recall": {"top_k": MAX_TOP_K + 1, "message_range": {"after": MAX_WINDOW + 1}}
            },
        )


@pytest.mark.usefixtures("_stored")
@pytest.mark.parametrize(
    ("name", "call", "path"),
    [
        ("MAX_TEXT", lambda n: save("x" * n), "messages[0].content"),
        ("MAX_PARTS", lambda n: save([{"type": "step"}] * n), "messages[0].content.parts"),
        ("MAX_MESSAGES", lambda n: Memory().delete_messages(["none"] * n), "ids"),
        ("MAX_INCLUDES", lambda n: Memory().recall("t", include=[{"id": "m1"}] * n), "include"),
        (
            "MAX_WINDOW",
            lambda n: Memory().recall("t", include=[{"id": "m1", "with_next_messages": n}]),
            "include[0].with_next_messages",
        ),
        (
            "MAX_TOP_K",
            lambda n: Memory().recall("t", thread_config={"semantic_recall": {"top_k": n}}),
            "thread_config.semantic_recall.top_k",
        ),
        (
            "MAX_METADATA",
            lambda n: Memory().update_thread("t", metadata=metadata_of(n + 10)),
            "metadata",
        ),
        (
            "MAX_JSON_DEPTH",
            lambda n: Memory().update_thread("t", metadata=nested(n)),
            "metadata" + ".a" * 5,
        ),
    ],
)
def test_limits_are_settings(settings: Settings, name: str, call: Callable[[int], object], path: str) -> None:
    """Section 7: each can be moved by the site."""
    limit = 15 if name == "MAX_METADATA" else 5
    settings.MEMORY = {**django_settings.MEMORY, name: limit}
    call(5)
    with refused(path, queries=None):
        call(6)
