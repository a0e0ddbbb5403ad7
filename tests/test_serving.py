"""The bundled site as it is served: gunicorn and uvicorn with the production settings, asked over HTTP."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.authtoken.models import Token

from memory.models import EmbeddingJob, Message
from tests.servers import ROOT, Server, database_url, free_address, serving

COMMANDS = {
    "gunicorn": "gunicorn project.wsgi --threads 8 --bind {address}",
    "uvicorn": "uvicorn project.asgi:application --lifespan off --host {host} --port {port}",
}
# Requests at the same time: five times as many as connections to PostgreSQL.
CROWD = 50
PLAIN = {"X-Forwarded-Proto": "http"}


@dataclass
class Site:
    """A server as the proxy in front of it sees it, which speaks HTTPS with the world."""

    server: Server
    token: str

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any, bytes]:
        """Status, headers and body of one request; a redirect is not followed."""
        headers = {"X-Forwarded-Proto": "https", "Content-Type": "application/json", **headers}
        with closing(HTTPConnection(self.server.address, timeout=60)) as connection:
            method = "GET" if body is None else "POST"
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def call(self, route: str, body: Any = None) -> Any:
        """What a route of the API answers to the user, as Python values."""
        status, _, content = self.ask(f"/api/memory/{route}", body, Authorization=f"Token {self.token}")
        assert status == 200, (status, content, self.server.log.read_text())
        return json.loads(content)

    def save(self, *texts: str) -> Any:
        messages = [{"threadId": "t", "resourceId": "ada", "role": "user", "content": text} for text in texts]
        return self.call("save-messages", {"messages": messages})["messages"]


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a server; the static files are collected."""
    if find_spec("whitenoise") is None:
        pytest.skip("whitenoise is not installed (the extra [production] holds it)")
    folder = tmp_path_factory.mktemp("production")
    environ = {
        "DJANGO_SETTINGS_MODULE": "project.settings.production",
        "DATABASE_URL": database_url(),
        "SECRET_KEY": secrets.token_urlsafe(64),
        "ALLOWED_HOSTS": "127.0.0.1",
        "BEHIND_PROXY": "1",
        "STATIC_ROOT": str(folder / "static"),
        "HOME": str(folder),
        "OPENAI_API_KEY": "",
    }
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **environ}, check=True)
    return environ


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("program", list(COMMANDS))
def test_the_site_is_served(program: str, environ: dict[str, str], tmp_path: Path) -> None:
    if find_spec(program) is None:
        pytest.skip(f"{program} is not installed (the extra [production] holds it)")
    users: Any = get_user_model().objects
    user = users.create_user("ada")
    user.memory_resources.create(uid="ada")
    token = Token.objects.create(user=user).key
    address = free_address()
    host, port = address.split(":")
    command = COMMANDS[program].format(address=address, host=host, port=port).split()
    urls = {"DATABASE_URL": database_url()}
    with serving([sys.executable, "-m", *command], address, tmp_path / "log", environ | urls) as server:
        site = Site(server, token)
        it_is_healthy(site)
        it_wants_https_and_a_token(site)
        it_remembers(site)
        it_serves_a_crowd(site)
        it_serves_the_files_of_the_admin(site)
        it_ends_what_it_began(site)
    log = server.log.read_text()
    assert "Traceback" not in log
    assert "Warning" not in log


def it_is_healthy(site: Site) -> None:
    """By plain HTTP, as a load balancer asks it."""
    status, _, content = site.ask("/healthz", **PLAIN)
    assert (status, json.loads(content)["status"]) == (200, "ok")


def it_wants_https_and_a_token(site: Site) -> None:
    status, headers, _ = site.ask("/api/memory/threads", **PLAIN)
    assert (status, headers["Location"].partition(":")[0]) == (301, "https")
    status, headers, _ = site.ask("/api/memory/threads")
    assert (status, headers["Content-Type"]) == (401, "application/json")


def it_remembers(site: Site) -> None:
    site.call("threads", {"threadId": "t", "resourceId": "ada"})
    parcel, _ = site.save("My parcel has not arrived.", "The weather is nice today.")
    question = {"threadId": "t", "perPage": 0, "vectorSearchString": "Where is my delivery?"}
    options = {"semanticRecall": {"topK": 1, "messageRange": 0}}
    found = site.call("recall", {**question, "threadConfig": options})["messages"]
    assert [message["id"] for message in found] == [parcel["id"]]
    assert found[0]["recall"]["sources"] == ["semantic"]


def it_serves_a_crowd(site: Site) -> None:
    before = Message.objects.count()
    with ThreadPoolExecutor(CROWD) as crowd:
        pages = list(crowd.map(lambda _: site.call("recall", {"threadId": "t"}), range(CROWD)))
        # Texts that are known already: the crowd is to wait for the database, not for the embedder.
        saved = list(crowd.map(lambda _: site.save("The weather is nice today."), range(CROWD)))
    assert [page["total"] for page in pages] == [before] * CROWD
    assert [len(messages) for messages in saved] == [1] * CROWD
    assert Message.objects.count() == before + CROWD


def it_serves_the_files_of_the_admin(site: Site) -> None:
    _, _, page = site.ask("/admin/login/")
    style = re.search(r'href="(/static/admin/css/base\.\w+\.css)"', page.decode())
    assert style is not None
    status, headers, content = site.ask(style[1])
    assert (status, headers.get_content_type()) == (200, "text/css")
    assert "immutable" in headers["Cache-Control"]
    assert len(content) > 1_000


def it_ends_what_it_began(site: Site) -> None:
    """SIGTERM in the middle of a request, between its commit and its embedding: it is answered."""
    texts = [f"A note about subject number {number}, which takes a while." for number in range(150)]
    before = Message.objects.count()
    with ThreadPoolExecutor(1) as other:
        answer = other.submit(site.save, *texts)
        while Message.objects.count() == before and not answer.done():
            time.sleep(0.01)
        code = site.server.stop()
        assert len(answer.result()) == len(texts)
    # uvicorn ends by the signal it was sent, after it has cleaned up.
    assert code in (0, -signal.SIGTERM)
    assert EmbeddingJob.objects.count() == 0
