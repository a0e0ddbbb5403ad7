"""The embedder for OpenAI and for every server that speaks its embeddings protocol."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.core.checks import CheckMessage, Warning
from django.core.exceptions import ImproperlyConfigured

from memory.embedders.base import BaseEmbedder, EmbedResult, require_package, require_whole
from memory.exceptions import EmbedderError

if TYPE_CHECKING:
    from openai import OpenAI

    from memory.db.fields import Vector

# Length of the vectors where a request names none.
NATIVE_DIMENSIONS = {
    "text-embedding-3-small": 1_536,
    "text-embedding-3-large": 3_072,
    "text-embedding-ada-002": 1_536,
}
# Models of a fixed length: their server refuses a request that names one.
FIXED_DIMENSIONS = {"text-embedding-ada-002"}

A_DAY = 86_400.0

TRY_LATER = {408, 409, 425, 429}
# What a server answers to a text it does not take, among other reasons.
REFUSED_INPUT = {400, 413, 422}
ADVICE = {
    400: "Check OPTIONS['model'], OPTIONS['dimensions'] and OPTIONS['max_input_tokens'].",
    401: "Check OPTIONS['api_key']; with OPTIONS['base_url'] the key has to stand there too.",
    403: "Check that the key of OPTIONS['api_key'] may use this model.",
    404: "Check OPTIONS['base_url'] and OPTIONS['model'].",
    413: "Lower OPTIONS['batch_size'] or OPTIONS['batch_tokens'].",
    422: "Check OPTIONS['model'], OPTIONS['dimensions'] and OPTIONS['batch_size'].",
    429: "Try later, or check the limits and the credit of the account.",
}


class OpenAIEmbedder(BaseEmbedder):
    """Vectors of the OpenAI API, or of a compatible server (Ollama, vLLM, TEI, Azure) at `base_url`.

    The first call of :meth:`embed` imports the package and opens connections.

    Args:
        model: name of the model, as the server knows it.
        dimensions: length of the vectors; may be left out for the models of OpenAI only.
        api_key: left out: the environment variable `OPENAI_API_KEY`, which is never sent to `base_url`.
        base_url: address of another server, with its version: `http://localhost:11434/v1`.
        timeout: seconds a request may wait for the connection, and for the next bytes of the answer.
        max_retries: how often a request is sent again after a time-out, a lost connection, 408, 409,
            429 or 5xx. A wait that the server asks for (Retry-After) is kept up to `timeout` seconds;
            a longer one is an error at once, and the caller decides.
        max_input_tokens: longest text the model reads; longer ones are cut in chunks before.
        batch_size: most texts in one request.
        batch_tokens: most tokens in one request, as :meth:`count_tokens` counts them.
        send_dimensions: ask the server for vectors of `dimensions`. Left out: only where an OpenAI
            model has another length by itself, since many other servers refuse the parameter.

    Raises:
        ImproperlyConfigured: the package is not installed, or an option is wrong.
    """

    def __init__(
        self,
        *,
        model: str = "text-embedding-3-small",
        dimensions: int | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 20.0,
        max_retries: int = 2,
        max_input_tokens: int = 8_191,
        batch_size: int = 2_048,
        batch_tokens: int = 300_000,
        send_dimensions: bool | None = None,
    ) -> None:
        require_package("openai", extra="openai")
        native = NATIVE_DIMENSIONS.get(model)
        if dimensions is None and native is None:
            raise ImproperlyConfigured(
                f"dimensions must be given for the model {model!r}: the length of its vectors."
            )
        self.model = model
        self.dimensions = require_whole("dimensions", native if dimensions is None else dimensions)
        if native is not None and self.dimensions > native:
            raise ImproperlyConfigured(f"dimensions must not exceed {native} for the model {model!r}.")
        if model in FIXED_DIMENSIONS and self.dimensions != native:
            raise ImproperlyConfigured(f"dimensions must be {native} for the model {model!r}.")
        if base_url is not None and not _is_http(base_url):
            raise ImproperlyConfigured("base_url must be an address that begins with http:// or https://.")
        if not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
            raise ImproperlyConfigured("timeout must be a number of seconds above 0.")
        self.timeout = timeout
        self.max_retries = require_whole("max_retries", max_retries, least=0)
        self.max_input_tokens = require_whole("max_input_tokens", max_input_tokens)
        self.batch_size = require_whole("batch_size", batch_size)
        self.batch_tokens = require_whole("batch_tokens", batch_tokens)
        if send_dimensions is None:
            send_dimensions = native is not None and self.dimensions != native
        self._parameters: dict[str, Any] = {"dimensions": self.dimensions} if send_dimensions else {}
        self._api_key = api_key
        self._base_url = base_url
        self._client: OpenAI | None = None
        self._opening = threading.Lock()

    def embed(self, texts: Sequence[str]) -> EmbedResult:
        """Turn texts into vectors, in as many requests as it takes; the first failure ends the call.

        Raises:
            EmbedderError: no key, no answer, an error status or an unusable answer. Its text holds
                nothing of the texts or of the key, and no other error hangs on it: the body of an
                answer may quote both.
        """
        vectors: list[Vector] = []
        tokens: int | None = 0
        for batch in self._batches(texts):
            answer = self._ask(batch)
            vectors += self._vectors(answer, len(batch))
            used = _tokens(answer)
            tokens = None if tokens is None or used is None else tokens + used
        return EmbedResult(vectors, tokens)

    def check(self) -> list[CheckMessage]:
        """A missing key. No error: the process that checks may not be the one that embeds."""
        try:
            self._key()
        except EmbedderError as error:
            return [
                Warning(
                    str(error),
                    hint="Until then messages wait to be embedded, and searches by meaning fail.",
                    id="memory.W004",
                )
            ]
        return []

    def close(self) -> None:
        """Close the connections; the next :meth:`embed` opens them again."""
        with self._opening:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        start = tokens = 0
        for place, text in enumerate(texts):
            more = self.count_tokens(text)
            if place > start and (place - start == self.batch_size or tokens + more > self.batch_tokens):
                yield texts[start:place]
                start, tokens = place, 0
            tokens += more
        if start < len(texts):
            yield texts[start:]

    def _ask(self, texts: Sequence[str]) -> Any:
        try:
            # The raw answer: the package's own objects take 12 s for 2,048 vectors, JSON alone 2 s.
            answer = self._connect().embeddings.with_raw_response.create(
                input=list(texts), model=self.model, encoding_format="float", **self._parameters
            )
        except EmbedderError:
            raise
        except Exception as error:  # httpx, TLS and codecs raise errors of their own beside the package's
            failure = self._failure(error)
        else:
            try:
                return answer.http_response.json()
            except (ValueError, RecursionError):
                failure = self._unusable("no JSON")
        # Raised out here, the errors above do not hang on it as its context.
        raise failure

    def _connect(self) -> OpenAI:
        from openai import DefaultHttpxClient, OpenAI

        with self._opening:
            if self._client is None:
                self._client = OpenAI(
                    api_key=self._key(),
                    base_url=self._base_url,
                    timeout=self.timeout,
                    max_retries=self.max_retries,
                    http_client=DefaultHttpxClient(event_hooks={"response": [self._refuse_long_wait]}),
                )
            return self._client

    def _key(self) -> str:
        if self._api_key or not self._base_url:
            key = (self._api_key or os.environ.get("OPENAI_API_KEY", "")).strip()
        else:
            key = "none"  # the package insists on one, a server of one's own seldom does
        if not key:
            raise EmbedderError(
                f"{self.model}: there is no key. Set OPTIONS['api_key'] or the environment variable "
                "OPENAI_API_KEY."
            )
        if not (key.isascii() and key.isprintable()):
            raise EmbedderError(f"{self.model}: the key holds characters that no key has.")
        return key

    def _refuse_long_wait(self, response: Any) -> None:
        # The package would sleep for minutes if the server says so, perhaps in a web request.
        wait = _retry_after(response.headers)
        if wait is not None and wait > self.timeout:
            response.headers["x-should-retry"] = "false"

    def _vectors(self, answer: Any, count: int) -> list[Vector]:
        try:
            data = answer["data"]
            received = len(data)
            # Servers that leave out zeros send no index for the first one.
            found = {item.get("index", place): item["embedding"] for place, item in enumerate(data)}
        except (AttributeError, LookupError, TypeError):
            received, found = -1, {}
        if received >= 0 and received != count:
            raise self._unusable(f"{received} vectors for {count} texts")
        if found.keys() != set(range(count)):
            raise self._unusable("no list of vectors with one index each")
        return [self.as_vector(found[place]) for place in range(count)]

    def _unusable(self, what: str) -> EmbedderError:
        return EmbedderError(
            f"{self.model}: the server answered {what}. Check that OPTIONS['base_url'] is the address of "
            "an API compatible with OpenAI."
        )

    def _failure(self, error: Exception) -> EmbedderError:
        """What to raise for `error`, of whose text nothing is taken over."""
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        if isinstance(error, APITimeoutError):
            return EmbedderError(
                f"{self.model}: no answer within {self.timeout:g} seconds. Check OPTIONS['base_url'], or "
                "raise OPTIONS['timeout'].",
                retryable=True,
            )
        if isinstance(error, APIConnectionError):
            return EmbedderError(
                f"{self.model}: no connection to the server. Check OPTIONS['base_url'] and the network.",
                retryable=True,
            )
        if isinstance(error, APIStatusError):
            status = error.status_code
            retryable = status in TRY_LATER or status >= 500
            advice = ADVICE.get(status, "Try later." if retryable else "Check OPTIONS['base_url'].")
            return EmbedderError(
                f"{self.model}: the server answered {status}. {advice}",
                retryable=retryable,
                retry_after=_retry_after(error.response.headers) if retryable else None,
                refused_input=status in REFUSED_INPUT,
            )
        return EmbedderError(f"{self.model}: the request could not be made ({type(error).__name__}).")


def _is_http(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 80) > 0
    except ValueError:
        return False


def _tokens(answer: Mapping[str, Any]) -> int | None:
    usage = answer.get("usage")
    used = usage.get("total_tokens", usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    return used if isinstance(used, int) else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asked to wait, at most a day; None where it did not ask."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        return min(max(seconds, 0.0), A_DAY) if math.isfinite(seconds) else None
    try:
        until = parsedate_to_datetime(headers["retry-after"])
    except (LookupError, TypeError, ValueError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max((until - datetime.now(UTC)).total_seconds(), 0.0), A_DAY)
