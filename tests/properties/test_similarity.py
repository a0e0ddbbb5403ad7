"""Semantic recall over given vectors equals numpy in float64 (contract section 2, rule 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import Memory
from memory.embedders import embedders
from tests.properties.histories import MOMENTS, fresh
from tests.properties.vectors import DIMENSIONS, SETTING, WORD_LENGTH, GivenEmbedder, similarity

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime

    from pytest_django import Settings

    OnCommit = Callable[..., AbstractContextManager[list[Any]]]

TOLERANCE = 2e-6
WORDS = 8

components = st.one_of(
    st.floats(-2, 2, width=32).filter(lambda number: number == 0 or abs(number) > 1e-6),
    st.sampled_from([0.0, 1.0, -1.0]),
)
vectors = st.one_of(
    st.lists(components, min_size=DIMENSIONS, max_size=DIMENSIONS),
    st.integers(0, 2**32).map(lambda seed: np.random.default_rng(seed).normal(size=DIMENSIONS).tolist()),
    st.just([0.0] * DIMENSIONS),
).map(lambda numbers: [float(np.float32(number)) for number in numbers])
# A message: its words (chunks), its date, and whether the filter matches it.
messages = st.tuples(
    st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=3, unique=True),
    st.sampled_from(MOMENTS),
    st.booleans(),
)


@dataclass(frozen=True)
class Candidate:
    """A message the search may find. `best` is the pair of words its similarity comes from."""

    uid: str
    similarity: float
    best: tuple[int, int]
    newness: tuple[datetime, int]

    def surely_beats(self, other: Candidate) -> bool:
        """More similar by more than the databases may differ; or equal by the same vectors, and newer."""
        if self.best == other.best:
            return self.newness > other.newness
        return self.similarity > other.similarity + TOLERANCE


@pytest.fixture
def given_embedder(settings: Settings) -> GivenEmbedder:
    settings.MEMORY = {"EMBEDDERS": SETTING}
    return cast("GivenEmbedder", embedders["default"])


def words_for(embedder: GivenEmbedder, drawn: list[list[float]]) -> list[str]:
    """One word for each vector, as long as a chunk."""
    words = [fresh("word-").ljust(WORD_LENGTH, "x") for _ in drawn]
    embedder.vectors = dict(zip(words, drawn, strict=True))
    return words


def stored(texts: list[tuple[str, datetime, bool]], on_commit: OnCommit) -> tuple[str, list[str]]:
    """A thread of one message for each text, embedded; its id and theirs."""
    thread = Memory().create_thread(fresh("owner"), thread_id=fresh("thread")).uid
    uids = [fresh("message") for _ in texts]
    with on_commit():
        Memory().save_messages(
            [
                {
                    "id": uid,
                    "thread_id": thread,
                    "role": "user",
                    "created_at": moment,
                    "content": {
                        "parts": [{"type": "text", "text": text}],
                        "metadata": {"matches": matches},
                    },
                }
                for uid, (text, moment, matches) in zip(uids, texts, strict=True)
            ]
        )
    return thread, uids


def search(thread: str, query: str, **options: Any) -> dict[str, float]:
    """The hits: message id to similarity."""
    result = Memory().recall(
        thread,
        vector_search_string=query,
        per_page=0,
        filter=options.pop("filter", None),
        thread_config={"semantic_recall": {"message_range": 0, **options}},
    )
    assert all(message.recall.sources == {"semantic"} for message in result.messages)
    return {message.uid: cast("float", message.recall.similarity) for message in result.messages}


def candidates(
    uids: list[str],
    drawn: list[tuple[list[int], datetime, bool]],
    query: list[int],
    chosen: list[list[float]],
    filtered: bool,
) -> dict[str, Candidate]:
    """What can be found: the best pair of chunks of query and message, zero vectors left out."""
    found: dict[str, Candidate] = {}
    for place, (uid, (words, moment, matches)) in enumerate(zip(uids, drawn, strict=True)):
        pairs = {(q, w): similarity(chosen[q], chosen[w]) for q in query for w in words}
        known = {pair: value for pair, value in pairs.items() if value is not None}
        if known and (matches or not filtered):
            best = max(known, key=lambda pair: known[pair])
            found[uid] = Candidate(uid, known[best], best, (moment, place))
    return found


@pytest.mark.django_db
@settings(max_examples=60)
@given(
    chosen=st.lists(vectors, min_size=WORDS, max_size=WORDS),
    drawn=st.lists(messages, max_size=8),
    query=st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=3, unique=True),
    top_k=st.integers(1, 9),
    threshold=st.none() | st.floats(0, 1),
    filtered=st.booleans(),
)
def test_hits_are_those_of_the_oracle(
    given_embedder: GivenEmbedder,
    on_commit: OnCommit,
    chosen: list[list[float]],
    drawn: list[tuple[list[int], datetime, bool]],
    query: list[int],
    top_k: int,
    threshold: float | None,
    filtered: bool,
) -> None:
    """Similarities within 2e-6; rank, threshold, top_k and ties wherever they lie further apart."""
    words = words_for(given_embedder, chosen)
    texts = [(" ".join(words[w] for w in chunks), moment, ok) for chunks, moment, ok in drawn]
    thread, uids = stored(texts, on_commit)
    possible = candidates(uids, drawn, query, chosen, filtered)
    hits = search(
        thread,
        " ".join(words[q] for q in query),
        top_k=top_k,
        threshold=threshold,
        filter={"metadata": {"matches": True}} if filtered else None,
    )
    least = -2.0 if threshold is None else threshold
    reachable = {uid for uid, found in possible.items() if found.similarity >= least - TOLERANCE}
    certain = {uid for uid, found in possible.items() if found.similarity >= least + TOLERANCE}
    assert set(hits) <= reachable
    assert min(top_k, len(certain)) <= len(hits) <= min(top_k, len(reachable))
    for uid, value in hits.items():
        assert value == pytest.approx(possible[uid].similarity, abs=TOLERANCE)
        assert value == round(value, 6)
        missed = [possible[other] for other in certain - set(hits)]
        assert not any(other.surely_beats(possible[uid]) for other in missed)


@pytest.mark.django_db
@settings(max_examples=20)
@given(chosen=vectors.filter(any), dates=st.lists(st.sampled_from(MOMENTS), min_size=2, max_size=7))
def test_ties_go_to_the_newest(
    given_embedder: GivenEmbedder, on_commit: OnCommit, chosen: list[float], dates: list[datetime]
) -> None:
    """Equal vectors rank by date, equal dates by the order of saving, whatever `top_k`."""
    (word,) = words_for(given_embedder, [chosen])
    thread, uids = stored([(word, moment, True) for moment in dates], on_commit)
    newest_first = [uids[place] for place in sorted(range(len(dates)), key=lambda n: (dates[n], n))][::-1]
    for top_k in range(1, len(dates) + 1):
        assert set(search(thread, word, top_k=top_k)) == set(newest_first[:top_k])


@pytest.mark.django_db
@settings(max_examples=20)
@given(chosen=st.lists(vectors, min_size=2, max_size=6))
def test_message_of_many_chunks_is_one_hit(
    given_embedder: GivenEmbedder, on_commit: OnCommit, chosen: list[list[float]]
) -> None:
    """`top_k` counts messages: however many chunks of one come first, the others are found too."""
    wanted = [1.0] * DIMENSIONS
    *words, query = words_for(given_embedder, [wanted, *chosen, wanted])
    # The long message holds the sought vector beside others; each of the short ones has one vector.
    texts = [" ".join(words), *words[1:]]
    thread, uids = stored([(text, MOMENTS[0], True) for text in texts], on_commit)
    hits = search(thread, query, top_k=len(texts))
    assert set(hits) == {uids[0], *(uid for uid, vector in zip(uids[1:], chosen, strict=True) if any(vector))}
    assert hits[uids[0]] == 1.0


@pytest.mark.django_db
@pytest.mark.parametrize("scale", [1e-30, 1e-10, 1.0, 1e10, 1e30])
def test_length_of_a_vector_does_not_matter(
    given_embedder: GivenEmbedder, on_commit: OnCommit, scale: float
) -> None:
    """The cosine is that of the directions, for every vector that single precision can hold."""
    directions = [[3.0, 4.0] + [0.0] * (DIMENSIONS - 2), [0.0, 1.0] + [0.0] * (DIMENSIONS - 2)]
    chosen = [[float(np.float32(x * scale)) for x in vector] for vector in directions]
    words = words_for(given_embedder, chosen)
    thread, uids = stored([(word, MOMENTS[0], True) for word in words], on_commit)
    hits = search(thread, words[1])
    assert hits == pytest.approx({uids[0]: 0.8, uids[1]: 1.0}, abs=TOLERANCE)


@pytest.mark.django_db
def test_zero_vectors_find_and_are_nothing(given_embedder: GivenEmbedder, on_commit: OnCommit) -> None:
    """A zero vector is no hit, even without a threshold, and a zero query finds nothing."""
    zero, one = words_for(given_embedder, [[0.0] * DIMENSIONS, [1.0] * DIMENSIONS])
    thread, uids = stored([(zero, MOMENTS[0], True), (one, MOMENTS[0], True)], on_commit)
    assert set(search(thread, one)) == {uids[1]}
    assert search(thread, zero) == {}
    assert set(search(thread, f"{zero} {one}")) == {uids[1]}
