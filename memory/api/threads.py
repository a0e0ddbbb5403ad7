"""Threads: list, make, read, change, delete, clone, transfer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.decorators import action

from memory.api import answers, bodies, parameters
from memory.api.base import MemoryViewSet, config_of
from memory.api.errors import AgentNotFound, ResourceNotFound
from memory.api.operations import operation
from memory.exceptions import (
    MessageConflict,
    ResourceConflict,
    RowsProtected,
    ThreadConflict,
    ThreadNotFound,
    ThreadNotOwned,
)
from memory.models import Thread
from memory.recall import DateRange

if TYPE_CHECKING:
    from memory.api.operations import Values
    from memory.recall import CloneResult, ThreadPage
    from memory.schema import Thread as ThreadRow


class MirroredThreadViewSet(MemoryViewSet):
    """What both paths of threads offer."""

    lookup_url_kwarg = "thread_id"
    lookup_value_regex = "[^/]+"

    @operation(query=parameters.ThreadListQuery, answer=answers.ThreadPageShape, raises=(ResourceNotFound,))
    def list(self, query: Values) -> ThreadPage:
        """List threads, the newest first."""
        query.pop("agent_id", None)
        return Thread.objects.list_threads(**query, owners=self.access.owners)

    @operation(
        query=parameters.AgentQuery,
        body=bodies.ThreadBody,
        answer=answers.ThreadShape,
        raises=(AgentNotFound, ResourceNotFound, ThreadConflict, ResourceConflict),
    )
    def create(self, query: Values, body: Values) -> ThreadRow:
        """Make a thread, or change the one of this id: what is given is written, metadata is merged."""
        return Thread.objects.create_thread(
            **body,
            working_memory=config_of(query.get("agent_id")).working_memory,
            user=self.access.creator(body["resource_id"]),
        )

    @operation(
        query=parameters.OwnerQuery,
        answer=answers.ThreadShape,
        raises=(ResourceNotFound, ThreadNotFound, ThreadNotOwned),
    )
    def retrieve(self, query: Values) -> ThreadRow:
        """Read a thread."""
        thread = Thread.objects.get_thread(self.thread_id, owners=self.access.owners)
        if thread is None:
            raise ThreadNotFound(self.thread_id)
        if query.get("resource_id") not in (None, thread.resource.uid):
            raise ThreadNotOwned(self.thread_id)
        return thread

    @operation(
        query=parameters.AgentQuery,
        body=bodies.ThreadChanges,
        body_optional=True,
        answer=answers.ThreadShape,
        raises=(AgentNotFound, ResourceNotFound, ThreadNotFound, ThreadNotOwned),
    )
    def partial_update(self, query: Values, body: Values) -> ThreadRow:
        """Change a thread's title or metadata, which replaces the present metadata."""
        return Thread.objects.update_thread(
            self.thread_id,
            **body,
            replace_metadata=True,
            working_memory=config_of(query.get("agent_id")).working_memory,
            owners=self.access.owners,
        )

    @operation(
        query=parameters.OwnerQuery,
        answer=answers.ResultShape,
        raises=(AgentNotFound, ResourceNotFound, ThreadNotFound, ThreadNotOwned, RowsProtected),
    )
    def destroy(self, query: Values) -> Values:
        """Delete a thread with its messages, their vectors and its working memory."""
        config_of(query.get("agent_id"))
        Thread.objects.delete_thread(
            self.thread_id,
            missing_ok=False,
            resource_id=query.get("resource_id"),
            owners=self.access.owners,
        )
        return {"result": "Thread deleted"}


class ThreadViewSet(MirroredThreadViewSet):
    renamed = {
        "source_thread_id": "threadId",
        "message_limit": "options.messageLimit",
        "message_ids": "options.messageFilter.messageIds",
    }

    @action(detail=True, methods=["post"])
    @operation(
        query=parameters.AgentQuery,
        body=bodies.CloneBody,
        body_optional=True,
        answer=answers.CloneShape,
        raises=(AgentNotFound, ResourceNotFound, ThreadNotFound, ThreadConflict, MessageConflict),
    )
    def clone(self, query: Values, body: Values) -> CloneResult:
        """Copy a thread and its messages, or some of them, into a new thread."""
        options = body.pop("options", {})
        wanted = options.get("message_filter", {})
        dates = DateRange(start=wanted.get("start_date"), end=wanted.get("end_date")).in_milliseconds()
        return Thread.objects.clone_thread(
            self.thread_id,
            source_resource_id=body.pop("resource_id", None),
            **body,
            message_limit=options.get("message_limit"),
            message_ids=wanted.get("message_ids"),
            start_date=dates.start,
            end_date=dates.end,
            working_memory=config_of(query.get("agent_id")).working_memory,
            owners=self.access.owners,
        )

    @action(detail=True, methods=["post"])
    @operation(
        body=bodies.TransferBody,
        answer=answers.ThreadShape,
        raises=(ResourceNotFound, ThreadNotFound, ResourceConflict),
    )
    def transfer(self, body: Values) -> ThreadRow:
        """Give a thread, with all that hangs on it, to another resource."""
        return Thread.objects.transfer_thread(
            self.thread_id,
            body["resource_id"],
            owners=self.access.owners,
            user=self.access.creator(body["resource_id"]),
        )
