"""An agent by name, and its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

from memory.conf import memory_settings
from memory.exceptions import RecallError
from memory.recall import MemoryConfig

if TYPE_CHECKING:
    from memory.recall.config import Layer


class Agent:
    """What every part of the facade knows."""

    def __init__(self, agent: str = "default", *, using: str | None = None, **options: Any) -> None:
        self.agent = agent
        self.using = using
        self.options = options

    def __repr__(self) -> str:
        return f"Memory({self.agent!r})"

    def config(self, thread_config: Mapping[str, Any] | None = None) -> MemoryConfig:
        """The configuration of one call: the agent's, the options of this facade, those of the call.

        Raises:
            RecallError: wrong options.
            ImproperlyConfigured: the agent is unknown or configured wrongly.
        """
        return MemoryConfig.of(*self.layers(), ("thread_config", thread_config))

    def layers(self) -> list[Layer]:
        """What lies below the options of a call."""
        agents = {"default": {}, **memory_settings.AGENTS}
        if self.agent not in agents:
            raise ImproperlyConfigured(
                f"MEMORY['AGENTS'] has no agent {self.agent!r}. Known are {', '.join(sorted(agents))}."
            )
        configured = (f"MEMORY['AGENTS'][{self.agent!r}]", agents[self.agent])
        try:
            MemoryConfig.of(configured)
        except RecallError as error:
            raise ImproperlyConfigured(str(error)) from error
        return [configured, ("options", self.options)]
