"""The parameters of one recall, validated as a whole before any query (contract section 2, rule 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from memory.conf import memory_settings
from memory.recall.config import Layer, MemoryConfig
from memory.recall.filters import MessageFilter
from memory.recall.keyset import Keyset
from memory.validation import MAX_INTEGER, Check, Given

ORDER = ("field", "direction")
DIRECTIONS = ("ASC", "DESC")


@dataclass(frozen=True, slots=True, kw_only=True)
class Include:
    """A message named by the caller, with the number of its neighbours (rule 5)."""

    uid: str
    thread_uid: str | None = None
    before: int = 0
    after: int = 0

    @classmethod
    def read(cls, check: Check, value: Any, path: str) -> Include | None:
        known = len(check.issues)
        names = ("id", "thread_id", "with_previous_messages", "with_next_messages")
        given = check.mapping(value, path, names)
        options: dict[str, Any] = {}
        if "id" in given:
            options["uid"] = check.identifier(*given["id"])
        elif len(check.issues) == known:
            check.fail(f"{path}.id", "is required")
        if "thread_id" in given and given["thread_id"].value is not None:
            options["thread_uid"] = check.identifier(*given["thread_id"])
        for name, side in (("with_previous_messages", "before"), ("with_next_messages", "after")):
            if name in given and given[name].value is not None:
                options[side] = check.integer(*given[name], maximum=memory_settings.MAX_WINDOW)
        return cls(**options) if len(check.issues) == known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """What :meth:`MessageManager.recall` is asked.

    Attributes:
        thread_uid, resource_uid: the thread, and its owner where the caller named one.
        search: the search string if a search runs, else None.
        per_page: messages a page; False = all; 0 = no history.
        page: number of the page, from 0.
        include: messages named by the caller.
        filter: restricts history and hits.
        descending: newest first.
        config: the agent's configuration with the call's `thread_config` merged over it.
        max_unpaged: most messages that `per_page=False` may read; None = any number.
        thread_required: the thread must exist, also where no owner was named.
        keyset: where the page begins, instead of at its number.
    """

    thread_uid: str
    resource_uid: str | None
    search: str | None
    per_page: int | Literal[False]
    page: int
    include: tuple[Include, ...]
    filter: MessageFilter
    descending: bool
    config: MemoryConfig
    max_unpaged: int | None = None
    thread_required: bool = False
    keyset: Keyset | None = None

    @classmethod
    def read(
        cls,
        *,
        thread_id: Any,
        resource_id: Any = None,
        vector_search_string: Any = None,
        per_page: Any = None,
        page: Any = None,
        include: Any = None,
        filter: Any = None,
        order_by: Any = None,
        layers: Iterable[Layer] = (),
        check: Check | None = None,
        **limits: Any,
    ) -> RecallRequest:
        """Validate all parameters; `layers` are those of the configuration.

        Args:
            check: how names and dates are read; default as Python writes them.
            limits: `max_unpaged` and `thread_required`.

        Raises:
            RecallError: with one issue for each thing that is wrong.
        """
        check = check or Check()
        # Options have both spellings everywhere, and the layers below the call's are the site's.
        options = Check()
        config = MemoryConfig.merge(options, layers)
        check.issues += options.issues
        thread_uid = check.identifier(thread_id, "thread_id")
        resource_uid = None if resource_id is None else check.identifier(resource_id, "resource_id")
        search = _read_search(check, vector_search_string, config)
        if per_page is None:
            per_page = config.last_messages
        else:
            per_page = check.integer(per_page, "per_page", or_false=True)
        page = 0 if page is None else check.integer(page, "page")
        if per_page is False and page:
            check.fail("page", "must be 0 when per_page is false: there is one page of everything")
        elif page and per_page and (page + 1) * per_page > MAX_INTEGER:
            check.fail("page", "is beyond what a database can count")
        items = [] if include is None else read_includes(check, include, "include")
        message_filter = MessageFilter.read(check, filter)
        _, descending = read_order(check, order_by, "order_by", ("created_at",))
        check.finish()
        return cls(
            thread_uid=thread_uid or "",
            resource_uid=resource_uid,
            search=search,
            per_page=per_page,
            page=page or 0,
            include=tuple(items),
            filter=message_filter,
            descending=descending,
            config=config,
            **limits,
        )


def read_includes(check: Check, value: Any, path: str) -> list[Include]:
    """Messages named by the caller."""
    elements = check.sequence(value, path, maximum=memory_settings.MAX_INCLUDES)
    items = [Include.read(check, *element) for element in elements]
    return [item for item in items if item is not None]


def _read_search(check: Check, value: Any, config: MemoryConfig) -> str | None:
    """The search string; a blank one, or semantic recall switched off, means no search (rule 6)."""
    text = None if value is None else check.text(value, "vector_search_string")
    return text if text and text.strip() and config.semantic_recall else None


def read_order(check: Check, value: Any, path: str, fields: Iterable[str]) -> tuple[str, bool]:
    """The field, and True for descending: the first of `fields`, newest first, where a half or the whole
    object is missing (rule 4)."""
    fields = tuple(fields)
    if value is None:
        return fields[0], True
    given = check.mapping(value, path, ORDER)
    spellings = check.spellings(fields)
    field = check.choice(*given.get("field", Given(next(iter(spellings)), path)), spellings)
    direction = check.choice(*given.get("direction", Given("DESC", path)), DIRECTIONS)
    return spellings.get(field or "", fields[0]), direction != "ASC"
