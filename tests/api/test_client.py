"""The suite of the real client library against a live server (`tests/client`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.authtoken.models import Token

from tests.servers import ROOT, database_url, free_address, serving

SUITE = ROOT / "tests" / "client"
# Seconds.
RUN = 300


@pytest.mark.once
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
        command = ["node", str(SUITE / "client-suite.mjs")]
        run = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=RUN, check=False)
    failures = [line for line in run.stdout.splitlines() if not line.startswith("ok ")]
    faults = [line for line in log.read_text().splitlines() if '" 5' in line]
    assert run.returncode == 0, "\n".join([*failures, run.stderr, *faults])
    assert ", 0 failed" in run.stdout
    assert not faults
