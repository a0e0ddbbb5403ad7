"""How long the word search takes: `python -m benchmarks.word_search --messages 1000000`.

Loads made-up messages in English, Korean and Chinese into a scratch database and prints a table of
milliseconds. For PostgreSQL, run it with `python -m tests.postgres python -m benchmarks.word_search`, or
name a server in DATABASE_URL; else it measures SQLite. A database `test_...` is made and taken away again.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import django

START = datetime(2020, 1, 1, tzinfo=UTC)
COLUMNS = ("id", "uid", "thread_id", "role", "type", "body", "metadata", "text", "created_at", "cloned_from")

# Shares of all messages that hold a planted word, and the language of these messages.
PLANTED: tuple[tuple[str, str, float], ...] = (
    ("탈퇴", "ko", 0.0002),
    ("환불", "ko", 0.0016),
    ("문서", "ko", 0.07),
    ("退款", "zh", 0.002),
    ("注销", "zh", 0.00017),
    ("的", "zh", 0.2),
    ("order", "en", 0.03),
    ("chargeback", "en", 0.001),
    ("the", "en", 0.27),
)
# Only the older half of the messages has this one: the newest matches are far from the newest messages.
OLD_WORD, OLD_SHARE = "legacy", 0.1
QUERIES = [word for word, _, _ in PLANTED] + [OLD_WORD, "the chargeback", "ORD-{order}", "nosuchword"]

# Owners by their share of all messages and the length of their threads; the rest have 100 messages each.
BIG, BIG_SHARE, MIDDLE, MIDDLE_SHARE = "big", 0.3, "middle", 0.01
SCOPES = (None, BIG, MIDDLE, "small", "thread")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.word_search", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--limit", type=int, default=20, help="results a search; default: %(default)s")
    parser.add_argument("--repeat", type=int, default=5, help="searches a figure; default: %(default)s")
    parser.add_argument("--keep", action="store_true", help="leave the database, or use the one left before")
    options = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings.test")
    django.setup()
    from django.db import connection

    from memory.models import Message

    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, serialize=False, keepdb=options.keep)
    try:
        if not Message.objects.exists():
            load(options.messages, threads_of(options.messages))
        measure(options)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0, keepdb=options.keep)
    return 0


def load(count: int, sizes: Sequence[tuple[str, str, int]]) -> None:
    """Fill the tables, and build the index over all of it at the end, which is quicker.

    `sizes`: the threads, as :func:`threads_of` answers them.
    """
    from django.db import connection

    from memory.models import Thread
    from memory.querysets.words import message_words

    words = message_words()
    with connection.schema_editor() as editor:
        words.drop(editor)
    with Timer(f"{count:,} messages loaded"):
        insert_threads(sizes)
        keys = dict(Thread.objects.values_list("uid", "pk"))
        places = [keys[uid] for uid, _, size in sizes for _ in range(size)]
        rows = progress(messages(count, places), count)
        listed = ", ".join(COLUMNS)
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY memory_message ({listed}) FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)
                cursor.execute("SELECT setval('memory_message_id_seq', %s)", [count])
            else:
                marks = ", ".join(["%s"] * len(COLUMNS))
                cursor.executemany(f"INSERT INTO memory_message ({listed}) VALUES ({marks})", rows)
    with Timer("index built"), connection.schema_editor() as editor:
        words.create(editor)
    with Timer("analysed"), connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE) memory_message" if connection.vendor == "postgresql" else "ANALYZE")
        cursor.execute("ANALYZE")
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT pg_relation_size('memory_message') / 1000000, "
                "pg_relation_size('memory_message_words') / 1000000"
            )
            table, index = cursor.fetchone()
            say(f"the table has {table} MB, the index {index} MB")


def threads_of(count: int) -> list[tuple[str, str, int]]:
    """Threads as (id, owner, number of messages)."""
    found = [(f"big-{n}", BIG, 1_000) for n in range(max(1, int(count * BIG_SHARE / 1_000)))]
    found += [(f"middle-{n}", MIDDLE, 100) for n in range(max(1, int(count * MIDDLE_SHARE / 100)))]
    rest = count - sum(size for _, _, size in found)
    found += [(f"small-{n}", f"small-{n // 2}", 50) for n in range(max(2, rest // 50))]
    return found


def insert_threads(sizes: Sequence[tuple[str, str, int]]) -> None:
    from memory.models import Resource, Thread

    owners = {uid: Resource(uid=uid) for uid in dict.fromkeys(owner for _, owner, _ in sizes)}
    Resource.objects.bulk_create(owners.values(), batch_size=1_000)
    Thread.objects.bulk_create(
        (Thread(uid=uid, resource=owners[owner]) for uid, owner, _ in sizes), batch_size=1_000
    )


def messages(count: int, places: list[int]) -> Iterator[tuple[Any, ...]]:
    """Rows in the order of their dates, which mixes the threads."""
    from django.db import connection

    draw = random.Random(1)
    draw.shuffle(places)
    writers = {
        "en": vocabulary(draw, "abcdefghijklmnoprstuvwy", 3, 9, " "),
        "ko": vocabulary(draw, "".join(map(chr, range(0xAC00, 0xD7A0, 17))), 2, 4, " "),
        "zh": vocabulary(draw, "".join(map(chr, range(0x4E00, 0x6E00, 9))), 2, 3, ""),
    }
    for number in range(count):
        language = draw.choices(("en", "ko", "zh"), (30, 35, 35))[0]
        text = writers[language]()
        share = {"en": 0.3, "ko": 0.35, "zh": 0.35}[language]
        for word, of, wanted in PLANTED:
            if of == language and draw.random() < wanted / share:
                text += f" {word}"
        if number < count / 2 and draw.random() < OLD_SHARE:
            text += f" {OLD_WORD}"
        if number % 1_000 == 0:
            text += f" ORD-{number:07}"
        date: Any = START + timedelta(seconds=30 * number)
        if connection.vendor == "sqlite":
            date = date.strftime("%Y-%m-%d %H:%M:%S")
        body = '{"format": 2, "parts": [{"type": "text", "text": "' + text + '"}]}'
        place = places[number % len(places)]
        role = "tool" if number % 5_000 == 0 else ("user", "assistant")[number % 2]
        yield number + 1, f"m{number}", place, role, "", body, "{}", text, date, ""


def vocabulary(draw: random.Random, letters: str, low: int, high: int, space: str) -> Callable[[], str]:
    """A writer of sentences from 5,000 made-up words, a few of them frequent, as in a language."""
    words = ["".join(draw.choices(letters, k=draw.randint(low, high))) for _ in range(5_000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    # Drawn in one go: choosing by weight is what takes the time.
    drawn = draw.choices(words, weights, k=400_000)

    def sentence() -> str:
        start = draw.randrange(len(drawn) - 40)
        return space.join(drawn[start : start + draw.randint(8, 34)])

    return sentence


def measure(options: argparse.Namespace) -> None:
    """Print the table: a row a query, a column a scope."""
    from memory.models import Message

    order = f"{options.messages // 2 // 1_000 * 1_000:07}"
    say(f"fastest of {options.repeat}, ms; newest {options.limit}; in brackets: results")
    say(f"{'query':<16}" + "".join(f"{scope or 'everything':>18}" for scope in SCOPES))
    for query in QUERIES:
        query = query.format(order=order)
        cells = []
        for scope in SCOPES:
            times, found = [], 0
            for _ in range(options.repeat):
                start = time.perf_counter()
                found = len(search(query, scope, options.limit))
                times.append((time.perf_counter() - start) * 1_000)
            cells.append(f"{min(times):>12.1f} ({found:>3})")
        say(f"{query:<{16 - sum(ord(c) > 0x1100 for c in query)}}" + "".join(cells))
    say(f"{Message.objects.count():,} messages")


def search(query: str, scope: str | None, limit: int) -> Sequence[Any]:
    from memory.models import Message
    from memory.querysets.newest import newest_containing

    if scope is None:
        return newest_containing(query, limit, scope=None, using="default")
    if scope == "thread":
        return Message.objects.search(query, resource_id=BIG, thread_id="big-0", limit=limit).results
    owner = "small-0" if scope == "small" else scope
    return Message.objects.search(query, resource_id=owner, limit=limit).results


def progress(rows: Iterator[tuple[Any, ...]], count: int) -> Iterator[tuple[Any, ...]]:
    for number, row in enumerate(rows, 1):
        if number % 100_000 == 0:
            say(f"  {number:,} of {count:,}")
        yield row


class Timer:
    """Prints how long its block took."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *args: object) -> None:
        say(f"{self.what}: {time.perf_counter() - self.start:.1f} s")


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
