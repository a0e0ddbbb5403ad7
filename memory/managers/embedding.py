"""Spaces and their embedders."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured

from memory.content.text import chunks
from memory.db.fields import Vector, unit
from memory.db.transactions import release_connection
from memory.embedders import BaseEmbedder, EmbedResult, embedders
from memory.embedders.cache import CachedVector
from memory.exceptions import EmbedderError, SemanticRecallNotConfigured
from memory.querysets import tables
from memory.schema.embedding import EmbeddingSpace

ACTIVE = EmbeddingSpace.State.ACTIVE


def active_spaces(using: str) -> list[EmbeddingSpace]:
    """The spaces in which every message is embedded: the active ones of the configured aliases. 1 query.

    A configured alias that never had a space gets one here, of the embedder's model and dimensions.

    Raises:
        ImproperlyConfigured: the embedder of an alias without a space cannot be made.
    """
    known = list(tables.spaces(using).order_by("pk"))
    for alias in set(embedders) - {space.alias for space in known}:
        embedder = embedders[alias]
        space, _ = tables.spaces(using).get_or_create(
            alias=alias,
            state=ACTIVE,
            defaults={"model": embedder.model, "dimensions": embedder.dimensions},
        )
        known.append(space)
    return [space for space in known if space.state == ACTIVE and space.alias in embedders]


def searched_space(alias: str, using: str) -> tuple[EmbeddingSpace | None, BaseEmbedder]:
    """The active space of an alias and its embedder. 1 query.

    Returns:
        None for the space when nothing was ever embedded in it.

    Raises:
        SemanticRecallNotConfigured: no embedder is configured, it cannot be made, or its model or
            dimensions are not those of the stored vectors.
    """
    embedder = usable_embedder(alias)
    space = tables.spaces(using).filter(alias=alias, state=ACTIVE).first()
    if space is not None and (problem := mismatch(space, embedder)):
        raise SemanticRecallNotConfigured(problem)
    return (space if space is not None and fits(space, embedder) else None), embedder


def usable_embedder(alias: str) -> BaseEmbedder:
    """The embedder of an alias.

    Raises:
        SemanticRecallNotConfigured: it is not configured, or cannot be made.
    """
    try:
        return embedders[alias]
    except ImproperlyConfigured as error:
        raise SemanticRecallNotConfigured(str(error)) from error


def fits(space: EmbeddingSpace, embedder: BaseEmbedder) -> bool:
    """The space is one of the embedder's model and dimensions."""
    return (space.model, space.dimensions) == (embedder.model, embedder.dimensions)


def mismatch(space: EmbeddingSpace, embedder: BaseEmbedder) -> str | None:
    """Why the configured embedder cannot work in the stored space, and what to do; None if it can.

    A space without vectors is open to any embedder. 1 query where the two do not fit.
    """
    if fits(space, embedder) or not tables.embeddings(space._state.db or "default").in_space(space).exists():
        return None
    return (
        f"The vectors of the embedding space {space.alias!r} were made by {space.model!r} with "
        f"{space.dimensions} dimensions, but MEMORY['EMBEDDERS'][{space.alias!r}] names {embedder.model!r} "
        f"with {embedder.dimensions}. Configure the former embedder again, or, to start afresh with the new "
        f"one, run `manage.py embed_messages --replace {space.alias}`, which embeds every message anew."
    )


def embed_text(embedder: BaseEmbedder, text: str, using: str) -> EmbedResult:
    """The vectors of a text's chunks and the tokens they count, with the connection given back meanwhile.

    Raises:
        EmbedderError: the embedder failed.
    """
    return embed_chunks(embedder, chunks_for(embedder, text), using, counted=True)


def chunks_for(embedder: BaseEmbedder, text: str) -> list[str]:
    """A text cut to what the embedder reads.

    Raises:
        EmbedderError: its tokenizer failed.
    """
    try:
        return chunks(text, max_tokens=embedder.max_input_tokens, count_tokens=embedder.count_tokens)
    except Exception as error:  # whatever a tokenizer of the site may raise
        failure = type(error).__name__
    raise EmbedderError(f"{embedder.model} could not count tokens: {failure}.", refused_input=True)


def embed_chunks(
    embedder: BaseEmbedder, texts: Sequence[str], using: str, *, counted: bool = False
) -> EmbedResult:
    """The vectors of some chunks, of length 1; equal chunks are sent once, cached ones not at all.

    Args:
        counted: the tokens matter: a cached vector serves only where the service counted for it alone.

    Raises:
        EmbedderError: the embedder failed.
    """
    cache = embedder.cache
    vectors: dict[str, Vector] = {}
    tokens: list[int | None] = []
    for text in dict.fromkeys(texts):
        cached = cache.get(text)
        if cached is not None and (cached.counted or not counted):
            vectors[text] = cached.vector
            tokens.append(cached.tokens)
    missing = [text for text in dict.fromkeys(texts) if text not in vectors]
    if missing or not texts:
        release_connection(using)
        result = embedder.embed_checked(missing)
        alone = len(missing) == 1
        for text, vector in zip(missing, result.vectors, strict=True):
            scaled = vectors[text] = unit(vector)
            cache.set(text, CachedVector(scaled, result.tokens if alone else None, alone))
        tokens.append(result.tokens)
    known = [count for count in tokens if count is not None]
    return EmbedResult([vectors[text] for text in texts], sum(known) if len(known) == len(tokens) else None)
