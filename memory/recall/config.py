"""The configuration of an agent, and of one call (contract section 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memory.conf import memory_settings
from memory.validation import Check, Given

Scope = Literal["resource", "thread"]
SCOPES: tuple[Scope, ...] = ("resource", "thread")
DEFAULT_INDEX = "default"
DEFAULT_RANGE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticRecallConfig:
    """How a search runs.

    Attributes:
        top_k: most distinct messages it finds.
        before, after: neighbours on each side of a hit.
        scope: all threads of the owner, or the one thread.
        threshold: least similarity, 0 to 1; None = no threshold.
        index_name: alias of the embedding space.
    """

    top_k: int = 4
    before: int = DEFAULT_RANGE
    after: int = DEFAULT_RANGE
    scope: Scope = "resource"
    threshold: float | None = None
    index_name: str = DEFAULT_INDEX

    @classmethod
    def read(cls, check: Check, value: Any, path: str) -> SemanticRecallConfig | None:
        """True, False or an object; None when it is off."""
        if isinstance(value, bool) or value is None:
            return cls() if value else None
        given = check.mapping(value, path, _NESTED["semantic_recall"])
        options: dict[str, Any] = {}
        if "top_k" in given:
            options["top_k"] = check.integer(*given["top_k"], minimum=1, maximum=memory_settings.MAX_TOP_K)
        if "message_range" in given:
            options["before"], options["after"] = _read_range(check, *given["message_range"])
        if "scope" in given:
            options["scope"] = check.choice(*given["scope"], SCOPES)
        if "threshold" in given and given["threshold"].value is not None:
            options["threshold"] = _read_threshold(check, *given["threshold"])
        if "index_name" in given and given["index_name"].value is not None:
            options["index_name"] = check.identifier(*given["index_name"])
        return cls(**options)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemoryConfig:
    """Where working memory lives and what form it has; `schema` set means JSON that merges."""

    enabled: bool = False
    template: str | None = None
    schema: Mapping[str, Any] | None = None
    scope: Scope = "resource"
    read_only: bool = False

    @classmethod
    def read(cls, check: Check, value: Any, path: str) -> WorkingMemoryConfig:
        given = check.mapping(value, path, _NESTED["working_memory"])
        options: dict[str, Any] = {}
        for name in ("enabled", "read_only"):
            if name in given:
                options[name] = check.boolean(*given[name])
        if "template" in given and given["template"].value is not None:
            options["template"] = check.text(*given["template"])
        if "schema" in given and given["schema"].value is not None:
            if not isinstance(given["schema"].value, Mapping):
                check.fail(given["schema"].path, "must be a JSON schema, an object")
            options["schema"] = given["schema"].value
        if "scope" in given:
            options["scope"] = check.choice(*given["scope"], SCOPES)
        if options.get("template") is not None and options.get("schema") is not None:
            check.fail(given["schema"].path, "must not be given beside a template")
        return cls(**options)


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleConfig:
    """How a thread without a title gets one.

    Attributes:
        model: what the `openai` package calls it; None means the first sentence, without a model.
        base_url: a compatible server; None = what the package says, `OPENAI_BASE_URL` or OpenAI.
        instructions: what the model is told; None = instructions of this app.
        min_messages: only threads with as many messages get one.
    """

    model: str | None = None
    base_url: str | None = None
    instructions: str | None = None
    min_messages: int = 1

    @classmethod
    def read(cls, check: Check, value: Any, path: str) -> TitleConfig | None:
        """True, False or an object; None when it is off."""
        if isinstance(value, bool) or value is None:
            return cls() if value else None
        given = check.mapping(value, path, _NESTED["generate_title"])
        options: dict[str, Any] = {}
        for name in ("model", "base_url", "instructions"):
            if name in given and given[name].value is not None:
                options[name] = check.text(*given[name])
        if "min_messages" in given:
            options["min_messages"] = check.integer(*given["min_messages"], minimum=1)
        return cls(**options)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """All options of an agent, validated and with the contract's defaults in the gaps."""

    last_messages: int = 10
    semantic_recall: SemanticRecallConfig | None = None
    working_memory: WorkingMemoryConfig = WorkingMemoryConfig()
    generate_title: TitleConfig | None = None
    read_only: bool = False

    @classmethod
    def read(cls, check: Check, value: Any, path: str) -> MemoryConfig:
        """Options as they were given, in snake_case or camelCase; issues are noted in `check`."""
        given = check.mapping(value, path, OPTIONS)
        options: dict[str, Any] = {}
        if "last_messages" in given:
            # False and 0 both switch history off.
            options["last_messages"] = check.integer(*given["last_messages"], or_false=True) or 0
        if "semantic_recall" in given:
            options["semantic_recall"] = SemanticRecallConfig.read(check, *given["semantic_recall"])
        if "working_memory" in given:
            options["working_memory"] = WorkingMemoryConfig.read(check, *given["working_memory"])
        if "read_only" in given:
            options["read_only"] = check.boolean(*given["read_only"])
        title = given.get("generate_title")
        if "threads" in given:
            threads = check.mapping(*given["threads"], _NESTED["threads"])
            title = threads.get("generate_title", title)
        if title is not None:
            options["generate_title"] = TitleConfig.read(check, *title)
        return cls(**options)

    @classmethod
    def of(cls, *layers: Layer) -> MemoryConfig:
        """The configuration of several layers, each merged deep over those before it.

        Raises:
            RecallError: naming every option that is wrong.
        """
        check = Check()
        config = cls.merge(check, layers)
        check.finish()
        return config

    @classmethod
    def merge(cls, check: Check, layers: Iterable[Layer]) -> MemoryConfig:
        """:meth:`of`, with the issues noted in `check`; the defaults where there are any."""
        known = len(check.issues)
        given = [(path, options) for path, options in layers if options is not None]
        for path, options in given:
            cls.read(check, options, path)
        if len(check.issues) > known:
            return cls()
        merged: dict[str, Any] = {}
        for _, options in given:
            merged = _merge(merged, _snake(options))
        # Each layer is sound; together they may still hold a template beside a schema.
        return cls.read(check, merged, given[-1][0] if given else "")


