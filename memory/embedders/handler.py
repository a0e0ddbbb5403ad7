"""`embedders["default"]`: the embedders of the `MEMORY` setting by alias, as `caches` and `connections`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.connection import BaseConnectionHandler
from django.utils.module_loading import import_string

from memory.conf import SETTING, memory_settings
from memory.embedders.base import BaseEmbedder, MissingPackage
from memory.exceptions import SemanticRecallNotConfigured

if TYPE_CHECKING:
    Handler = BaseConnectionHandler[BaseEmbedder]
else:
    Handler = BaseConnectionHandler

# What the table of embedding spaces holds.
MAX_ALIAS_LENGTH, MAX_MODEL_LENGTH = 64, 255

EXAMPLE = "Name an embedder class, for example 'memory.embedders.OpenAIEmbedder'."


class EmbedderHandler(Handler):
    """The embedders by alias, each made when it is first asked for.

    `embedders[alias]` returns one instance for all threads: weights are large, and an embedder is
    safe to share. Iteration and `in` go by the configured aliases and make nothing.
    """

    exception_class = SemanticRecallNotConfigured

    def __init__(self) -> None:
        super().__init__()
        # In place of the parent's one set of instances for each thread.
        self._connections: Any = SimpleNamespace()
        # Re-entrant: an embedder may wrap the one of another alias.
        self._making = threading.RLock()

    def configure_settings(self, settings: Mapping[str, Any] | None) -> dict[str, Any]:
        """The entries of `MEMORY["EMBEDDERS"]` as they are now; :meth:`reset` lets them be read again."""
        return dict(memory_settings.EMBEDDERS)

    def __getitem__(self, alias: str) -> BaseEmbedder:
        """The embedder of `alias`.

        Raises:
            SemanticRecallNotConfigured: no such alias is configured.
            ImproperlyConfigured: its entry names no usable class, or options that the class refuses.
        """
        if alias not in self:
            raise self.exception_class(self._unknown(alias))
        with self._making:
            return super().__getitem__(alias)

    def __contains__(self, alias: object) -> bool:
        return alias in self.settings

    def create_connection(self, alias: str) -> BaseEmbedder:
        """Make the embedder of `alias` from its BACKEND and OPTIONS."""
        where = f"MEMORY['EMBEDDERS'][{alias!r}]"
        entry = self.settings[alias]
        if not isinstance(entry, Mapping):
            raise ImproperlyConfigured(f"{where} must be a dictionary with BACKEND and OPTIONS.")
        backend = self._backend(entry.get("BACKEND"), f"{where}['BACKEND']")
        try:
            embedder = backend(**(entry.get("OPTIONS") or {}))
        except MissingPackage as error:
            raise ImproperlyConfigured(f"{where}['BACKEND']: {error}") from error
        except (ImproperlyConfigured, TypeError) as error:
            raise ImproperlyConfigured(f"{where}['OPTIONS']: {error}") from error
        except Exception as error:  # whatever a backend of the site may raise
            raise ImproperlyConfigured(f"{where}: {type(error).__name__}: {error}") from error
        model, dimensions = getattr(embedder, "model", None), getattr(embedder, "dimensions", None)
        if (
            not isinstance(model, str)
            or not 0 < len(model) <= MAX_MODEL_LENGTH
            or len(alias) > MAX_ALIAS_LENGTH
        ):
            raise ImproperlyConfigured(
                f"{where}: the embedder needs a `model` of at most {MAX_MODEL_LENGTH} characters, and the "
                f"alias has at most {MAX_ALIAS_LENGTH}."
            )
        if not isinstance(dimensions, int) or dimensions < 1:
            raise ImproperlyConfigured(
                f"{where}: the embedder needs `dimensions`, the length of its vectors."
            )
        return embedder

    def forget(self) -> None:
        """Empty the caches of the vectors that were made last, in this process."""
        with self._making:
            made = list(vars(self._connections).values())
        for embedder in made:
            embedder.cache.clear()

    def reset(self) -> None:
        """Close and forget all embedders; the settings are read again."""
        with self._making:
            made = list(vars(self._connections).values())
            self._connections = SimpleNamespace()
            self.__dict__.pop("settings", None)
        for embedder in made:
            embedder.close()

    def _backend(self, path: object, where: str) -> type[BaseEmbedder]:
        if not isinstance(path, str) or not path:
            raise ImproperlyConfigured(f"{where} is missing. {EXAMPLE}")
        try:
            backend = import_string(path)
        except (ImportError, TypeError, ValueError) as error:  # the latter two for paths such as ".Name"
            package = error.name if isinstance(error, ModuleNotFoundError) else None
            foreign = package is not None and not path.startswith(f"{package}.")
            todo = f"Install the package {package!r}." if foreign else EXAMPLE
            raise ImproperlyConfigured(f"{where} = {path!r} cannot be imported: {error}. {todo}") from error
        if not isinstance(backend, type) or not issubclass(backend, BaseEmbedder):
            raise ImproperlyConfigured(f"{where} = {path!r} is not a subclass of BaseEmbedder. {EXAMPLE}")
        return backend

    def _unknown(self, alias: str) -> str:
        known = ", ".join(map(repr, self))
        if known:
            return f"There is no embedder {alias!r}. MEMORY['EMBEDDERS'] has: {known}."
        return (
            f"There is no embedder {alias!r}: MEMORY['EMBEDDERS'] is empty. Add one, for example "
            "{'default': {'BACKEND': 'memory.embedders.LocalEmbedder'}}."
        )


embedders = EmbedderHandler()


def _reset(*, setting: str, **kwargs: Any) -> None:
    if setting == SETTING:
        embedders.reset()


setting_changed.connect(_reset, dispatch_uid="memory.embedders.reset")
