"""The server that stands for a model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openai import OpenAI

from tests.embedders.openai_stub import OpenAIStub


@pytest.fixture(scope="session")
def server() -> Iterator[OpenAIStub]:
    with OpenAIStub() as server:
        yield server


@pytest.fixture
def stub(server: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> OpenAIStub:
    """A server with nothing asked yet; nothing in the environment names another one."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    server.reset()
    return server


@pytest.fixture
def client(stub: OpenAIStub) -> Iterator[OpenAI]:
    with OpenAI(base_url=stub.url, api_key="key", max_retries=0, timeout=5) as client:
        yield client
