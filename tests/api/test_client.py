"""The suite of the real client library against a live server (`tests/client`)."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from rest_framework.authtoken.models import Token

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "tests" / "client"
NODE, NPM = shutil.which("node"), shutil.which("npm")
# Seconds for each step.
INSTALL, START, RUN = 300, 60, 300


@pytest.fixture(scope="session")
def client_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the client library, or the one named in CLIENT_DIR; skips where there is none."""
    if NODE is None or NPM is None:
        pytest.skip("the client library needs node and npm, which are not installed")
    if "CLIENT_DIR" in os.environ:
        return Path(os.environ["CLIENT_DIR"])
    folder = tmp_path_factory.mktemp("client")
    shutil.copy(SUITE / "package.json", folder)
    command = [NPM, "install", "--no-audit", "--no-fund", "--silent"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=INSTALL)
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"@mastra/client-js cannot be installed: {error}")
    return folder


@contextmanager
def server(log: Path) -> Iterator[str]:
    """The address of a server in a process of its own, on the database of this run."""
    names = ("ENGINE", "NAME", "OPTIONS", "HOST", "PORT", "USER", "PASSWORD")
    database = {name: connection.settings_dict[name] for name in names}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "django", "runserver", address, "--noreload"]
    environ = {
        **os.environ,
        "CLIENT_DATABASE": json.dumps(database, default=str),
        "DJANGO_SETTINGS_MODULE": "tests.client.settings",
    }
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=output)
    try:
        host, port = address.split(":")
        deadline = time.monotonic() + START
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"The server did not start:\n{log.read_text()}") from None
                time.sleep(0.1)
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait()


@pytest.mark.django_db(transaction=True)
def test_the_real_client_library_works(client_folder: Path, tmp_path: Path) -> None:
    """Every memory call of the client, with the stricter checks, as a caller who may see every owner."""
    users: Any = get_user_model().objects
    token = Token.objects.create(user=users.create_superuser("client"))
    log = tmp_path / "server.log"
    with server(log) as url:
        environ = {
            **os.environ,
            "BASE_URL": url,
            "AUTH": f"Token {token.key}",
            "AGENT_ID": "client",
            "STRICT": "1",
            "CLIENT_DIR": str(client_folder),
        }
        command = [NODE or "node", str(SUITE / "client-suite.mjs")]
        run = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=RUN, check=False)
    failures = [line for line in run.stdout.splitlines() if not line.startswith("ok ")]
    faults = [line for line in log.read_text().splitlines() if '" 5' in line]
    assert run.returncode == 0, "\n".join([*failures, run.stderr, *faults])
    assert ", 0 failed" in run.stdout
    assert not faults
