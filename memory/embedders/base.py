"""What an embedder is: a model of fixed dimensions that turns texts into vectors."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured

from memory.embedders.cache import EmbeddingCache
from memory.exceptions import EmbedderError

if TYPE_CHECKING:
    from memory.db.fields import Vector


class MissingPackage(ImproperlyConfigured):
    """The package that a backend needs is not installed."""


def require_package(package: str, *, extra: str) -> None:
    """Hold that `package` can be imported, without importing it.

    Raises:
        MissingPackage: it is not installed; the text names the extra of this distribution that brings it.
    """
    if find_spec(package) is None:
        raise MissingPackage(
            f'the package {package!r} is not installed. Run: pip install "django-recall[{extra}]"'
        )


def require_whole(name: str, value: object, *, least: int = 1) -> int:
    """Hold that the option `name` is an integer of at least `least`, and return it.

    Raises:
        ImproperlyConfigured: it is anything else.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {least}.")
    return value


@dataclass(frozen=True, slots=True)
class EmbedResult:
    """The answer of one :meth:`BaseEmbedder.embed` call.

    Attributes:
        vectors: one vector a text, in the order of the texts.
        tokens: tokens the service counted, or None where it does not count.
    """

    vectors: Sequence[Vector]
    tokens: int | None = None


class BaseEmbedder(ABC):
    """Base class of all embedders; `MEMORY["EMBEDDERS"][alias]["OPTIONS"]` become the keyword arguments.

    Making one must be cheap and offline: weights and connections are loaded by the first call of
    :meth:`embed`. One instance serves all threads of the process.

    Attributes:
        model: name of the model, stored with the vectors.
        dimensions: length of every vector.
        max_input_tokens: longest text the model reads; longer texts are cut in chunks before.
    """

    model: str
    dimensions: int
    max_input_tokens: int = 8_191

    @cached_property
    def cache(self) -> EmbeddingCache:
        """The vectors made last; searches and the outbox share it."""
        return EmbeddingCache()

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> EmbedResult:
        """Turn non-blank texts into vectors.

        Called with no database transaction of this app open. Any number of texts may come; the
        backend cuts them into requests of a size that its service takes.

        Raises:
            EmbedderError: the service failed or answered something unusable.
        """

    def close(self) -> None:
        """Give connections back. The next :meth:`embed` opens them again; here there are none."""
        return

    def check(self) -> list[CheckMessage]:
        """What `manage.py check` should warn of beside wrong options, such as a missing key. Offline."""
        return []

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`; without a tokenizer one for each non-ASCII character, a quarter for each
        ASCII one, which no usual tokenizer exceeds (contract section 4)."""
        # "ignore" drops exactly the other characters, lone surrogates too; 0.04 ms where a loop takes 1.5.
        narrow = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
        return len(text) - narrow + math.ceil(narrow / 4)

    def embed_checked(self, texts: Sequence[str]) -> EmbedResult:
        """:meth:`embed`, with the answer held against what was asked.

        The vectors are numpy arrays of 32-bit floats, whatever the backend returned: it is what the
        databases store, so a number beyond their range counts as infinite.

        Raises:
            EmbedderError: also for a wrong number of vectors, wrong dimensions, NaN or infinity.
        """
        if not texts:
            return EmbedResult([], 0)
        failure, is_outage = None, False
        try:
            result = self.embed(texts)
            vectors, tokens = list(result.vectors), result.tokens
        except EmbedderError:
            raise
        except Exception as error:  # whatever a backend of the site may raise
            failure, is_outage = type(error).__name__, isinstance(error, OSError)
        # Raised out here, the error above does not hang on it: its text may quote what was to be embedded.
        if failure is not None:
            raise EmbedderError(
                f"{self.model} failed with {failure}.", retryable=is_outage, refused_input=not is_outage
            )
        if len(vectors) != len(texts):
            raise EmbedderError(f"{self.model} answered {len(vectors)} vectors for {len(texts)} texts.")
        counted = tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else None
        return EmbedResult([self.as_vector(vector) for vector in vectors], counted)

    def as_vector(self, values: Vector) -> npt.NDArray[np.float32]:
        """A copy of `values` as one vector of this model.

        Raises:
            EmbedderError: `values` are no numbers, of another length, or not all finite.
        """
        try:
            with np.errstate(over="ignore"):
                vector = np.array(values, dtype=np.float32)
        except (TypeError, ValueError, OverflowError):
            vector = None
        # Raised out here, the error above does not hang on it: its text may quote what was answered.
        if vector is None:
            raise EmbedderError(
                f"{self.model} answered a vector that is no list of numbers.", refused_input=True
            )
        if vector.shape != (self.dimensions,):
            length = " x ".join(map(str, vector.shape)) or "no"
            raise EmbedderError(
                f"{self.model} answered a vector of {length} dimensions; {self.dimensions} are configured."
            )
        if not np.isfinite(vector).all():
            raise EmbedderError(f"{self.model} answered a vector with NaN or infinity.", refused_input=True)
        return vector
