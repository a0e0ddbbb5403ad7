"""`manage.py export_resource`: an owner with everything it owns, as a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils import timezone

from memory.exceptions import ConversationMemoryError
from memory.export import FORMATS
from memory.management.console import terminal_user
from memory.models import AdminEvent, Resource


class Command(BaseCommand):
    help = (
        "Write everything that an owner has to a file: threads, messages and working memories. JSON Lines "
        "hold all that is stored, the same from every database; Markdown and HTML are to be read. The export "
        "is noted in the admin events."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("resource", help="Id of the owner.")
        parser.add_argument("--output", type=Path, metavar="FILE", help="Default: standard output.")
        parser.add_argument("--format", default="jsonl", choices=tuple(FORMATS), help="Default: jsonl.")
        parser.add_argument(
            "--masked", action="store_true", help="Leave out what was said: texts, titles, metadata."
        )
        parser.add_argument("--reason", default="", help="Why, for the admin events.")
        parser.add_argument(
            "--database", default=DEFAULT_DB_ALIAS, choices=tuple(connections), help="Alias of the database."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        using: str = options["database"]
        # The date would make each file of the same data another one.
        is_transcript = options["format"] != "jsonl"
        try:
            pieces = Resource.objects.db_manager(using).export_resource(
                options["resource"],
                format=options["format"],
                masked=options["masked"],
                exported_at=timezone.now() if is_transcript else None,
                exported_by=terminal_user() if is_transcript else "",
            )
            AdminEvent.objects.db_manager(using).record(
                AdminEvent.Action.EXPORT_RESOURCE,
                actor_name=terminal_user(),
                resource_id=options["resource"],
                reason=options["reason"],
            )
        except ConversationMemoryError as error:
            raise CommandError(str(error)) from error
        if options["output"] is None:
            for piece in pieces:
                self.stdout.write(piece, ending="")
            return
        try:
            _write(pieces, options["output"])
        except OSError as error:
            raise CommandError(f"{options['output']} cannot be written: {error.strerror}.") from error


def _write(pieces: Iterator[str], path: Path) -> None:
    """Write the whole file, or none."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
