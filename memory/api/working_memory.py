"""The working memory of a thread or of its resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.response import Response

from memory.api import parameters, serializers
from memory.api.base import MemoryViewSet, config_of, is_agent
from memory.api.serializers import shape
from memory.models import WorkingMemory
from memory.recall.template import template_of

if TYPE_CHECKING:
    from rest_framework.request import Request


class WorkingMemoryViewSet(MemoryViewSet):
    renamed = {"value": "workingMemory", "options": "memoryConfig", "thread_config": "memoryConfig"}

    def list(self, request: Request, **path: Any) -> Response:
        query = self.read_query(parameters.WorkingMemoryQuery)
        resource_id = query.get("resource_id")
        answer: dict[str, Any] = {
            "working_memory": None,
            "source": "thread",
            "working_memory_template": None,
            "thread_exists": False,
        }
        if is_agent(query.get("agent_id")):
            config = config_of(query.get("agent_id"), query.get("memory_config")).working_memory
            state = WorkingMemory.objects.get_state(
                config=config,
                thread_id=self.thread_id,
                resource_id=resource_id,
                owners=self.access.owners,
            )
            answer |= {
                "working_memory": state.value,
                "source": "thread" if config.scope == "thread" or resource_id is None else "resource",
                "working_memory_template": template_of(config),
                "thread_exists": state.thread_exists,
            }
        return Response(shape(serializers.WorkingMemoryShape, answer))

    def create(self, request: Request, **path: Any) -> Response:
        query = self.read_query(parameters.AgentQuery)
        body = self.read_body(serializers.WorkingMemoryBody)
        WorkingMemory.objects.update_value(
            body["working_memory"],
            config=config_of(query.get("agent_id"), body.get("memory_config")).working_memory,
            thread_id=self.thread_id,
            resource_id=body.get("resource_id"),
            thread_required=True,
            owners=self.access.owners,
        )
        return Response(shape(serializers.SuccessShape, {"success": True}))
