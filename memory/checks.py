"""System checks: what is wrong with the configuration, and the setting or command that mends it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import connections, router
from django.db.utils import Error as DatabaseError

from memory.conf import SETTING, MemorySettings, memory_settings
from memory.embedders import embedders
from memory.exceptions import RecallError, SemanticRecallNotConfigured
from memory.managers.embedding import mismatch
from memory.models import EmbeddingSpace
from memory.querysets.words import message_words
from memory.recall import MemoryConfig

THROTTLED = ("recall", "search")
RATE = re.compile(r"[1-9]\d*/[smhd].*")
PATHS = {"RESOURCE_RESOLVER": "function", "ADMIN_BASE": "class", "ADMIN_RESOURCES": "function"}
LIMITS = tuple(field.name for field in fields(MemorySettings) if field.type == "int")


@register(Tags.compatibility)
def check_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """The shape of `MEMORY`: its keys, its limits, its agents, its embedders."""
    given = getattr(settings, SETTING, {})
    if not isinstance(given, Mapping):
        return [Error(f"{SETTING} must be a dict.", id="memory.E001")]
    return [*_unknown_keys(given), *_wrong_values(), *_wrong_agents(), *_wrong_embedders()]


@register(Tags.compatibility)
def check_time_zones(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Dates are stored, compared and sent with their zone (contract section 2)."""
    if settings.USE_TZ:
        return []
    return [Error("Messages need dates with a time zone.", hint="Set USE_TZ = True.", id="memory.E006")]


