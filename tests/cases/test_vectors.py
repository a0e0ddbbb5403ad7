"""Section C of the public bug reports: vectors are those of the present text of what is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from memory import Memory
from memory.models import Embedding, EmbeddingJob
from tests.cases import at, found, message, names, save, uids, words_apart

if TYPE_CHECKING:
    from tests.embedders.hashing import HashEmbedder

pytestmark = pytest.mark.django_db

OnCommit = Callable[..., Any]


def test_case_28_words_longer_than_a_chunk(embedder: HashEmbedder, on_commit: OnCommit) -> None:
    """Section 4: cut at 16,384 characters; no chunk is empty or too long."""
    with on_commit():
        save(message("m1", "a" * 40_000 + " b c"))
    # Equal chunks may be sent once.
    assert {len(text) for call in embedder.calls for text in call} == {16_384, 7_232, 3}
    assert Embedding.objects.filter(message__uid="m1").count() == 4
    embedder.calls.clear()
    with on_commit():
        save(message("m2", "x" * 20_000 + " y"))
    assert [len(text) for call in embedder.calls for text in call] == [16_384, 3_616, 1]
    assert Embedding.objects.filter(message__uid="m2").count() == 3


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000\u2003"])
def test_case_28_blank_text_is_not_embedded(text: str, embedder: HashEmbedder, on_commit: OnCommit) -> None:
    with on_commit():
        save(message("m1", text), message("m2", [{"type": "text", "text": text}]))
    assert embedder.calls == []
    assert EmbeddingJob.objects.count() == Embedding.objects.count() == 0


@pytest.mark.parametrize("text", ["ab " * 10_000, "\u4e2d" * 20_000, "\u4e2d\u6587 " * 9_000, "z" * 16_384])
def test_case_28_no_chunk_is_more_than_the_embedder_reads(
    text: str, embedder: HashEmbedder, on_commit: OnCommit
) -> None:
    """Section 4: a token for each non-ASCII character, a quarter for each ASCII one; no text is lost."""
    with on_commit():
        save(message("m1", text))
    sent = [chunk for call in embedder.calls for chunk in call]
    for chunk in sent:
        wide = sum(not character.isascii() for character in chunk)
        assert 0 < len(chunk) <= 16_384
        assert wide + (len(chunk) - wide) / 4 <= embedder.max_input_tokens
    assert len(set(sent)) <= Embedding.objects.count()
    stored = Memory().get_messages(["m1"])[0]
    assert stored.text == text


def test_case_29_a_long_message_is_one_hit(embedder: HashEmbedder, on_commit: OnCommit) -> None:
    """Rule 6: top_k counts messages; the best chunk decides."""
    padding = " ".join(f"filler{n}" for n in range(20_000))[:99_900]
    text = f"{padding} " + "zebra " * 16
    with on_commit():
        save(message("long", text, created_at=at(1)), message("short", "zebra", created_at=at(2)))
    assert Embedding.objects.filter(message__uid="long").count() >= 7
    assert [len(call) for call in embedder.calls] == [Embedding.objects.count()]
    assert found("zebra " * 30 + padding[-4_000:], threshold=0.1, top_k=5).count("long") == 1
    assert set(found("zebra", threshold=None, top_k=2)) == {"long", "short"}


def test_case_29_an_over_long_search_string(on_commit: OnCommit) -> None:
    """Rule 6: it is chunked likewise; each part can find its message."""
    purple, green = words_apart(2)
    with on_commit():
        save(message("m1", purple, created_at=at(1)), message("m2", green, created_at=at(2)))
    search = " ".join([purple] * 3_000 + [green] * 3_000)
    assert len(search) > 16_384 * 2
    assert found(search, threshold=0.99) == names(2, 1)


def test_case_34_vectors_follow_save_update_and_clone(on_commit: OnCommit) -> None:
    """Whatever wrote the vector, it is found in both scopes, under both filters."""
    metadata = {"kind": "note"}

    def content(text: str) -> dict[str, Any]:
        return {"parts": [], "content": text, "metadata": metadata}

    with on_commit():
        save(message("saved", content("purple rain"), created_at=at(1)))
        save(message("updated", content("old"), created_at=at(1)))
    with on_commit():
        Memory().update_messages([{"id": "updated", "content": {"content": "purple rain"}}])
    with on_commit():
        clone = Memory().clone_thread("t", new_thread_id="copy")
    copies = set(clone.message_id_map.values())
    criterion = {"metadata": metadata, "date_range": {"start": at(1), "end": at(1)}}
    for scope, thread, expected in (
        ("thread", "t", {"saved", "updated"}),
        ("thread", "copy", copies),
        ("resource", "t", {"saved", "updated", *copies}),
    ):
        options = {"semantic_recall": {"scope": scope, "message_range": 0, "threshold": 0.9}}
        result = Memory(last_messages=0).recall(
            thread, vector_search_string="purple rain", filter=criterion, thread_config=options
        )
        assert set(uids(result)) == expected
    assert Embedding.objects.count() == 4


def test_case_35_an_edited_text_leaves_no_old_vector(embedder: HashEmbedder, on_commit: OnCommit) -> None:
    """Section 4: by update and by saving again; a text set to "" leaves no vector and no job."""
    with on_commit():
        save(message("m1", "purple"), message("m2", "purple"))
    with on_commit():
        Memory().update_messages([{"id": "m1", "content": {"content": "green"}}])
        save(message("m2", "yellow"))
    assert (found("purple"), found("green"), found("yellow")) == ([], names(1), names(2))
    for emptied in ("", {"content": ""}, {"parts": []}, {"parts": [{"type": "file", "data": "purple"}]}):
        with on_commit():
            save(message("m1", "purple"))
        assert found("purple") == names(1)
        with on_commit():
            Memory().update_messages([{"id": "m1", "content": emptied}])
        assert Memory().get_messages(["m1"])[0].text == "", emptied
        assert not Embedding.objects.filter(message__uid="m1").exists()
    assert EmbeddingJob.objects.count() == 0


def test_case_35_fewer_chunks_than_before(on_commit: OnCommit) -> None:
    with on_commit():
        save(message("m1", "purple " * 10_000))
    assert Embedding.objects.count() > 1
    with on_commit():
        save(message("m1", "green"))
    assert Embedding.objects.count() == 1
    assert (found("purple"), found("green")) == ([], names(1))


def test_case_35_two_edits_before_one_commit(on_commit: OnCommit) -> None:
    """What is embedded is the text that was committed."""
    with on_commit():
        save(message("m1", "purple"))
        Memory().update_messages([{"id": "m1", "content": "green"}])
        save(message("m2", "purple"))
        Memory().delete_messages("m2")
    assert (found("purple"), found("green")) == ([], names(1))
    assert Embedding.objects.count() == 1
    assert EmbeddingJob.objects.count() == 0


@pytest.mark.parametrize(
    "change",
    [
        {"content": {"metadata": {"k": 2}}},
        {"role": "assistant"},
        {"type": "note"},
        {"content": {"parts": [{"type": "text", "text": "purple"}, {"type": "file", "data": "x"}]}},
        {"thread_id": "u"},
    ],
    ids=["metadata", "role", "type", "other parts", "moved"],
)
def test_case_35_the_same_text_costs_nothing(
    change: dict[str, Any], embedder: HashEmbedder, on_commit: OnCommit
) -> None:
    """Section 3: only a change of the text calls the embedder; the row of the vector stays."""
    Memory().create_thread("r", thread_id="u")
    with on_commit():
        save(message("m1", "purple"))
    before = list(Embedding.objects.values_list("pk", flat=True))
    embedder.calls.clear()
    with on_commit():
        Memory().update_messages([{"id": "m1", **change}])
    assert embedder.calls == []
    assert list(Embedding.objects.values_list("pk", flat=True)) == before
    assert found("purple") == names(1)


def test_case_35_a_move_takes_the_vector_along(on_commit: OnCommit) -> None:
    """By saving under another thread and by update: thread scope finds it in its new place only."""
    with on_commit():
        save(message("m1", "purple"), message("m2", "purple", thread="u"))
    with on_commit():
        save(message("m1", "purple", thread="u"))
        Memory().update_messages([{"id": "m2", "threadId": "t"}])
    assert found("purple", scope="thread", thread="t") == names(2)
    assert found("purple", scope="thread", thread="u") == names(1)


def test_case_37_saving_again_adds_no_vector(embedder: HashEmbedder, on_commit: OnCommit) -> None:
    """One vector a message; `top_k` counts different messages."""
    for _ in range(3):
        with on_commit():
            save(message("m1", "purple rain"))
    assert embedder.calls == [["purple rain"]]
    with on_commit():
        save(message("m2", "purple rain"), message("m3", "purple rain"), message("m3", "purple rain"))
    assert embedder.calls == [["purple rain"]]
    assert Embedding.objects.count() == 3
    assert sorted(found("purple rain", top_k=3)) == names(1, 2, 3)


def test_case_37_chunks_of_one_message_do_not_fill_top_k(on_commit: OnCommit) -> None:
    with on_commit():
        save(message("m1", "purple " * 10_000))
        save(message("m2", "purple " * 20 + "rain"), message("m3", "purple " * 10 + "rain"))
    assert Embedding.objects.filter(message__uid="m1").count() > 3
    assert sorted(found("purple", top_k=3)) == names(1, 2, 3)


def test_case_39_nothing_of_a_deleted_message_is_found(on_commit: OnCommit) -> None:
    """Vectors go with their messages, so that a search is not cut short by them."""
    with on_commit():
        save(*(message(f"m{n}", "purple rain", created_at=at(n)) for n in range(1, 11)))
    assert Memory().delete_messages(names(*range(3, 11))) == 8
    assert found("purple rain", top_k=4) == names(2, 1)
    assert Embedding.objects.count() == 2
    Memory().delete_thread("t")
    assert found("purple rain", thread="new") == []
    assert Embedding.objects.count() == EmbeddingJob.objects.count() == 0


@pytest.mark.parametrize("count", [99, 100, 101, 250, 1_001])
def test_case_39_many_ids_at_once(count: int, count_queries: Callable[..., Any]) -> None:
    """All are gone, jobs that were still open too, in a fixed number of statements."""
    save(*(message(f"m{n}", created_at=at(n)) for n in range(count)), message("kept"))
    ids = [{"id": f"m{n}"} for n in range(count)]
    with count_queries(at_most=12):
        assert Memory().delete_messages([*ids, *ids[:5], "unknown"]) == count
    assert uids(Memory().recall("t", per_page=False)) == ["kept"]
    assert EmbeddingJob.objects.count() == 1
    assert Memory().delete_messages(ids) == 0


def test_case_39_deleted_before_it_was_embedded(embedder: HashEmbedder, on_commit: OnCommit) -> None:
    with on_commit():
        save(message("m1", "purple"), message("m2", "green", thread="u"))
        Memory().delete_messages(["m1"])
        Memory().delete_thread("u")
    assert embedder.calls == []
    assert Embedding.objects.count() == EmbeddingJob.objects.count() == 0