# Options, and the path that names them in issues; None options are skipped.
Layer = tuple[str, Mapping[str, Any] | None]

OPTIONS = ("last_messages", "semantic_recall", "working_memory", "generate_title", "threads", "read_only")
_NAMES = {
    "lastMessages": "last_messages",
    "semanticRecall": "semantic_recall",
    "workingMemory": "working_memory",
    "generateTitle": "generate_title",
    "readOnly": "read_only",
    "topK": "top_k",
    "messageRange": "message_range",
    "indexName": "index_name",
    "baseUrl": "base_url",
    "minMessages": "min_messages",
}
# Values that are one thing each: laid over as a whole, their keys are no options.
_WHOLE = ("schema",)


# The names an option may hold, at every depth that has names of its own.
_NESTED = {
    "semantic_recall": ("top_k", "message_range", "scope", "threshold", "index_name"),
    "message_range": ("before", "after"),
    "working_memory": ("enabled", "template", "schema", "scope", "read_only"),
    "generate_title": ("model", "base_url", "instructions", "min_messages"),
    "threads": ("generate_title",),
}


def known_options(options: Mapping[str, Any], names: tuple[str, ...] = OPTIONS) -> dict[str, Any]:
    """Options without the names that mean nothing here, at every depth: clients send those of other memory
    features along (contract section 6)."""
    known: dict[str, Any] = {}
    for key, value in options.items():
        name = _NAMES.get(key, key)
        if name in names:
            nested = isinstance(value, Mapping) and name in _NESTED
            known[key] = known_options(value, _NESTED[name]) if nested else value
    return known


def _snake(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options under their snake_case names at every depth; `threads.generate_title` moves to the top."""
    renamed: dict[str, Any] = {}
    for key, value in options.items():
        name = _NAMES.get(key, key)
        renamed[name] = _snake(value) if isinstance(value, Mapping) and name not in _WHOLE else value
    nested = renamed.pop("threads", None)
    if nested and "generate_title" in nested:
        renamed["generate_title"] = nested["generate_title"]
    return renamed


def _merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and key not in _WHOLE:
            merged[key] = _merge(below if isinstance(below, dict) else {}, value)
        else:
            merged[key] = value
    if "template" in over and over["template"] is not None:
        merged.pop("schema", None)
    elif "schema" in over and over["schema"] is not None:
        merged.pop("template", None)
    return merged


def _read_range(check: Check, value: Any, path: str) -> tuple[int | None, int | None]:
    """A number for both sides, or `{before, after}` where a missing half is 2."""
    if not isinstance(value, Mapping):
        both = check.integer(value, path, maximum=memory_settings.MAX_WINDOW)
        return both, both
    given = check.mapping(value, path, _NESTED["message_range"])
    before, after = (
        check.integer(*given.get(half, Given(DEFAULT_RANGE, path)), maximum=memory_settings.MAX_WINDOW)
        for half in ("before", "after")
    )
    return before, after


def _read_threshold(check: Check, value: Any, path: str) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    check.fail(path, "must be a number from 0 to 1")
    return None
