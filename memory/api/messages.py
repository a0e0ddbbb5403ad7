"""Messages: the pages of a thread, saving, deleting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.response import Response

from memory.api import parameters, serializers
from memory.api.base import MemoryViewSet, config_of, is_agent
from memory.api.serializers import shape
from memory.content.reminders import is_system_reminder
from memory.models import Message
from memory.recall import RecallRequest
from memory.validation import Check

if TYPE_CHECKING:
    from rest_framework.request import Request


class ThreadMessageViewSet(MemoryViewSet):
    """A page of a thread. Its order hangs on `agentId` (`http.md`, section 2):

    - the name of an agent: page 0 holds the newest messages, or with `orderBy` ASC the oldest; every page
      stands oldest first, and system reminders are hidden unless asked for;
    - none, or an unknown one: as `orderBy` says, by default oldest first, with everything shown.
    """

    def list(self, request: Request, **path: Any) -> Response:
        query = self.read_query(parameters.MessageListQuery)
        agent_id, show = query.pop("agent_id", None), query.pop("include_system_reminders")
        for_agent = agent_id is not None and is_agent(agent_id)
        order = {"direction": "DESC" if for_agent else "ASC"} | query.pop("order_by", {})
        request_ = RecallRequest.read(
            thread_id=self.thread_id,
            order_by=order,
            **query,
            check=Check(wire=True, strict=False),
            thread_required=True,
        )
        result = Message.objects.answer(request_, owners=self.access.owners)
        messages = result.chronological() if for_agent else result.messages
        if for_agent and not show:
            messages = [
                message
                for message in messages
                if not is_system_reminder(message.role, message.body, message.metadata)
            ]
        page = {
            "messages": messages,
            "total": result.total,
            "page": result.page,
            "per_page": result.per_page,
            "has_more": result.has_more,
        }
        return Response(shape(serializers.MessagePageShape, page))


class SaveMessagesViewSet(MemoryViewSet):
    def create(self, request: Request) -> Response:
        query = self.read_query(parameters.AgentQuery)
        messages = self.read_body(serializers.SaveBody)["messages"]
        config_of(query.get("agent_id"))
        for owner in {message.resource_uid for message in messages}:
            self.access.check(owner)
        stored = Message.objects.store(messages, owners=self.access.owners)
        return Response(shape(serializers.SavedShape, {"messages": stored}))


class DeleteMessagesViewSet(MemoryViewSet):
    def create(self, request: Request) -> Response:
        query = self.read_query(parameters.DeleteMessagesQuery)
        ids = self.read_body(serializers.DeleteMessagesBody)["message_ids"]
        Message.objects.delete_messages(
            ids, resource_id=query.get("resource_id"), owners=self.access.owners, refuse=True
        )
        text = f"{len(ids)} message{'' if len(ids) == 1 else 's'} deleted successfully"
        return Response(shape(serializers.SuccessShape, {"success": True, "message": text}))
