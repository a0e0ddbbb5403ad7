"""The ``MEMORY`` setting: one typed object, every default with its reason.

``docs/settings.md`` says the same to users; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, cast

from django.conf import settings
from django.core.signals import setting_changed
from django.utils.functional import SimpleLazyObject, empty

SETTING = "MEMORY"


@dataclass(frozen=True, kw_only=True)
class MemorySettings:
    """Typed view of ``settings.MEMORY``. Unknown keys are ignored here and reported by the system checks."""

    # Named memory configurations: {"support": {"last_messages": 20, "semantic_recall": True}}.
    # "default" always exists, with the defaults of the contract where it is not given.
    AGENTS: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    # Embedders by alias: {"default": {"BACKEND": "memory.embedders.OpenAIEmbedder", "OPTIONS": {...}}}.
    # An alias names an embedding space. Empty: nothing is embedded and no search can run.
    EMBEDDERS: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    # When messages are embedded: "inline" = right after the commit that saved them, in the same process;
    # "command" = only when `manage.py embed_messages` runs (from cron, for example).
    EMBED: Literal["inline", "command"] = "inline"

    # Most vectors that each embedder keeps in memory, so that a question which becomes a message is embedded
    # once. 0 = none.
    EMBEDDING_CACHE: int = 1_000

    # Which resources the caller of a request over HTTP may touch: dotted path of a function that takes the
    # request and answers a `memory.api.access.Access`.
    RESOURCE_RESOLVER: str = "memory.api.access.resolve_resources"

    # Most threads or messages a page over HTTP.
    HTTP_MAX_PER_PAGE: int = 1_000

    # Most messages of a `perPage: false` over HTTP; a thread with more has to be read in pages.
    HTTP_MAX_UNPAGED: int = 10_000

    # Largest body of a request over HTTP, in bytes.
    HTTP_MAX_BODY: int = 4_718_592

    # Rates at which one caller may recall and search over HTTP: {"recall": "60/min", "search": "30/min"},
    # in the form Django REST Framework knows. A route that is not named is not throttled.
    HTTP_THROTTLE_RATES: Mapping[str, str] = field(default_factory=dict)

    # Base class of the admin classes: dotted path of `ModelAdmin` or of a class derived from it.
    ADMIN_BASE: str = "django.contrib.admin.ModelAdmin"

    # Whose data a member of the staff sees in the admin: dotted path of a function that takes the request and
    # answers the ids of resources, or None for all.
    ADMIN_RESOURCES: str = "memory.admin.owners.all_resources"

    # Whether reading conversations and searching in the admin is recorded, as `AdminEvent`.
    ADMIN_LOG_READS: bool = False

    # Most milliseconds one statement of a page of the admin may take, on PostgreSQL.
    ADMIN_TIMEOUT: int = 3_000

    # Most distinct messages one search may return.
    MAX_TOP_K: int = 1_000

    # Most neighbours on each side of an included message or of a hit.
    MAX_WINDOW: int = 1_000

    # Most messages one recall may name in `include`.
    MAX_INCLUDES: int = 1_000

    # Most messages in one call of save_messages, update_messages, delete_messages or get_messages.
    MAX_MESSAGES: int = 10_000

    # Longest text of a message, a title, a search string or a working memory, in characters.
    MAX_TEXT: int = 1_000_000

    # Largest metadata of a message or thread, in bytes of JSON.
    MAX_METADATA: int = 4 * 1024 * 1024

    # Most parts of one message.
    MAX_PARTS: int = 10_000

    # Deepest nesting of the JSON of a message or of metadata.
    MAX_JSON_DEPTH: int = 100

    @classmethod
    def load(cls) -> MemorySettings:
        """Read ``settings.MEMORY`` as it is now."""
        given = getattr(settings, SETTING, {})
        if not isinstance(given, Mapping):  # check memory.E001 tells
            given = {}
        known = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in given.items() if name in known})


memory_settings = cast("MemorySettings", SimpleLazyObject(MemorySettings.load))


def _reload(*, setting: str, **kwargs: Any) -> None:
    if setting == SETTING:
        memory_settings._wrapped = empty  # type: ignore[attr-defined]


setting_changed.connect(_reload, dispatch_uid="memory.conf.reload")
