"""The examples of the documentation do what they say, letter by letter, against the bundled site."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from memory.models import Message, Resource, Thread
from tests.servers import ROOT, Server, database_url, free_address, serving

ADDRESS = "127.0.0.1:8000"
# Seconds for one example.
LIMIT = 120

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


def blocks(document: str, heading: str, language: str) -> list[str]:
    """The blocks of code of a language below a heading."""
    text = (ROOT / document).read_text("utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def run(command: list[str], server: Server | None = None, **environ: str) -> str:
    """What a command prints; its examples speak to `server` instead of the usual address."""
    if server is not None:
        command = [part.replace(ADDRESS, server.address) for part in command]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environ}, capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def environ() -> dict[str, str]:
    """The bundled site as it is out of the box, on the database of the run."""
    return {
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "project.settings.dev",
        "OPENAI_API_KEY": "",
    }


@pytest.fixture
def token(environ: dict[str, str]) -> str:
    """The token that the commands of the documentation make."""
    if shutil.which("bash") is None:
        pytest.skip("the commands are for bash, which is not installed")
    commands = blocks("docs/http.md", "First requests", "sh")[0]
    script = commands.replace("python manage.py runserver\n", "")
    assert script != commands
    output = run(["bash", "-ec", f'python() {{ {shlex.quote(sys.executable)} "$@"; }}\n{script}'], **environ)
    assert Resource.objects.get().uid == "customer-7"
    found = re.search(r"^Generated token (\w+) for user ada$", output, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture
def site(token: str, environ: dict[str, str], tmp_path: Path) -> Iterator[Server]:
    address = free_address()
    command = [sys.executable, "manage.py", "runserver", address, "--noreload"]
    with serving(command, address, tmp_path / "log", environ) as server:
        yield server
    assert '" 5' not in server.log.read_text()


def test_over_http(site: Server, token: str, request: pytest.FixtureRequest) -> None:
    if shutil.which("curl") is not None:
        (script,) = blocks("docs/http.md", "First requests", "sh")[1:]
        # Each answer on a line of its own.
        output = run(["bash", "-ec", script.replace("curl -sS", "curl -sS -w '\\n'")], site, TOKEN=token)
        thread, saved, page, recalled = map(json.loads, output.splitlines())
        assert thread["id"] == "parcel-1"
        assert page["messages"] == saved["messages"]
        assert [message["recall"]["sources"] for message in recalled["messages"]] == [["semantic"]]

    (script,) = blocks("docs/http.md", "First requests", "python")
    assert run([sys.executable, "-c", script], site, TOKEN=token) == "1 It has arrived.\n"

    folder: Path = request.getfixturevalue("client_folder")
    (script,) = blocks("docs/http.md", "First requests", "js")
    file = folder / "example.mjs"
    file.write_text(script.replace(ADDRESS, site.address), "utf-8")
    counts = run(["node", str(file)], TOKEN=token).split()
    assert counts[0] == "1"
    assert all(int(count) >= 1 for count in counts)


def test_in_python(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    configuration, script, _ = blocks("README.md", "In your site", "python")
    namespace: dict[str, object] = {"INSTALLED_APPS": []}
    exec(configuration, namespace)
    given = namespace["MEMORY"]
    assert isinstance(given, dict)
    settings.MEMORY = {**given, "EMBEDDERS": {"default": {"BACKEND": "memory.embedders.LocalEmbedder"}}}
    exec(script, {})
    assert Thread.objects.get().title == "Late parcel"
    assert Message.objects.count() == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("user My order A-4711 has not arrived. 0.")
