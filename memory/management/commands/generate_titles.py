"""`manage.py generate_titles`: titles for threads that have none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet
from django.utils import timezone

from memory import schema
from memory.facade import Memory
from memory.management.console import make_console, make_progress
from memory.models import Thread
from memory.processors.titles import title_stored_thread

BATCH = 500


class Command(BaseCommand):
    help = (
        "Give threads without a title one, as the agent's `generate_title` says: the first sentence of the "
        "user, or what the model makes of it. Where MEMORY['EMBED'] is 'command' this is where models are "
        "asked: let it run from cron, such as once an hour with --hours 1. Titles that people wrote are not "
        "touched."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--agent", default="default", help="A name in MEMORY['AGENTS'].")
        parser.add_argument(
            "--hours", type=float, default=24, help="Only threads used within so many hours (default: 24)."
        )
        parser.add_argument(
            "--database", default=DEFAULT_DB_ALIAS, choices=tuple(connections), help="Alias of the database."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        using: str = options["database"]
        try:
            config = Memory(options["agent"]).config().generate_title
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        if config is None:
            raise CommandError(f"MEMORY['AGENTS'][{options['agent']!r}] has `generate_title` off.")
        console = make_console(self.stdout, options)
        try:
            since = timezone.now() - timedelta(hours=options["hours"])
        except (OverflowError, ValueError) as error:
            raise CommandError(f"--hours {options['hours']} reaches beyond the calendar.") from error
        threads = Thread.objects.using(using).filter(updated_at__gte=since)
        titled = 0
        with make_progress(console) as progress:
            for thread in progress.track(_in_batches(threads), threads.count(), description="Titles"):
                titled += title_stored_thread(thread, config, using=using)
        console.print(f"Threads that were given a title: {titled:,}", style="green")


def _in_batches(threads: QuerySet[schema.Thread]) -> Iterator[schema.Thread]:
    """Each once. No cursor stays open: the connection may be given back while a model is asked."""
    last = 0
    while batch := list(threads.filter(pk__gt=last).order_by("pk")[:BATCH]):
        yield from batch
        last = batch[-1].pk
