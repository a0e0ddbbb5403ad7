"""How long the pages of the admin take at the server: `python -m benchmarks.admin_pages --messages 1000000`.

Loads made-up messages into a scratch database, one thread of a tenth of them, and prints milliseconds and
statements of every page, templates and middleware included. For PostgreSQL, run it with
`python -m tests.postgres python -m benchmarks.admin_pages`, or name a server in DATABASE_URL; else it
measures SQLite. A database `test_...` is made and taken away again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

import django

from benchmarks.word_search import BIG, OLD_WORD, PLANTED, Timer, load, say, threads_of

# What a page may take at the server, in milliseconds.
LIMIT = 300
LONG = "long"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.admin_pages", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--repeat", type=int, default=5, help="requests a figure; default: %(default)s")
    parser.add_argument("--keep", action="store_true", help="leave the database, or use the one left before")
    options = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings.test")
    django.setup()
    from django.conf import settings
    from django.db import connection

    from memory.models import Message

    # The client of the tests stands for a browser here.
    settings.ALLOWED_HOSTS = ["testserver"]
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, serialize=False, keepdb=options.keep)
    try:
        if not Message.objects.exists():
            load(options.messages, sizes_of(options.messages))
            decorate()
        return measure(options)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0, keepdb=options.keep)


def sizes_of(count: int) -> list[tuple[str, str, int]]:
    """The threads of the word search, and one long one of the largest owner."""
    return [(LONG, BIG, count // 10), *threads_of(count - count // 10)]


def decorate() -> None:
    """Vectors, work that is still to be done, metadata and redactions, of a few of the messages each."""
    from django.contrib.auth import get_user_model
    from django.db import connection
    from django.utils import timezone

    from memory.models import EmbeddingJob, EmbeddingSpace, Message

    get_user_model().objects.create_superuser("benchmark")
    space, _ = EmbeddingSpace.objects.get_or_create(
        alias="default", defaults={"model": "hash", "dimensions": 64}
    )
    with Timer("decorated"), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO memory_embedding (message_id, space_id, thread_id, resource_id, chunk, text_hash) "
            "SELECT m.id, %s, m.thread_id, t.resource_id, 0, m.uid FROM memory_message m "
            "JOIN memory_thread t ON t.id = m.thread_id WHERE m.id %% 1000 <> 0",
            [space.pk],
        )
        keys = list(Message.objects.order_by("pk").values_list("pk", flat=True)[::1000])
        EmbeddingJob.objects.bulk_create(
            EmbeddingJob(message_id=key, space=space, state=("open", "failed")[number % 2])
            for number, key in enumerate(keys)
        )
        changes: tuple[tuple[int, dict[str, Any]], ...] = (
            (7, {"metadata": {"plan": "pro"}}),
            (50, {"redacted_at": timezone.now(), "body": {"format": 2, "parts": []}}),
        )
        for step, change in changes:
            for key in keys[::step]:
                Message.objects.filter(pk=key).update(**change)
        cursor.execute("ANALYZE")


def pages() -> Iterator[tuple[str, str]]:
    """Pages with what each is, the worst places of each included."""
    from django.urls import reverse

    from memory.admin.acts import ACTS
    from memory.models import Embedding, EmbeddingJob, Resource, Thread, WorkingMemory

    thread = Thread.objects.get(uid=LONG)
    ordered = list(thread.messages.chronological().values_list("uid", flat=True))
    own = ordered[:: max(1, len(ordered) // 4)]
    transcript = reverse("admin:memory_thread_transcript", args=[thread.pk])
    messages = reverse("admin:memory_message_changelist")
    yield "memory index", reverse("admin:app_list", args=["memory"])
    yield "transcript, newest", transcript
    yield "transcript, first", f"{transcript}?position=first"
    yield "transcript, in the middle", f"{transcript}?message={own[2]}"
    yield "transcript, older", f"{transcript}?before={own[1]}"
    yield "transcript, newer", f"{transcript}?after={own[1]}"
    yield "transcript, a date", f"{transcript}?date=2020-01-20"
    words = [word for word, _language, _share in PLANTED]
    for term in (*words, OLD_WORD, "nosuchword", own[1]):
        yield f"search {term}", f"{reverse('admin:memory_search')}?q={term}"
        yield f"messages {term}", f"{messages}?q={term}"
    for query in (
        "", "p=150", "role__exact=user", "role__exact=tool", "role__exact=signal", f"owner={BIG}",
        "owner=small-0", "owner=nobody", "from=2020-01-05&to=2020-01-06", "from=2029-01-01",
        "embedding=embedded", "embedding=waiting", "embedding=failed", "embedding=none", "redacted=yes",
        "q=small-0", "metadata=plan%3Dpro", "metadata=plan%3Dnone", f"q=the&owner={BIG}",
        "q=환불&owner=small-0", "q=legacy&role__exact=tool", "o=1", "o=5",
    ):  # fmt: skip
        yield f"messages {query}", f"{messages}?{query}"
    for term in ("the", OLD_WORD):
        yield f"within a conversation {term}", f"{messages}?thread__id__exact={thread.pk}&q={term}"
    for model in (Resource, Thread, Embedding, EmbeddingJob, WorkingMemory):
        name = model._meta.model_name
        yield f"list of {name}", reverse(f"admin:memory_{name}_changelist")
    yield "threads by a title", f"{reverse('admin:memory_thread_changelist')}?q=nosuch title"
    yield "list of adminevent", reverse("admin:memory_adminevent_changelist")
    yield "overview", reverse("admin:memory_overview")
    for row in (thread.resource, thread, thread.messages.first()):
        assert row is not None
        name = row._meta.model_name
        yield f"a {name}", reverse(f"admin:memory_{name}_change", args=[row.pk])
        for act in ACTS[str(name)]:
            # Rows that are too many for a page send back, with a message.
            yield f"{act.name} of a {name}", reverse(f"admin:memory_{name}_{act.name}", args=[row.pk])
    yield "playground", reverse("admin:memory_thread_recall", args=[thread.pk])


def measure(options: argparse.Namespace) -> int:
    """Print a row a page; 1 where one took too long."""
    from django.contrib.auth import get_user_model
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    client.force_login(get_user_model().objects.get(username="benchmark"))
    say(f"median of {options.repeat}, ms at the server; statements; kB")
    slow = 0
    for name, url in pages():
        times = []
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(url)
        statements = len(captured)
        for _ in range(options.repeat):
            start = time.perf_counter()
            answer = client.get(url)
            times.append((time.perf_counter() - start) * 1_000)
        took = statistics.median(times)
        slow += took > LIMIT
        told = "" if answer.status_code == 200 else f"  status {answer.status_code}"
        say(
            f"{name:<40}{took:>8.1f}{statements:>6}{len(answer.content) // 1_000:>8}"
            f"{'  TOO SLOW' if took > LIMIT else ''}{told}"
        )
    say(f"{slow} pages over {LIMIT} ms")
    return 1 if slow else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
