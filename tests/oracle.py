"""Runs recorded scenarios on this app, and brings both sides' answers to one shape that can be compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from memory import Memory
from memory.exceptions import ConversationMemoryError
from memory.models import Embedding, Message, Thread
from memory.recall import RecallResult
from tests.scenarios import UNDEFINED, Call, Scenario

ERROR: Final = "an error"
# Similarities are rounded to 6 decimals, and float32 sums may differ by 2e-6 (section 2, rule 6).
SIMILARITY: Final = 2.5e-6
# The recordings show so much of texts of over 200 characters, and of objects with more keys than this.
SHOWN, LONG = 60, 200
PAGE_KEYS = ("ids", "total", "page", "perPage", "hasMore")
VECTOR_KEYS = ("message_id", "thread_id", "resource_id", "role")


def settings_for(scenario: Scenario) -> dict[str, Any]:
    """The `MEMORY` setting: an embedder of the scenario's dimensions, its options as the default agent."""
    embedder = {
        "BACKEND": "tests.embedders.hashing.HashEmbedder",
        "OPTIONS": {"dimensions": scenario.dimensions},
    }
    return {
        "EMBEDDERS": {} if scenario.dimensions is None else {"default": embedder},
        "AGENTS": {"default": scenario.options},
    }


def recorded_answer(call: Call) -> Any:
    """What was recorded, without what has no counterpart here."""
    if "error" in call.recorded:
        return ERROR
    result = call.recorded["result"]
    if call.method in ("recall", "store.listMessages"):
        searches = call.recorded.get("vector", [])
        return {
            **{key: result[key] for key in PAGE_KEYS},
            "usage": result.get("usage"),
            "hits": dict(hit for search in searches for hit in search["hits"]),
            **({"messages": result["messages"]} if call.full else {}),
        }
    if call.method == "saveMessages":
        return {"ids": result["ids"]}
    if call.method == "dumpVectors":
        keys = (*VECTOR_KEYS, "content") if call.full else VECTOR_KEYS
        return sorted(tuple(row[key] for key in keys) for row in result)
    if call.method == "dumpRows":
        return [{key: value for key, value in row.items() if key != "type"} for row in result]
    return result


def difference(right: Any, answer: Any) -> tuple[Any, Any] | None:
    """What is not the same, of both sides; None when they agree within the tolerance of similarities."""
    if not (isinstance(right, dict) and isinstance(answer, dict)):
        return None if right == answer else (right, answer)
    differing = [key for key in {**right, **answer} if not _same(key, right.get(key), answer.get(key))]
    if not differing and right.keys() == answer.keys():
        return None
    return {key: right.get(key) for key in differing}, {key: answer.get(key) for key in differing}


def _same(key: str, right: Any, value: Any) -> bool:
    if key == "hits":
        right = pytest.approx(right, rel=0, abs=SIMILARITY)
    return bool(right == value)


