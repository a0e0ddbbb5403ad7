"""What a client may ask about the memory itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.response import Response

from memory.api import parameters, serializers
from memory.api.base import MemoryViewSet, config_of, is_agent
from memory.api.serializers import shape
from memory.exceptions import RecallError

if TYPE_CHECKING:
    from rest_framework.request import Request

    from memory.recall import MemoryConfig, SemanticRecallConfig


class StatusViewSet(MemoryViewSet):
    def list(self, request: Request) -> Response:
        query = self.read_query(parameters.StatusQuery)
        answer: dict[str, Any] = {"result": True}
        if is_agent(query.get("agent_id")):
            answer["memory_type"] = "local"
        return Response(shape(serializers.StatusShape, answer))


class ConfigViewSet(MemoryViewSet):
    def list(self, request: Request) -> Response:
        query = self.read_query(parameters.AgentQuery)
        agent_id = query.get("agent_id")
        config = describe(config_of(agent_id)) if is_agent(agent_id) else None
        return Response(shape(serializers.ConfigShape, {"config": config}))


class ObservationViewSet(MemoryViewSet):
    """Observational memory, a feature of another product: the arguments are checked, then it is off."""

    def list(self, request: Request) -> Response:
        config_of(self.read_query(parameters.ObservationQuery).get("agent_id"))
        raise _off()


class BufferStatusViewSet(MemoryViewSet):
    def create(self, request: Request) -> Response:
        config_of(self.read_body(serializers.BufferStatusBody)["agent_id"])
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
