"""`manage.py demo`: the main job for a newcomer, on conversations that ship with the project."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memory import schema
from memory.embedding.outbox import enqueue_missing
from memory.embedding.worker import embed_messages, open_jobs
from memory.exceptions import ConversationMemoryError
from memory.facade import Memory
from memory.management.console import make_console, make_progress
from memory.models import Resource
from memory.recall import RecallResult

LANGUAGES = {"en": "English", "ko": "Korean", "zh": "Chinese"}
OWNERS = ("english", "korean", "chinese")
THREAD = "demo-maya-refund"


class Command(BaseCommand):
    help = (
        "Migrate the database, load conversations that ship with the project, embed them and show what "
        "recalls find. Safe to repeat: rows whose ids begin with 'demo-' are updated, nothing else is "
        "touched."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--database", default=DEFAULT_DB_ALIAS, choices=tuple(connections), help="Alias of the database."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        using: str = options["database"]
        console = make_console(self.stdout, options)
        try:
            call_command("migrate", database=using, verbosity=0, interactive=False)
            load(console, using)
            embed(console, using)
            show(console, Memory(using=using))
        except (ConversationMemoryError, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        tell_what_next(console, using)


def load(console: Console, using: str) -> None:
    """Save every conversation through the door that agents use."""
    memory = Memory(using=using)
    owners = [_read(owner) for owner in OWNERS]
    threads = [(owner["resource"], thread) for owner in owners for thread in owner["threads"]]
    count = 0
    for owner in owners:
        resource = owner["resource"]
        Resource.objects.db_manager(using).update_resource(
            resource["id"], metadata={"name": resource["name"]}
        )
    with make_progress(console) as progress:
        for resource, thread in progress.track(threads, description="Saving and embedding"):
            memory.create_thread(
                resource["id"], thread_id=thread["id"], title=thread["title"], metadata=thread["metadata"]
            )
            messages = [{**message, "thread_id": thread["id"]} for message in thread["messages"]]
            count += len(memory.save_messages(messages, resource_id=resource["id"]))
    console.print(
        f"{len(owners)} owners, {len(threads)} threads and {count} messages are saved.", style="green"
    )


def embed(console: Console, using: str) -> None:
    """Embed what is not embedded yet: all of it where the site does not embed inline."""
    enqueue_missing(using)
    with make_progress(console) as progress:
        task = progress.add_task("Embedding", total=open_jobs(using))
        report = embed_messages(using, advance=lambda number: progress.advance(task, number))
    if report.errors:
        raise CommandError("\n".join(report.errors))
    console.print("All of them are embedded.", style="green")


def show(console: Console, memory: Memory) -> None:
    """One recall of each kind."""
    _title(console, "The newest page of a conversation", "recall(thread, per_page=4)")
    _list(console, memory.recall(THREAD, per_page=4))

    _title(
        console,
        "Messages by typed metadata",
        "recall(thread, per_page=False, filter={'metadata': {'category': 'billing', 'escalated': True}})",
    )
    wanted = {"category": "billing", "escalated": True}
    _list(console, memory.recall(THREAD, per_page=False, filter={"metadata": wanted}))

    oldest = memory.recall(THREAD, per_page=3, order_by={"direction": "ASC"}).messages
    dates = {"start": oldest[1].created_at, "end": oldest[2].created_at}
    _title(
        console,
        "Messages of a date range",
        "recall(thread, per_page=False, filter={'date_range': {'start': ..., 'end': ...}})",
    )
    _list(console, memory.recall(THREAD, per_page=False, filter={"date_range": dates}))

    _title(
        console,
        "One message with its neighbours",
        "recall(thread, per_page=0, include=[{'id': ..., 'with_previous_messages': 1, "
        "'with_next_messages': 1}])",
    )
    named = {"id": f"{THREAD}-05", "with_previous_messages": 1, "with_next_messages": 1}
    _list(console, memory.recall(THREAD, per_page=0, include=[named]))

    for question in _read("questions")["questions"]:
        _ask(console, memory, question)


def _ask(console: Console, memory: Memory, question: dict[str, Any]) -> None:
    """A semantic recall; the hit is green and carries its similarity, its neighbours stand around it."""
    where = "inside a thread" if question["scope"] == "thread" else "across the owner's threads"
    _title(console, f"{LANGUAGES[question['language']]}, {where}: {question['query']}", question["note"])
    result = memory.recall(
        question["thread"] or "demo-new-conversation",
        resource_id=question["resource"],
        vector_search_string=question["query"],
        per_page=0,
        thread_config={"semantic_recall": {"top_k": 1, "message_range": 1, "scope": question["scope"]}},
    )
    _list(console, result)
    if not any(message.uid in question["expect"] for message in result):
        console.print("  Another message was expected here.", style="yellow")


def _title(console: Console, title: str, note: str) -> None:
    console.print()
    console.print(title, style="bold")
    console.print(note, style="dim")


def _list(console: Console, result: RecallResult) -> None:
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", width=6)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for message in result.chronological():
        recall = message.recall
        similarity = "" if recall.similarity is None else f"{recall.similarity:.2f}"
        style = "green" if recall.sources & {"semantic", "include"} else ""
        table.add_row(
            similarity,
            f"{message.created_at:%Y-%m-%d %H:%M}",
            message.role,
            Text(_shown(message), style=style),
        )
    console.print(table if result.messages else "  nothing")


def _shown(message: schema.Message) -> str:
    """The text, with the tools that were called."""
    calls = [
        f"[{part['toolInvocation']['toolName']}]"
        for part in message.content["parts"]
        if part["type"] == "tool-invocation"
    ]
    return " ".join([*calls, message.text])


def tell_what_next(console: Console, using: str) -> None:
    console.print()
    console.print("What to do next", style="bold")
    database = connections[using].settings_dict["NAME"]
    console.print(f"The conversations stand in the database {database}.", soft_wrap=True)
    manage = f"{interpreter()} manage.py"
    steps = {
        f"{manage} createsuperuser": "makes a login for the admin",
        f"{manage} drf_create_token NAME": "makes its token for the API, http://127.0.0.1:8000/api/memory/",
        f"{manage} runserver": "serves both; the admin is at http://127.0.0.1:8000/admin/",
    }
    width = max(map(len, steps))
    for command, effect in steps.items():
        # As one line each, however long: they are there to be copied.
        console.print(f"{command:{width}}  {effect}", soft_wrap=True)


def interpreter() -> str:
    """The running Python as one types it: by its relative path where it lies below the current folder."""
    path = Path(sys.executable)
    if path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return shlex.quote(str(path))


def _read(name: str) -> dict[str, Any]:
    text = files("project").joinpath("demo", f"{name}.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data
