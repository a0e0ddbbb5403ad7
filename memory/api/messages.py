"""Messages: the pages of a thread, saving, deleting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.api import answers, bodies, parameters
from memory.api.base import MemoryViewSet, config_of, is_agent
from memory.api.errors import AgentNotFound, ResourceNotFound
from memory.api.operations import operation
from memory.content.reminders import is_system_reminder
from memory.exceptions import MessageConflict, RowsProtected, ThreadNotFound, ThreadNotOwned
from memory.models import Message
from memory.recall import RecallRequest
from memory.validation import Check

if TYPE_CHECKING:
    from memory.api.operations import Values


class ThreadMessageViewSet(MemoryViewSet):
    """The order of the messages hangs on `agentId`:

    - the name of an agent: page 0 holds the newest messages, or with `orderBy` ASC the oldest; every page
      stands oldest first, and system reminders are hidden unless asked for;
    - none, or an unknown one: as `orderBy` says, by default oldest first, with everything shown.
    """

    @operation(
        query=parameters.MessageListQuery,
        answer=answers.MessagePageShape,
        raises=(ResourceNotFound, ThreadNotFound, ThreadNotOwned),
    )
    def list(self, query: Values) -> Values:
        """A page of the messages of a thread."""
        agent_id, show = query.pop("agent_id", None), query.pop("include_system_reminders")
        for_agent = agent_id is not None and is_agent(agent_id)
        order = {"direction": "DESC" if for_agent else "ASC"} | query.pop("order_by", {})
        wanted = RecallRequest.read(
            thread_id=self.thread_id,
            order_by=order,
            **query,
            check=Check(wire=True, strict=False),
            thread_required=True,
        )
        result = Message.objects.answer(wanted, owners=self.access.owners)
        messages = result.chronological() if for_agent else result.messages
        if for_agent and not show:
            messages = [
                message
                for message in messages
                if not is_system_reminder(message.role, message.body, message.metadata)
            ]
        return {
            "messages": messages,
            "total": result.total,
            "page": result.page,
            "per_page": result.per_page,
            "has_more": result.has_more,
        }


class SaveMessagesViewSet(MemoryViewSet):
    @operation(
        query=parameters.AgentQuery,
        body=bodies.SaveBody,
        answer=answers.SavedShape,
        raises=(AgentNotFound, ResourceNotFound, ThreadNotFound, ThreadNotOwned, MessageConflict),
    )
    def create(self, query: Values, body: Values) -> Values:
        """Store messages, all or none; those of a known id are written over in place."""
        messages = body["messages"]
        config_of(query.get("agent_id"))
        for owner in {message.resource_uid for message in messages}:
            self.access.check(owner)
        return {"messages": Message.objects.store(messages, owners=self.access.owners)}


class DeleteMessagesViewSet(MemoryViewSet):
    @operation(
        query=parameters.DeleteMessagesQuery,
        body=bodies.DeleteMessagesBody,
        answer=answers.SuccessShape,
        raises=(ResourceNotFound, RowsProtected),
    )
    def create(self, query: Values, body: Values) -> Values:
        """Delete messages with their vectors; unknown ids are passed over."""
        ids = body["message_ids"]
        Message.objects.delete_messages(
            ids, resource_id=query.get("resource_id"), owners=self.access.owners, refuse=True
        )
        text = f"{len(ids)} message{'' if len(ids) == 1 else 's'} deleted successfully"
        return {"success": True, "message": text}
