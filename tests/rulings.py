"""The calls of the recorded scenarios whose answer contradicts the contract, and the right answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tests.oracle import ERROR, shortened


class Ruling(NamedTuple):
    """The rule of the contract that decides, and the answer that is right by it."""

    rule: str
    right: Any


def page(
    ids: str = "",
    *,
    total: int = 0,
    per_page: int = 0,
    tokens: int | None = None,
    hits: Mapping[str, float] | None = None,
    **rest: Any,
) -> dict[str, Any]:
    """The answer of a recall: page 0, with nothing beyond it; `ids` are separated by spaces."""
    return {
        "ids": ids.split(),
        "total": total,
        "page": 0,
        "perPage": per_page,
        "hasMore": False,
        "usage": None if tokens is None else {"tokens": tokens},
        "hits": dict(hits or {}),
        **rest,
    }


def message(uid: str, minute: int, text: str, *, role: str = "user") -> dict[str, Any]:
    """A recalled message of the thread `t1` with a single text part."""
    return {
        "id": uid,
        "role": role,
        "threadId": "t1",
        "resourceId": "r1",
        "createdAt": f"2026-01-01T00:{minute:02}:00.000Z",
        "content": {"format": 2, "parts": [{"type": "text", "text": shortened(text)}]},
    }


def words(prefix: str, count: int) -> str:
    return " ".join(f"{prefix}{number}" for number in range(count))


def vector(uid: str, thread: str = "t1", role: str = "user") -> tuple[str, str, str, str]:
    """A stored vector of a message of the resource `r1`."""
    return (uid, thread, "r1", role)


SAME_RESOURCE: Final = "2.5: includes are found within the same resource, foreign ids are skipped"
FOLLOWED: Final = "4: vectors follow moved messages"
ALL_EMBEDDED: Final = "4: every message with text is embedded, whatever agent saved it"
AS_IT_CAME: Final = "3: text is stored as it came, never trimmed"

RULINGS: dict[tuple[str, str], Ruling] = {
    ("a04-last-messages-false", "include"): Ruling(
        "2.5: includes are honoured, with history off too", page("m003")
    ),
    ("c12-meta-numbers-extreme", '{"n": 9007199254740993}'): Ruling(
        "2, metadata filter: integers within 64 bit compare exactly", page(per_page=10)
    ),
    ("d04-store-include-other", "wrong threadId"): Ruling(
        "2.5: a given thread_id must be the message's thread", page()
    ),
    ("d04-store-include-other", "empty id"): Ruling('1: the id "" is an error', ERROR),
    ("d04-store-include-other", "resource r9"): Ruling(
        "2.2: a thread of another resource is refused before any early exit", ERROR
    ),
    ("d04-store-include-other", "no resource"): Ruling(SAME_RESOURCE, page()),
    ("e04-scope", "resource, no resourceId"): Ruling(
        "2.6: the scope is the thread's owner when resource_id is not given",
        page(
            "m01 m02 m03 n01 n02",
            tokens=6,
            hits={"m01": 0.534523, "n01": 0.471405, "m02": 0.400892},
        ),
    ),
    ("e15-unicode", "🍎"): Ruling("2.6: a zero query finds nothing", page(tokens=0)),
    ("g07-long", "#0"): Ruling(
        "4: a chunk holds at most max_input_tokens (8,191), each non-ASCII character being one",
        sorted(
            [vector("k1"), vector("k10"), *[vector("k20")] * 2, *[vector("k40")] * 3, *[vector("k100")] * 10]
        ),
    ),
    ("g07-long", "#4"): Ruling(
        AS_IT_CAME,
        page(
            "k1 k10 k20 k40 k100",
            total=5,
            per_page=20,
            messages=[
                message("k1", 1, "abcdefg " * 126),
                message("k10", 2, words("v", 2000)),
                message("k20", 3, words("w", 4000)),
                message("k40", 4, "z" * 40_000),
                message("k100", 5, "한국어 메시지 " * 12_500),
            ],
        ),
    ),
    ("g09-working-memory-tags", "#0"): Ruling(
        AS_IT_CAME,
        page(
            "a b d e",
            total=4,
            per_page=20,
            messages=[
                message("a", 1, "keep  this  "),
                message("b", 2, "", role="assistant"),
                message("d", 4, " spaced ", role="assistant"),
                message("e", 5, "unclosed <working_memory>tail"),
            ],
        ),
    ),
    ("g17-semantic-off-save", "#0"): Ruling(ALL_EMBEDDED, [vector("m1")]),
    ("g17-semantic-off-save", "#1"): Ruling(ALL_EMBEDDED, page("m1", tokens=2, hits={"m1": 1.0})),
    ("g17-semantic-off-save", "#3"): Ruling(ALL_EMBEDDED, [vector("m1"), vector("m2")]),
    ("h04-update-move", "#2"): Ruling(
        FOLLOWED, [vector("m1", "t2"), vector("m2", role="assistant"), vector("m3")]
    ),
    ("h04-update-move", "t1"): Ruling(FOLLOWED, page(tokens=2)),
    ("h04-update-move", "t2"): Ruling(FOLLOWED, page("m1", tokens=2, hits={"m1": 1.0})),
    ("h04-update-move", "#7"): Ruling(
        FOLLOWED, [vector("m1", "t2"), vector("m2", "t2", role="assistant"), vector("m3")]
    ),
    ("i04-delete-thread", "thread scope"): Ruling(
        "2.2: without resource_id and thread the result is empty: nothing is searched or embedded", page()
    ),
}
