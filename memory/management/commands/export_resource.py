"""`manage.py export_resource`: an owner with everything it owns, as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from memory.content.controls import visible
from memory.exceptions import ConversationMemoryError
from memory.export import FORMATS
from memory.management.acts import add_arguments, terminal_user
from memory.models import AdminEvent, Resource


class Command(BaseCommand):
    help = (
        "Write everything that an owner has to a file: threads, messages and working memories. JSON Lines "
        "hold all that is stored, the same from every database; Markdown and HTML are to be read. The export "
        "is noted in the admin events before anybody has it. Only you can read the file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
        parser.add_argument("--output", type=Path, metavar="FILE", help="Default: standard output.")
        parser.add_argument("--format", default="jsonl", choices=tuple(FORMATS), help="Default: jsonl.")
        parser.add_argument(
            "--masked", action="store_true", help="Leave out what was said: texts, titles, metadata."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._export(options["output"], options)
        except ConversationMemoryError as error:
            raise CommandError(visible(str(error))) from error
        except OSError as error:
            place = options["output"] or "Standard output"
            raise CommandError(f"{place} cannot be written: {error.strerror}.") from error

    def _export(self, path: Path | None, options: dict[str, Any]) -> None:
        using: str = options["database"]
        # The date would make each file of the same data another one.
        is_transcript = options["format"] != "jsonl"
        pieces = Resource.objects.db_manager(using).export_resource(
            options["resource"],
            format=options["format"],
            masked=options["masked"],
            exported_at=timezone.now() if is_transcript else None,
            exported_by=terminal_user() if is_transcript else "",
        )
        if path is not None:
            with whole_file(path) as (file, name_it):
                file.writelines(pieces)
                # Where the file cannot get its name, there is no event of an export.
                with transaction.atomic(using=using):
                    self._record(options, using)
                    name_it()
            return
        self._record(options, using)
        for piece in pieces:
            self.stdout.write(piece, ending="")

    def _record(self, options: dict[str, Any], using: str) -> None:
        AdminEvent.objects.db_manager(using).record(
            AdminEvent.Action.EXPORT_RESOURCE,
            actor_name=terminal_user(),
            resource_id=options["resource"],
            reason=options["reason"],
        )


@contextmanager
def whole_file(path: Path) -> Iterator[tuple[IO[str], Callable[[], None]]]:
    """A file that only its owner can read, and what gives it its name once it is whole, in the place of one
    that has it."""
    descriptor, name = mkstemp(dir=path.parent, prefix=f"{path.name}.")
    part = Path(name)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:

            def name_it() -> None:
                file.close()
                part.replace(path)

            yield file, name_it
    finally:
        part.unlink(missing_ok=True)
