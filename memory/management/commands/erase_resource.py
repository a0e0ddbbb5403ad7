"""`manage.py erase_resource`: an owner and everything it owns, gone for good."""

from __future__ import annotations

import sys
import uuid
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from memory.content.controls import visible
from memory.exceptions import ConversationMemoryError, ResourceNotFound
from memory.management.acts import add_arguments, terminal_user
from memory.management.console import make_console, make_progress
from memory.models import AdminEvent, Resource
from memory.recall import LEAVES_DISK, EraseReceipt
from memory.recall.receipts import hashed_id

CAP = 10_000


class Command(BaseCommand):
    help = (
        "Erase an owner for good: its threads, messages, vectors, words in the index, working memories, and "
        "what Django's admin log says about them. It asks you to type the id. It may be interrupted: run it "
        "again, and it goes on. The erasure is noted in the admin events, by a hash of the id."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
        parser.add_argument("--yes", action="store_true", help="Do not ask.")
        parser.add_argument(
            "--vacuum",
            action="store_true",
            help="Free the space too. On SQLite this writes the whole file anew, which locks it meanwhile, "
            "and takes away what earlier edits left behind.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        console = make_console(self.stdout, options)
        try:
            self._erase(console, options["resource"], options)
        except ConversationMemoryError as error:
            raise CommandError(visible(str(error))) from error
        except KeyboardInterrupt as error:
            raise CommandError("Interrupted. Run it again to erase the rest.", returncode=130) from error

    def _erase(self, console: Console, uid: str, options: dict[str, Any]) -> None:
        using: str = options["database"]
        resources = Resource.objects.db_manager(using)
        events = AdminEvent.objects.db_manager(using)
        owned = resources.count_owned(uid, cap=CAP)
        if not resources.filter(uid=uid).exists():
            # What an erasure that was stopped at its very end has left goes nevertheless.
            resources.erase_resource(uid, vacuum=options["vacuum"])
            raise ResourceNotFound(uid)
        console.print(f"The resource {visible(uid)} has {', '.join(map(_counted, owned.items()))}.")
        if not options["yes"]:
            _confirm(console, uid)
        said: Any = {"actor_name": terminal_user(), "reason": options["reason"], "group": uuid.uuid4()}
        events.record(AdminEvent.Action.BEGIN_ERASE, resource_id=uid, counts=owned, **said)

        def finish(counts: dict[str, int]) -> None:
            named = hashed_id(uid)
            events.record(AdminEvent.Action.ERASE_RESOURCE, resource_id=named, counts=counts, **said)

        total = owned["messages"] if owned["messages"] <= CAP else None
        with make_progress(console) as progress:
            task = progress.add_task("Erasing messages", total=total)
            receipt = resources.erase_resource(
                uid,
                vacuum=options["vacuum"],
                advance=lambda count: progress.advance(task, count),
                finish=finish,
            )
        _print_receipt(console, receipt)


def _counted(entry: tuple[str, int]) -> str:
    name, number = entry
    return f"{f'{CAP:,}+' if number > CAP else f'{number:,}'} {name}"


def _confirm(console: Console, uid: str) -> None:
    if not sys.stdin.isatty():
        raise CommandError("Nothing was erased: there is no terminal to ask on. Give --yes.")
    console.print("This cannot be undone. Type the id to erase it: ", end="", style="bold")
    if sys.stdin.readline().rstrip("\n") != uid:
        raise CommandError("Nothing was erased: that is another id.")


def _print_receipt(console: Console, receipt: EraseReceipt) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(justify="right")
    for name, number in receipt.counts.items():
        table.add_row(f"{number:,}", name.replace("_", " "))
    console.print(f"Erased at {receipt.erased_at:%Y-%m-%d %H:%M:%S} UTC.", style="green")
    console.print(f"The events name it {receipt.resource_uid}", soft_wrap=True)
    console.print(table)
    console.print(str(LEAVES_DISK[receipt.leaves_disk]))
