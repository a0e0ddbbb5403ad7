"""The titles of threads: what is found by them, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memory.admin.addresses import conversation_url
from memory.admin.masks import can_read, hidden
from memory.content.controls import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet
    from django.http import HttpRequest

    from memory.models import Thread

MAX_WORDS = 10


def with_words_in_title(rows: QuerySet[Thread], words: str) -> QuerySet[Thread]:
    """Threads whose title has all words of a text, in any case. Titles have no index: all are read."""
    for word in words.split()[:MAX_WORDS]:
        rows = rows.filter(title__icontains=word)
    return rows


class ShownThread(NamedTuple):
    thread: Thread
    url: str
    title: str


def shown_threads(request: HttpRequest, threads: Iterable[Thread]) -> list[ShownThread]:
    """Threads for a table, with links to their conversations."""
    readable = can_read(request)
    return [
        ShownThread(
            thread,
            conversation_url(thread.pk, request.current_app),
            visible(thread.title) if readable else hidden(),
        )
        for thread in threads
    ]
