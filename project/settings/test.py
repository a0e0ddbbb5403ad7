"""Settings of the test suite: SQLite in a file of its own, or the database named in DATABASE_URL."""

import atexit
import os
import secrets
import tempfile
from pathlib import Path

from project.settings import base
from project.settings.base import *  # noqa: F403

SECRET_KEY = "only-for-the-tests-" + "0" * 50

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Django puts TIME_ZONE in the place of the process's TZ. Taking TZ over lets a run under another time zone
# show that none of the results hangs on it.
TIME_ZONE = os.environ.get("TZ") or base.TIME_ZONE


def remove(database: Path) -> None:
    """Delete what a run left of its SQLite database: the file, and what WAL keeps beside it."""
    for path in database.parent.glob(f"{database.name}*"):
        path.unlink(missing_ok=True)


DATABASES = {"default": base.database(os.environ.get("DATABASE_URL", ""))}

if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Threads need a file: a database in memory is one connection for all of them. A name of its own for
    # each process keeps runs apart. Nothing exists before the tests make it, as mypy reads this file too.
    scratch = Path(tempfile.gettempdir()) / f"recall-test-{os.getpid()}-{secrets.token_hex(4)}.sqlite3"
    DATABASES["default"] |= {"NAME": ":memory:", "TEST": {"NAME": scratch}}
    atexit.register(remove, scratch)
elif "PGTZ" in os.environ:
    # Django sets UTC on its connections, over what PGTZ asks for.
    DATABASES["default"]["TIME_ZONE"] = os.environ["PGTZ"]

MEMORY = {
    "EMBEDDERS": {
        "default": {
            "BACKEND": "tests.embedders.hashing.HashEmbedder",
            "OPTIONS": {"dimensions": 64},
        },
    },
    "AGENTS": {
        # What the suite of the client library expects of the agent it is given.
        "client": {
            "semantic_recall": {"top_k": 3, "message_range": 1, "scope": "resource"},
            "working_memory": {
                "enabled": True,
                "scope": "resource",
                "template": "# Profile\n- **Name**:\n",
            },
        },
    },
}