@register(Tags.compatibility)
def check_sqlite(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """SQLite serves several writers only with a write-ahead log and transactions that begin as writers."""
    problems: list[CheckMessage] = []
    for alias in _our_databases(connections):
        if connections[alias].vendor != "sqlite":
            continue
        options = connections[alias].settings_dict.get("OPTIONS", {})
        immediate = str(options.get("transaction_mode", "")).upper() == "IMMEDIATE"
        if immediate and "wal" in str(options.get("init_command", "")).lower():
            continue
        problems.append(
            Warning(
                f"The SQLite database {alias!r} is not set up for several writers at once.",
                hint=f"Set DATABASES[{alias!r}]['OPTIONS'] = {{'transaction_mode': 'IMMEDIATE', "
                "'timeout': 20, 'init_command': 'PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;'}.",
                id="memory.W001",
            )
        )
    return problems


@register(Tags.database)
def check_spaces(
    app_configs: Sequence[AppConfig] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """The stored vectors are those of the configured embedders."""
    problems: list[CheckMessage] = []
    for alias in _our_databases(databases or ()):
        active = EmbeddingSpace.objects.using(alias).filter(state=EmbeddingSpace.State.ACTIVE)
        try:
            spaces = list(active)
        except DatabaseError:
            # Before the first migration there is no table.
            continue
        problems += [problem for space in spaces if (problem := _wrong_space(space))]
    return problems


@register(Tags.database)
def check_words(
    app_configs: Sequence[AppConfig] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """The word index is there, with all its parts. No error, as `migrate` mends it and refuses errors."""
    words = message_words()
    return [
        Warning(
            f"The word index of the database {alias!r} lacks {', '.join(missing)}.",
            hint="Run `manage.py migrate`, which makes it anew: with a million messages that takes minutes, "
            "in which messages cannot be written.",
            id="memory.W003",
        )
        for alias in _our_databases(databases or ())
        # Before the first migration there is no table.
        if words.table in connections[alias].introspection.table_names()
        and (missing := words.missing(connections[alias]))
    ]


def _wrong_space(space: EmbeddingSpace) -> CheckMessage | None:
    try:
        problem = mismatch(space, embedders[space.alias])
    except SemanticRecallNotConfigured:
        return Warning(
            f"The embedding space {space.alias!r} holds vectors, but no embedder of this name is configured: "
            "new messages are not embedded in it.",
            hint=f"Add it to {SETTING}['EMBEDDERS'], and run `manage.py embed_messages --missing`.",
            id="memory.W002",
        )
    except ImproperlyConfigured:
        # check_settings tells.
        return None
    return Error(problem, id="memory.E005") if problem else None


def _our_databases(aliases: Iterable[str]) -> list[str]:
    return [alias for alias in aliases if router.allow_migrate_model(alias, EmbeddingSpace)]


def _unknown_keys(given: Mapping[str, Any]) -> list[CheckMessage]:
    known = [field.name for field in fields(MemorySettings)]
    problems: list[CheckMessage] = []
    for key in given:
        if key not in known:
            close = difflib.get_close_matches(str(key), known, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Known are {', '.join(known)}."
            problems.append(Error(f"{SETTING}[{key!r}] is unknown.", hint=hint, id="memory.E001"))
    return problems


def _wrong_values() -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    for name in LIMITS:
        value: object = getattr(memory_settings, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            problems.append(
                Error(f"{SETTING}[{name!r}] must be a positive integer, not {value!r}.", id="memory.E002")
            )
    if memory_settings.EMBED not in ("inline", "command"):
        problems.append(
            Error(
                f"{SETTING}['EMBED'] must be 'inline' or 'command', not {memory_settings.EMBED!r}.",
                id="memory.E002",
            )
        )
    problems += [
        Error(f"{SETTING}[{name!r}] must be the dotted path of a {kind}.", id="memory.E002")
        for name, kind in PATHS.items()
        if not isinstance(getattr(memory_settings, name), str)
    ]
    log_reads: object = memory_settings.ADMIN_LOG_READS
    if not isinstance(log_reads, bool):
        problems.append(Error(f"{SETTING}['ADMIN_LOG_READS'] must be True or False.", id="memory.E002"))
    problems += _wrong_rates()
    problems += [
        Error(f"{SETTING}[{name!r}] must be a dict of dicts.", id="memory.E002")
        for name in ("AGENTS", "EMBEDDERS")
        if not _is_nested(getattr(memory_settings, name))
    ]
    return problems


def _wrong_rates() -> list[CheckMessage]:
    rates: object = memory_settings.HTTP_THROTTLE_RATES
    allowed = f"{SETTING}['HTTP_THROTTLE_RATES'] must map 'recall' and 'search' to rates such as '60/min'"
    if not isinstance(rates, Mapping):
        return [Error(f"{allowed}.", id="memory.E002")]
    return [
        Error(f"{allowed}, not {scope!r}: {rate!r}.", id="memory.E002")
        for scope, rate in rates.items()
        if scope not in THROTTLED or not isinstance(rate, str) or not RATE.fullmatch(rate)
    ]


def _wrong_agents() -> list[CheckMessage]:
    if not _is_nested(memory_settings.AGENTS):
        return []
    problems: list[CheckMessage] = []
    for agent, options in memory_settings.AGENTS.items():
        path = f"{SETTING}['AGENTS'][{agent!r}]"
        try:
            config = MemoryConfig.of((path, options))
        except RecallError as error:
            problems += [Error(str(issue), id="memory.E003") for issue in error.issues]
            continue
        if config.semantic_recall and config.semantic_recall.index_name not in embedders:
            problems.append(
                Error(
                    f"{path} has semantic recall on, but no embedder {config.semantic_recall.index_name!r} "
                    "is configured.",
                    hint=f"Add it to {SETTING}['EMBEDDERS'], or set 'semantic_recall' to False.",
                    id="memory.E004",
                )
            )
    return problems


def _wrong_embedders() -> list[CheckMessage]:
    if not _is_nested(memory_settings.EMBEDDERS):
        return []
    problems: list[CheckMessage] = []
    for alias in embedders:
        try:
            problems += embedders[alias].check()
        except ImproperlyConfigured as error:
            problems.append(Error(str(error), id="memory.E004"))
    return problems


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(entry, Mapping) for entry in value.values())
