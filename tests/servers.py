"""Servers in a process of their own, on the database of the run."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from django.db import connection

ROOT = Path(__file__).resolve().parents[1]
# Seconds until a server accepts connections, and until it has ended.
START, STOP = 60, 30


@dataclass
class Server:
    """A server that accepts connections."""

    address: str
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def stop(self) -> int:
        """End it as an init system does; its exit code. The log names what it was doing if it hangs."""
        self.process.terminate()
        try:
            return self.process.wait(STOP)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"The server did not end:\n{self.log.read_text()}") from None


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def database_url() -> str:
    """The `DATABASE_URL` of the database that the tests use at present."""
    given = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{given['NAME']}"
    account = ":".join(quote(part, safe="") for part in (given["USER"], given["PASSWORD"]) if part)
    # A folder is no name of a host: it goes into the query, where psycopg looks for it too.
    options = {"host": given["HOST"], "port": given["PORT"], **given["OPTIONS"]}
    query = urlencode({name: value for name, value in options.items() if value})
    return f"postgresql://{account}@/{given['NAME']}?{query}"


@contextmanager
def serving(command: Sequence[str], address: str, log: Path, environ: Mapping[str, str]) -> Iterator[Server]:
    """Run a command that serves `address`, until the block ends.

    Raises:
        AssertionError: it does not accept connections, or does not end; with what it wrote.
    """
    host, port = address.split(":")
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **environ}, stdout=output, stderr=output
        )
    server = Server(address, log, process)
    try:
        deadline = time.monotonic() + START
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"The server did not start:\n{log.read_text()}") from None
                time.sleep(0.1)
        yield server
    finally:
        if process.poll() is None:
            server.stop()
