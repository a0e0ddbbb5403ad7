"""The working memory of a thread or of its resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.api import answers, bodies, parameters
from memory.api.base import MemoryViewSet, config_of, is_agent
from memory.api.errors import AgentNotFound, ResourceNotFound
from memory.api.operations import operation
from memory.exceptions import ThreadNotFound, ThreadNotOwned, WorkingMemoryDisabled
from memory.models import WorkingMemory
from memory.recall.template import template_of

if TYPE_CHECKING:
    from memory.api.operations import Values


class WorkingMemoryViewSet(MemoryViewSet):
    renamed = {"value": "workingMemory", "options": "memoryConfig", "thread_config": "memoryConfig"}

    @operation(
        query=parameters.WorkingMemoryQuery,
        answer=answers.WorkingMemoryShape,
        raises=(ResourceNotFound, ThreadNotOwned),
    )
    def list(self, query: Values) -> Values:
        """Read the working memory that a thread sees."""
        resource_id = query.get("resource_id")
        answer: Values = {
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
        return answer

    @operation(
        query=parameters.AgentQuery,
        body=bodies.WorkingMemoryBody,
        answer=answers.SuccessShape,
        raises=(AgentNotFound, ResourceNotFound, ThreadNotFound, ThreadNotOwned, WorkingMemoryDisabled),
    )
    def create(self, query: Values, body: Values) -> Values:
        """Replace the working memory that a thread sees."""
        WorkingMemory.objects.update_value(
            body["working_memory"],
            config=config_of(query.get("agent_id"), body.get("memory_config")).working_memory,
            thread_id=self.thread_id,
            resource_id=body.get("resource_id"),
            thread_required=True,
            owners=self.access.owners,
        )
        return {"success": True}
