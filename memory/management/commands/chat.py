"""`manage.py chat`: a conversation on the terminal, and what the memory does meanwhile."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memory.content.snippet import snippet
from memory.exceptions import ConversationMemoryError
from memory.facade import Memory
from memory.management.chat_models import EchoModel, Model, ModelFailed, OpenAIModel
from memory.management.console import make_console
from memory.processors import Turn

# A model that does nothing but call tools is stopped.
MAX_CALLS = 8


class Command(BaseCommand):
    help = (
        "Talk with a model on the terminal; the conversation is remembered. Any server that speaks the "
        "OpenAI chat API will do: OPENAI_API_KEY, or --base-url. Without one an offline echo answers, so "
        "that you can see what would be recalled. An empty line or Ctrl-D ends the conversation."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("text", nargs="?", help="Say this and end; default: a conversation.")
        parser.add_argument("--agent", default="default", help="A name in MEMORY['AGENTS'].")
        parser.add_argument("--resource", default="console", help="Id of the owner (default: console).")
        parser.add_argument("--thread", help="Id of the conversation; default: a new one.")
        parser.add_argument("--model", default="gpt-4.1-mini", help="Name of the model.")
        parser.add_argument(
            "--base-url", default=os.environ.get("OPENAI_BASE_URL"), help="A server compatible with OpenAI."
        )
        parser.add_argument("--system", help="Instructions for the model.")
        parser.add_argument("--no-stream", action="store_true", help="Wait for whole answers.")
        parser.add_argument("--max-tokens", type=int, help="Most tokens of a prompt.")
        parser.add_argument(
            "--database", default=DEFAULT_DB_ALIAS, choices=tuple(connections), help="Alias of the database."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        console = make_console(self.stdout, options)
        memory = Memory(options["agent"], using=options["database"])
        try:
            memory.config()
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        model = _model(options)
        thread_id = options["thread"]
        label_style = "yellow" if isinstance(model, EchoModel) else "dim"
        console.print(model.label, style=label_style, soft_wrap=True)
        for text in [options["text"]] if options["text"] else _lines(console):
            try:
                with memory.turn(
                    thread_id=thread_id, resource_id=options["resource"], max_tokens=options["max_tokens"]
                ) as turn:
                    thread_id = turn.thread_id
                    if options["system"]:
                        turn.system(options["system"])
                    turn.user(text)
                    _answer(turn, model, console)
            except KeyboardInterrupt:
                console.print("\n(broken off)", style="yellow")
            except (ConversationMemoryError, ImproperlyConfigured) as error:
                raise CommandError(str(error)) from error
            except DatabaseError as error:
                text = " ".join(str(error).split())
                raise CommandError(f"The database failed: {text}. Has `manage.py migrate` run?") from error
            except ModelFailed as error:
                if options["text"]:
                    raise CommandError(str(error)) from error
                console.print(str(error), style="red", soft_wrap=True)
        if thread_id:
            console.print(
                f"The conversation is {thread_id}; go on with --thread {thread_id}",
                style="dim",
                soft_wrap=True,
            )


def _model(options: dict[str, Any]) -> Model:
    if not (os.environ.get("OPENAI_API_KEY") or options["base_url"]):
        return EchoModel()
    try:
        return OpenAIModel(options["model"], options["base_url"], stream=not options["no_stream"])
    except ImproperlyConfigured as error:
        raise CommandError(str(error)) from error


def _lines(console: Console) -> Iterator[str]:
    """What is typed, or comes from a pipe, line by line."""
    while True:
        if sys.stdin.isatty():
            console.print("you: ", end="", style="bold cyan")
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            return
        if not line.strip():
            return
        yield line.strip()


def _answer(turn: Turn, model: Model, console: Console) -> None:
    """Call the model until it has answered; it may call tools first."""
    for number in range(MAX_CALLS):
        prompt = turn.messages()
        if not number:
            _show_memory(turn, prompt, console)
        console.print("model: ", end="", style="bold green")
        for piece in model.answer(turn, prompt):
            # As it is: rich would break lines and make blanks of tabs.
            console.file.write(piece)
            console.file.flush()
        console.print()
        if not turn.needs_model():
            return
    console.print(f"(stopped after {MAX_CALLS} calls)", style="yellow")


def _show_memory(turn: Turn, prompt: list[dict[str, Any]], console: Console) -> None:
    """What stands in the prompt, and why."""
    system = sum(message["role"] == "system" for message in prompt)
    history = len(turn.list.memory)
    console.print(
        f"prompt: {system} system, {len(prompt) - system} others; {history} of this conversation remembered",
        style="dim",
    )
    if not turn.list.recalled:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", style="dim")
    for heading in ("recalled", "similarity", "date", "conversation", "text"):
        table.add_column(heading, no_wrap=heading != "text", overflow="ellipsis")
    for row in turn.list.recalled:
        reason = row.recall
        similarity = "" if reason.similarity is None else f"{reason.similarity:.2f}"
        table.add_row(
            ", ".join(sorted(reason.sources)),
            similarity,
            f"{row.created_at:%Y-%m-%d}",
            Text(row.thread.title or row.thread.uid),
            Text(snippet(row.text, "")),
        )
    console.print(table)
