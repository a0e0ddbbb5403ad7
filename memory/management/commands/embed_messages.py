"""`manage.py embed_messages`: one pass over the open embedding jobs."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections

from memory.embedders import embedders
from memory.embedding.outbox import enqueue_missing
from memory.embedding.spaces import replace_space
from memory.embedding.worker import embed_messages, open_jobs
from memory.exceptions import SemanticRecallNotConfigured
from memory.management.console import make_console, make_progress


class Command(BaseCommand):
    help = (
        "Embed the messages whose jobs are open: those saved while MEMORY['EMBED'] is 'command', and those "
        "whose embedder failed. Exit code 1 when jobs had to be left open."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--missing",
            action="store_true",
            help="First write jobs for all messages that have a text and no vector, such as those saved "
            "before an embedder was configured.",
        )
        parser.add_argument(
            "--replace",
            metavar="ALIAS",
            help="First drop all vectors of this embedding space and start it afresh with the embedder that "
            "is configured now; implies --missing. Searches find little until the pass is done.",
        )
        parser.add_argument(
            "--database", default=DEFAULT_DB_ALIAS, choices=tuple(connections), help="Alias of the database."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        using: str = options["database"]
        if not list(embedders):
            raise CommandError("No embedder is configured. Add one to MEMORY['EMBEDDERS'].")
        console = make_console(self.stdout, options)
        try:
            if options["replace"]:
                console.print(f"Started the space {replace_space(options['replace'], using)}.")
            if options["missing"] or options["replace"]:
                console.print(f"{enqueue_missing(using):,} jobs written.")
        except (ImproperlyConfigured, SemanticRecallNotConfigured) as error:
            raise CommandError(str(error)) from error
        total = open_jobs(using)
        if not total:
            console.print("Nothing waits to be embedded.")
            return
        with make_progress(console) as progress:
            task = progress.add_task("Embedding", total=total)
            report = embed_messages(using, advance=lambda count: progress.advance(task, count))
        console.print(f"{report.embedded:,} of {total:,} messages embedded.", style="green")
        if report.errors:
            raise CommandError("\n".join([f"{open_jobs(using):,} jobs are still open:", *report.errors]))
