"""What a client may ask about the memory itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from memory.api import answers, bodies, parameters
from memory.api.base import MemoryViewSet, config_of, is_agent
from memory.api.errors import AgentNotFound, ResourceNotFound
from memory.api.operations import operation
from memory.exceptions import RecallError

if TYPE_CHECKING:
    from memory.api.operations import Values
    from memory.recall import MemoryConfig, SemanticRecallConfig


class StatusViewSet(MemoryViewSet):
    @operation(query=parameters.StatusQuery, answer=answers.StatusShape, raises=(ResourceNotFound,))
    def list(self, query: Values) -> Values:
        """Tell that there is a memory."""
        known = is_agent(query.get("agent_id"))
        return {"result": True, "memory_type": "local"} if known else {"result": True}


class ConfigViewSet(MemoryViewSet):
    @operation(query=parameters.AgentQuery, answer=answers.ConfigShape)
    def list(self, query: Values) -> Values:
        """Tell how the memory of an agent is configured; null for an unknown agent."""
        agent_id = query.get("agent_id")
        return {"config": describe(config_of(agent_id)) if is_agent(agent_id) else None}


class ObservationViewSet(MemoryViewSet):
    """Observational memory, a feature of another product: the arguments are checked, then it is off."""

    @operation(
        query=parameters.ObservationQuery,
        answer=None,
        raises=(AgentNotFound, ResourceNotFound),
    )
    def list(self, query: Values) -> NoReturn:
        """Not offered: always 400."""
        config_of(query.get("agent_id"))
        raise _off()


class BufferStatusViewSet(MemoryViewSet):
    @operation(
        body=bodies.BufferStatusBody,
        answer=None,
        raises=(AgentNotFound, ResourceNotFound),
    )
    def create(self, body: Values) -> NoReturn:
        """Not offered: always 400."""
        config_of(body["agent_id"])
        raise _off()


def _off() -> RecallError:
    return RecallError.at("agent_id", "has no observational memory: this server does not offer it")


def describe(config: MemoryConfig) -> dict[str, Any]:
    """A configuration in the wire's names."""
    memory = config.working_memory
    working: dict[str, Any] = {"enabled": memory.enabled, "scope": memory.scope}
    if memory.template is not None:
        working["template"] = memory.template
    if memory.schema is not None:
        working["schema"] = memory.schema
    return {
        "lastMessages": config.last_messages or False,
        "semanticRecall": config.semantic_recall is not None and _describe_search(config.semantic_recall),
        "generateTitle": config.generate_title is not None,
        "workingMemory": working,
        "readOnly": config.read_only,
    }


def _describe_search(config: SemanticRecallConfig) -> dict[str, Any]:
    search = {
        "topK": config.top_k,
        "messageRange": {"before": config.before, "after": config.after},
        "scope": config.scope,
        "indexName": config.index_name,
    }
    return search if config.threshold is None else {**search, "threshold": config.threshold}
