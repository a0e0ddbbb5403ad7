"""The suite of the real client library against a live server (`tests/client`)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.authtoken.models import Token

from tests.servers import ROOT, database_url, free_address, serving

SUITE = ROOT / "tests" / "client"
NODE, NPM = shutil.which("node"), shutil.which("npm")
# Seconds for each step.
INSTALL, RUN = 300, 300


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


@pytest.mark.django_db(transaction=True)
def test_the_real_client_library_works(client_folder: Path, tmp_path: Path) -> None:
    """Every memory call of the client, with the stricter checks, as a caller who may see every owner."""
    users: Any = get_user_model().objects
    token = Token.objects.create(user=users.create_superuser("client"))
    log = tmp_path / "server.log"
    address = free_address()
    command = [sys.executable, "-m", "django", "runserver", address, "--noreload"]
    settings = {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "tests.client.settings"}
    with serving(command, address, log, settings) as server:
        environ = {
            **os.environ,
            "BASE_URL": server.url,
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
