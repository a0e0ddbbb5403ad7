"""What the commands that support staff run have in common with each other, and with the acts of the admin."""

from __future__ import annotations

import getpass
from argparse import ArgumentTypeError

from django.core.management.base import CommandParser
from django.db import DEFAULT_DB_ALIAS, connections

from memory.content.controls import shows_something


def add_arguments(parser: CommandParser) -> None:
    """Whose data, why, and where they are."""
    parser.add_argument("resource", help="Id of the owner.")
    parser.add_argument(
        "--reason", required=True, type=_reason, help="Why. Kept for good, in the admin events."
    )
    parser.add_argument(
        "--database", default=DEFAULT_DB_ALIAS, choices=tuple(connections), help="Alias of the database."
    )


def terminal_user() -> str:
    """Who runs a command, as an event names it."""
    try:
        return f"manage.py ({getpass.getuser()})"
    except (KeyError, OSError):  # a container may know no name for its user
        return "manage.py"


def _reason(text: str) -> str:
    if not shows_something(text):
        raise ArgumentTypeError("must say something")
    return text
