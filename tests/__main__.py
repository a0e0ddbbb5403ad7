"""The test command: ``python -m tests`` runs the suite on SQLite, and beside it on PostgreSQL with pgvector.

No service has to exist: PostgreSQL is started for the run by :mod:`tests.postgres`, or the one named in
``DATABASE_URL`` is used.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.postgres import Postgres, PostgresUnavailable, close, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def main(arguments: Sequence[str]) -> int:
    """Run the legs that were asked for, all of them even when one fails.

    Returns:
        0 when every leg passed, 130 after Ctrl-C, else the exit code of the first leg that failed.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tests",
        usage="%(prog)s [-h] [--database {sqlite,postgresql}] [pytest arguments ...]",
        description="Run the test suite on SQLite and beside it, but for the tests that ask no database, on "
        "PostgreSQL with pgvector, whose output follows. All other arguments go to pytest: "
        "python -m tests -x -k recall",
        epilog="PostgreSQL is started for the run and deleted after it. To use another server, name it in "
        "DATABASE_URL; the tests make a database test_... of their own there.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--database", choices=tuple(NAMES), help="run on this database only (default: on both)"
    )
    options, rest = parser.parse_known_args(arguments)
    try:
        if options.database:
            return leg(options.database, rest)
        second = ["--database", "postgresql", "-p", "tests.database_only", *rest]
        with beside([sys.executable, "-m", "tests", *second]) as finish:
            codes = [leg("sqlite", rest), finish()]
    except KeyboardInterrupt:
        return 130
    return next(filter(None, codes), 0)


def leg(name: str, arguments: Sequence[str]) -> int:
    """Run the suite on one database, between a heading and what came of it; its exit code."""
    announce(f"The suite on {NAMES[name]}")
    start = time.monotonic()
    try:
        code = run_leg(name, arguments)
    except PostgresUnavailable as error:
        sys.stderr.write(f"{error}\n")
        code = 1
    outcome = "all well" if code == 0 else f"FAILED (exit code {code})"
    announce(f"{NAMES[name]}: {outcome}, {time.monotonic() - start:.0f} s")
    return code


@contextmanager
def beside(command: Sequence[str]) -> Iterator[Callable[[], int]]:
    """A command that runs during the block; what waits for its end, prints what it said, and answers its exit
    code."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)

        def finish() -> int:
            code = process.wait()
            said.seek(0)
            shutil.copyfileobj(said, sys.stdout)
            sys.stdout.flush()
            return code

        try:
            yield finish
        finally:
            if process.poll() is None:
                close(process)


def run_leg(leg: str, arguments: Sequence[str]) -> int:
    """Run pytest on one database; its exit code.

    Raises:
        PostgresUnavailable: PostgreSQL was asked for, none was named, and none can be started.
    """
    command = [sys.executable, "-m", "pytest", *arguments]
    environ = dict(os.environ)
    named = environ.pop("DATABASE_URL", "")
    if leg == "sqlite":
        return run(command, environ)
    if named.startswith(("postgres://", "postgresql://", "pgsql://")):
        return run(command, {**environ, "DATABASE_URL": named})
    with Postgres() as server:
        return run(command, {**environ, "DATABASE_URL": server.url})


def announce(text: str) -> None:
    """Print a heading before whatever a subprocess prints next."""
    sys.stdout.write(f"\n>>> {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
