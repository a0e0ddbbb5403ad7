"""The test command: ``python -m tests`` runs the suite on SQLite, then on PostgreSQL with pgvector.

No service has to exist: PostgreSQL is started for the run by :mod:`tests.postgres`, or the one named in
``DATABASE_URL`` is used.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING

from tests.postgres import Postgres, PostgresUnavailable, run

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def main(arguments: Sequence[str]) -> int:
    """Run the legs that were asked for, all of them even when one fails.

    Returns:
        0 when every leg passed, 130 after Ctrl-C, else the exit code of the first leg that failed.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tests",
        usage="%(prog)s [-h] [--database {sqlite,postgresql}] [pytest arguments ...]",
        description="Run the test suite on SQLite and then, but for the tests that ask no database, on "
        "PostgreSQL with pgvector. All other arguments go to pytest: python -m tests -x -k recall",
        epilog="PostgreSQL is started for the run and deleted after it. To use another server, name it in "
        "DATABASE_URL; the tests make a database test_... of their own there.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--database",
        choices=tuple(NAMES),
        help="run on this database only (default: first one, then the other)",
    )
    options, rest = parser.parse_known_args(arguments)
    legs = [options.database] if options.database else list(NAMES)
    codes: dict[str, int] = {}
    report: list[str] = []
    for leg in legs:
        announce(f"The suite on {NAMES[leg]}")
        start = time.monotonic()
        try:
            codes[leg] = run_leg(leg, rest if leg == legs[0] else ["-p", "tests.database_only", *rest])
        except PostgresUnavailable as error:
            sys.stderr.write(f"{error}\n")
            codes[leg] = 1
        except KeyboardInterrupt:
            return 130
        outcome = "all well" if codes[leg] == 0 else f"FAILED (exit code {codes[leg]})"
        report.append(f"{NAMES[leg]}: {outcome}, {time.monotonic() - start:.0f} s")
    announce("; ".join(report))
    return next(filter(None, codes.values()), 0)


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