class Runner:
    """Carries out the calls of one scenario through the facade, as the default agent."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.memory = Memory()
        self.verbs: dict[str, Callable[[Call], Any]] = {
            "recall": self._recall,
            "store.listMessages": self._list_messages,
            "listThreads": self._list_threads,
            "getThreadById": self._get_thread,
            "saveThread": lambda call: self._save_thread(call.args["thread"]),
            "saveMessages": self._save_messages,
            "updateMessages": self._update_messages,
            "deleteMessages": self._delete_messages,
            "deleteThread": lambda call: self.memory.delete_thread(call.args),
            "getWorkingMemory": self._working_memory,
            "touched": self._touched,
            "dumpVectors": self._vectors,
            "dumpRows": self._rows,
        }

    def prepare(self) -> None:
        """Threads, then all messages in one call, then the dates of the threads as they were."""
        for thread in self.scenario.threads:
            self._save_thread(thread)
        self.memory.save_messages(self.scenario.messages)
        for thread in self.scenario.threads:
            self._put_dates_back(thread)

    def answer(self, call: Call) -> Any:
        """The answer in the shape of :func:`recorded_answer`; errors of this app are :data:`ERROR`."""
        try:
            return self.verbs[call.method](call)
        except ConversationMemoryError:
            return ERROR

    def _recall(self, call: Call) -> dict[str, Any]:
        result = self.memory.recall(**_keywords(call.args))
        return _page(result, chronological=True, full=call.full)

    def _list_messages(self, call: Call) -> dict[str, Any]:
        """The page of a store: oldest first and 40 a page unless asked otherwise, in the asked order."""
        order = {"direction": "ASC"} | call.args.get("orderBy", {})
        result = self.memory.recall(**_keywords({"perPage": 40, **call.args, "orderBy": order}))
        return _page(result, chronological=False, full=call.full)

    def _list_threads(self, call: Call) -> dict[str, Any]:
        page = self.memory.list_threads(**_keywords(call.args))
        return {
            "ids": [thread.uid for thread in page.threads],
            "total": page.total,
            "page": page.page,
            "perPage": page.per_page,
            "hasMore": page.has_more,
        }

    def _get_thread(self, call: Call) -> dict[str, Any] | None:
        thread = self.memory.get_thread(**_keywords(call.args))
        return thread.as_dict() if thread else None

    def _save_thread(self, thread: Mapping[str, Any]) -> Any:
        stored = self.memory.create_thread(
            thread["resourceId"],
            thread_id=thread["id"],
            title=thread["title"],
            metadata=thread.get("metadata"),
        )
        self._put_dates_back(thread)
        stored.refresh_from_db(fields=["created_at", "updated_at"])
        return shortened(stored.as_dict())

    def _put_dates_back(self, thread: Mapping[str, Any]) -> None:
        Thread.objects.filter(uid=thread["id"]).update(
            created_at=thread["createdAt"], updated_at=thread["updatedAt"]
        )

    def _save_messages(self, call: Call) -> dict[str, Any]:
        """`memoryConfig` has no counterpart: what is embedded hangs on no agent (section 4)."""
        return {"ids": [message.uid for message in self.memory.save_messages(call.args["messages"])]}

    def _update_messages(self, call: Call) -> list[dict[str, Any]]:
        return [
            {"id": message.uid, "threadId": message.thread.uid, "resourceId": message.thread.resource.uid}
            for message in self.memory.update_messages(call.args["messages"])
        ]

    def _delete_messages(self, call: Call) -> None:
        """The recorded implementation does not say how many it deleted."""
        self.memory.delete_messages(call.args)

    def _working_memory(self, call: Call) -> str | None:
        given = dict(call.args)
        return self.memory.get_working_memory(
            **_keywords({"threadConfig": given.pop("memoryConfig"), **given})
        )

    def _touched(self, call: Call) -> dict[str, bool]:
        """Whether `updated_at` is another one than the scenario began with."""
        former = {thread["id"]: thread["updatedAt"] for thread in self.scenario.threads}
        threads = Thread.objects.filter(uid__in=call.args)
        return {thread.uid: thread.updated_at > former[thread.uid] for thread in threads}

    def _vectors(self, call: Call) -> list[tuple[str, ...]]:
        """One row for each vector, with the scope in which a search finds it."""
        names = ["message__uid", "thread__uid", "resource__uid", "message__role"]
        names += ["message__text"] if call.full else []
        return sorted(Embedding.objects.values_list(*names))

    def _rows(self, call: Call) -> list[dict[str, Any]]:
        rows = [row.as_dict() for row in Message.objects.select_related("thread__resource").order_by("uid")]
        return [{key: row[key] for key in row if key not in ("type", "content")} for row in rows]


def shortened(value: Any) -> Any:
    """`value` with long texts and large objects as the recordings show them."""
    if isinstance(value, str):
        return value if len(value) <= LONG else f"{value[:SHOWN]}…<{len(value)} chars>"
    if isinstance(value, list):
        return [shortened(element) for element in value]
    if isinstance(value, dict):
        rest = {"…": f"{len(value)} keys"} if len(value) > SHOWN else {}
        return {key: shortened(value[key]) for key in sorted(value)[:SHOWN]} | rest
    return value


def _page(result: RecallResult, *, chronological: bool, full: bool) -> dict[str, Any]:
    messages = result.chronological() if chronological else result.messages
    rows = [message.as_dict() for message in messages] if full else []
    return {
        "ids": [message.uid for message in messages],
        "total": result.total,
        "page": result.page,
        "perPage": result.per_page,
        "hasMore": result.has_more,
        "usage": result.usage,
        "hits": {
            message.uid: message.recall.similarity
            for message in messages
            if "semantic" in message.recall.sources
        },
        **({"messages": shortened(rows)} if full else {}),
    }


def _keywords(args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments under their Python names; options that are `undefined` are not given."""
    given = {
        re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name): value
        for name, value in args.items()
        if value is not UNDEFINED
    }
    if isinstance(given.get("filter"), dict):
        given["filter"] = {key: value for key, value in given["filter"].items() if value is not UNDEFINED}
    return given
