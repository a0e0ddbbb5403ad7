"""`manage.py chat` as a process of its own: exit codes, pipes, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.embedders.openai_stub import OpenAIStub, says

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(
        "sqlite" not in settings.DATABASES["default"]["ENGINE"], reason="its databases are files of its own"
    ),
]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('chat')}/db.sqlite3"
    ran = manage("migrate", "--verbosity", "0", database=url)
    assert ran.returncode == 0, ran.stderr
    return url


def manage(*words: str, database: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI_")}
    site = {"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "project.settings.dev"}
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *words],
        cwd=ROOT,
        env={**kept, **site, **environ},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_conversation_through_a_pipe(database: str, stub: OpenAIStub) -> None:
    """With the embedder of the bundled site, which needs no service: the second conversation remembers."""
    stub.chats.extend([says("Noted."), says("A-4711.")])
    told = manage(
        "chat", "--base-url", stub.url, "--thread", "a", database=database, stdin="My order is A-4711\n"
    )
    asked = manage("chat", "--base-url", stub.url, "Which order is mine?", database=database)
    for ran in (told, asked):
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "\x1b" not in ran.stdout
        assert "you:" not in ran.stdout
    assert "My order is A-4711" in asked.stdout.split("recalled")[1]
    assert "A-4711." in asked.stdout
    assert "Noted." in stub.asked("/chat/completions")[1]["messages"][0]["content"]


def test_the_offline_echo(database: str) -> None:
    ran = manage("chat", "Hello", "--resource", "echo", database=database)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "[offline echo] You said: Hello" in ran.stdout


def test_help(database: str) -> None:
    ran = manage("chat", "--help", database=database)
    assert ran.returncode == 0
    for word in ("--agent", "--base-url", "--max-tokens", "offline echo", "Ctrl-D"):
        assert word in ran.stdout


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--agent", "nobody"], "no agent 'nobody'"),
        (["hi", "--base-url", "http://127.0.0.1:9/v1"], "The model failed: Connection error."),
    ],
)
def test_errors_are_one_line(words: list[str], text: str, database: str) -> None:
    """Exit code 1, no traceback."""
    ran = manage("chat", *words, database=database)
    assert ran.returncode == 1
    assert text in ran.stderr
    assert ran.stderr.strip().count("\n") == 0


def test_a_database_without_tables(tmp_path: Path) -> None:
    ran = manage("chat", "hi", database=f"sqlite:///{tmp_path}/empty.sqlite3")
    assert ran.returncode == 1
    assert "manage.py migrate" in ran.stderr
    assert ran.stderr.strip().count("\n") == 0
