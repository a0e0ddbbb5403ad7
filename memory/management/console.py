"""The terminal: coloured and aligned where there is one, plain text in a pipe."""

from __future__ import annotations

from typing import IO, Any, cast

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

PLAIN_WIDTH = 100


def make_console(stdout: OutputWrapper, options: dict[str, Any]) -> Console:
    """A console over a command's output that follows `--no-color` and `--force-color`."""
    # Django ends every write with a line break of its own; rich writes its own ones.
    stdout.ending = ""
    return Console(
        file=cast("IO[str]", stdout),
        force_terminal=True if options.get("force_color") else stdout.isatty(),
        no_color=bool(options.get("no_color")),
        width=None if stdout.isatty() else PLAIN_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )


def make_progress(console: Console) -> Progress:
    """A progress bar that leaves nothing behind, and shows nothing in a pipe."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
