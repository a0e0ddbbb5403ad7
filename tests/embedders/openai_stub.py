"""A server on a free local port that answers POST /v1/embeddings and /v1/chat/completions as OpenAI does, or
fails as told."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    """What goes out: `body` as JSON if it is not a string; after `delay` seconds; `drop`: nothing at all.

    `pieces` are sent one by one in place of a body; where they end early, so does the connection.
    """

    body: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    pieces: Iterable[str] | None = None


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


def says(
    text: str | None = None,
    *calls: tuple[str, Any],
    stop_after: int | None = None,
    wait: Callable[[], object] = bool,
    **fields: Any,
) -> Answer:
    """A chat completion: `text`, and calls of tools as (name, arguments); streamed where that is asked for.

    Args:
        stop_after: chunks of a stream after which the connection is lost.
        wait: called before each chunk but the first.
        fields: of the message, such as `reasoning_content`.
    """
    tool_calls = [
        {
            "id": f"call-{number}-{name}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(calls)
    ]
    reason = "tool_calls" if calls else "stop"
    message = {"role": "assistant", "content": text, **fields}
    if tool_calls:
        message["tool_calls"] = tool_calls

    def answer(request: Request) -> Reply:
        base = {"id": "chatcmpl-1", "created": 1, "model": request.body["model"]}
        if not request.body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
            return Reply({**base, "object": "chat.completion", "choices": [choice]})
        return Reply(
            headers={"Content-Type": "text/event-stream"},
            pieces=_events({**base, "object": "chat.completion.chunk"}, message, reason, stop_after, wait),
        )

    return answer


def _events(
    base: dict[str, Any],
    message: dict[str, Any],
    reason: str,
    stop_after: int | None,
    wait: Callable[[], object],
) -> Iterator[str]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in (message["content"] or "").split(" ") if word]
    for place, delta in enumerate(deltas[2:], 2):
        deltas[place] = {"content": f" {delta['content']}"}
    for index, call in enumerate(message.get("tool_calls", ())):
        arguments = call["function"]["arguments"]
        function = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [{**call, "index": index, "function": function}]})
        middle = len(arguments) // 2
        for piece in (arguments[:middle], arguments[middle:]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    for number, choice in enumerate(choices):
        if number == stop_after:
            return
        if number:
            wait()
        yield f"data: {json.dumps({**base, 'choices': [choice]})}\n\n"
    yield "data: [DONE]\n\n"


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
        chats: those to the next requests for a chat completion; when there are none left, "Well."
        dimensions: length of the vectors where a request names none.
    """

    requests: list[Request]
    answers: deque[Answer]
    chats: deque[Answer]
    dimensions: int

    def __init__(self) -> None:
        self.reset()
        self._closing = threading.Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            # Of 1.0 nobody could tell a stream that was cut off from one that ended.
            protocol_version = "HTTP/1.1"

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
        self.requests, self.answers, self.chats, self.dimensions = [], deque(), deque(), 1536

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The bodies of the requests whose path ends so."""
        return [request.body for request in self.requests if request.path.endswith(path)]

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
        handler.close_connection = True
        raw = handler.rfile.read(int(handler.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Request(handler.path, headers, json.loads(raw))
        self.requests.append(request)
        if handler.path == "/v1/chat/completions":
            reply = (self.chats.popleft() if self.chats else says("Well."))(request)
        elif handler.path != "/v1/embeddings":
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
        if reply.pieces is not None:
            self._send_pieces(handler, reply, reply.pieces)
            return
        body = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
        handler.send_response(reply.status)
        usual = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
        for name, value in {**usual, **reply.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def _send_pieces(self, handler: BaseHTTPRequestHandler, reply: Reply, pieces: Iterable[str]) -> None:
        handler.send_response(reply.status)
        for name, value in {**reply.headers, "Transfer-Encoding": "chunked", "Connection": "close"}.items():
            handler.send_header(name, value)
        handler.end_headers()
        complete = False
        for piece in pieces:
            raw = piece.encode()
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
            handler.wfile.flush()
            complete = "[DONE]" in piece
            if self._closing.is_set():
                return
        if complete:
            handler.wfile.write(b"0\r\n\r\n")
