"""A server on a free local port that answers POST /v1/embeddings as OpenAI does, or fails as told."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.embedders.hashing import hash_vector, words


@dataclass(frozen=True)
class Request:
    """What came in; the names of the headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What goes out: `body` as JSON if it is not a string; after `delay` seconds; `drop`: nothing at all."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False


Answer = Callable[[Request], Reply]


def embeddings(request: Request, *, dimensions: int = 1536) -> Reply:
    """The right answer, with the vectors of the hash embedder, last text first: the order is in `index`."""
    dimensions = request.body.get("dimensions", dimensions)
    texts = request.body["input"]
    tokens = sum(1 for text in texts for _ in words(text))
    data = [
        {"object": "embedding", "index": place, "embedding": hash_vector(text, dimensions)}
        for place, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Reply({"object": "list", "data": data[::-1], "model": request.body["model"], "usage": usage})


def changed(change: Callable[[dict[str, Any]], object]) -> Answer:
    """The right answer, after `change` was applied to its body."""

    def answer(request: Request) -> Reply:
        reply = embeddings(request)
        change(reply.body)
        return reply

    return answer


def failing(status: int, **headers: str) -> Answer:
    """An error status whose body quotes what was sent and the key, as some servers do."""

    def answer(request: Request) -> Reply:
        message = f"bad input {request.body['input']} with {request.headers.get('authorization')}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Reply({"error": {"message": message, "code": "x"}}, status, named)

    return answer


def replying(body: Any, **options: Any) -> Answer:
    """This reply, whatever was asked; `delay` and `drop` as in `Reply`."""
    return lambda request: Reply(body, **options)


slow = replying("", delay=0.5)
dropped = replying("", drop=True)
no_json = replying("<html>Welcome</html>", headers={"Content-Type": "text/html"})
one_missing = changed(lambda body: body["data"].pop())
too_short = changed(lambda body: body["data"][0].update(embedding=[0.5, 0.5]))
not_a_number = changed(lambda body: body["data"][0]["embedding"].__setitem__(7, float("nan")))


class OpenAIStub:
    """The server, as a context manager.

    Attributes:
        url: what to give as `base_url`.
        requests: what came in, in order.
        answers: the answers to the next requests; when there are none left, the right one.
        dimensions: length of the vectors where a request names none.
    """

    requests: list[Request]
    answers: deque[Answer]
    dimensions: int

    def __init__(self) -> None:
        self.reset()
        self._closing = threading.Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                stub._serve(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # Joined by server_close(): no thread and no socket outlives the test.
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def reset(self) -> None:
        """Forget what came in, and answer rightly again."""
        self.requests, self.answers, self.dimensions = [], deque(), 1536

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Request(handler.path, headers, json.loads(raw))
        self.requests.append(request)
        if handler.path != "/v1/embeddings":
            reply = Reply({"error": "not found"}, 404)
        elif self.answers:
            reply = self.answers.popleft()(request)
        else:
            reply = embeddings(request, dimensions=self.dimensions)
        self._closing.wait(reply.delay)
        if reply.drop or self._closing.is_set():
            return
        with suppress(ConnectionError):  # the client may have given up by now
            self._send(handler, reply)

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        body = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
        handler.send_response(reply.status)
        usual = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in {**usual, **reply.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)
