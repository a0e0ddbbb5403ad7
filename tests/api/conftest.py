"""Callers: two limited ones, one who may act for every owner, and nobody; the client library."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from memory import Memory
from memory.models import Resource
from tests.api import Caller
from tests.api.bodies import GuardedCaller
from tests.bad_input import everything
from tests.servers import ROOT

NODE, NPM = shutil.which("node"), shutil.which("npm")
# Seconds.
INSTALL = 300


def make_user(name: str, **options: Any) -> Any:
    users: Any = get_user_model().objects
    return users.create_user(name, password="secret", **options)


@pytest.fixture
def staff(db: None) -> Caller:
    """A member of the staff with the permission to act for every owner."""
    user = make_user("staff", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="access_all_resources"))
    return Caller(user)


@pytest.fixture
def ada(db: None) -> Caller:
    """A limited caller to whom the resource `ada` is linked."""
    user = make_user("ada")
    Resource.objects.create(uid="ada", user=user)
    return Caller(user)


@pytest.fixture
def newcomer(db: None) -> Caller:
    """A limited caller to whom nothing is linked yet."""
    return Caller(make_user("newcomer"))


@pytest.fixture
def nobody(db: None) -> Caller:
    return Caller(None)


@pytest.fixture
def thread(db: None) -> Callable[..., str]:
    """`thread("t", "ada", 3)` stores a thread with messages t-1 to t-3, one second apart."""

    def make(uid: str, owner: str, messages: int = 0) -> str:
        memory = Memory()
        memory.create_thread(owner, thread_id=uid, title=f"Title of {uid}")
        memory.save_messages(
            [
                {
                    "id": f"{uid}-{number}",
                    "thread_id": uid,
                    "role": "user",
                    "content": {
                        "parts": [{"type": "text", "text": f"text {number}"}],
                        "metadata": {"n": number},
                    },
                    "created_at": f"2026-01-01T00:00:{number:02}Z",
                }
                for number in range(1, messages + 1)
            ]
        )
        return uid

    return make


@pytest.fixture(scope="session")
def client_folder() -> Path:
    """The folder into which the client library is installed once, or the one named in CLIENT_DIR; skips where
    neither can be had."""
    if NODE is None or NPM is None:
        pytest.skip("the client library needs node and npm, which are not installed")
    if "CLIENT_DIR" in os.environ:
        return Path(os.environ["CLIENT_DIR"])
    folder = ROOT / "tests" / "client"
    installed = folder / "node_modules"
    if installed.is_dir():
        return folder
    command = [NPM, "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent"]
    with TemporaryDirectory(dir=folder, prefix="node_modules_") as part:
        shutil.copy(folder / "package.json", part)
        try:
            subprocess.run(command, cwd=part, check=True, capture_output=True, timeout=INSTALL)
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"@mastra/client-js cannot be installed: {error}")
        # The suite on the other database, which runs beside this one, may have been quicker.
        with suppress(OSError):
            (Path(part) / "node_modules").rename(installed)
    return folder


@pytest.fixture
def guarded(staff: Caller, thread: Callable[..., str]) -> Iterator[Caller]:
    """A caller for every owner, with the thread `t` of `r` and two messages. What its requests write is
    undone; that refused ones wrote nothing is seen at the end of the test."""
    thread("t", "r", 2)
    before = everything()
    yield GuardedCaller(staff.user)
    assert everything() == before
