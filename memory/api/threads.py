"""Threads: list, make, read, change, delete, clone, transfer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.decorators import action
from rest_framework.response import Response

from memory.api import parameters, serializers
from memory.api.base import MemoryViewSet, config_of
from memory.api.serializers import shape
from memory.exceptions import ThreadNotFound, ThreadNotOwned
from memory.models import Thread
from memory.recall import DateRange

if TYPE_CHECKING:
    from rest_framework.request import Request


class MirroredThreadViewSet(MemoryViewSet):
    """What both paths of threads offer."""

    lookup_url_kwarg = "thread_id"
    lookup_value_regex = "[^/]+"

    def list(self, request: Request) -> Response:
        query = self.read_query(parameters.ThreadListQuery)
        query.pop("agent_id", None)
        page = Thread.objects.list_threads(**query, owners=self.access.owners)
        return Response(shape(serializers.ThreadPageShape, page))

    def create(self, request: Request) -> Response:
        query = self.read_query(parameters.AgentQuery)
        body = self.read_body(serializers.ThreadBody)
        thread = Thread.objects.create_thread(
            **body,
            working_memory=config_of(query.get("agent_id")).working_memory,
            user=self.access.creator(body["resource_id"]),
        )
        return Response(shape(serializers.ThreadShape, thread))

    def retrieve(self, request: Request, **path: Any) -> Response:
        query = self.read_query(parameters.OwnerQuery)
        thread = Thread.objects.get_thread(self.thread_id, owners=self.access.owners)
        if thread is None:
            raise ThreadNotFound(self.thread_id)
        if query.get("resource_id") not in (None, thread.resource.uid):
            raise ThreadNotOwned(self.thread_id)
        return Response(shape(serializers.ThreadShape, thread))

    def partial_update(self, request: Request, **path: Any) -> Response:
        query = self.read_query(parameters.AgentQuery)
        body = self.read_body(serializers.ThreadChanges, optional=True)
        thread = Thread.objects.update_thread(
            self.thread_id,
            **body,
            replace_metadata=True,
            working_memory=config_of(query.get("agent_id")).working_memory,
            owners=self.access.owners,
        )
        return Response(shape(serializers.ThreadShape, thread))

    def destroy(self, request: Request, **path: Any) -> Response:
        query = self.read_query(parameters.OwnerQuery)
        config_of(query.get("agent_id"))
        Thread.objects.delete_thread(
            self.thread_id,
            missing_ok=False,
            resource_id=query.get("resource_id"),
            owners=self.access.owners,
        )
        return Response(shape(serializers.ResultShape, {"result": "Thread deleted"}))


class ThreadViewSet(MirroredThreadViewSet):
    renamed = {
        "source_thread_id": "threadId",
        "message_limit": "options.messageLimit",
        "message_ids": "options.messageFilter.messageIds",
    }

    @action(detail=True, methods=["post"])
    def clone(self, request: Request, **path: Any) -> Response:
        query = self.read_query(parameters.AgentQuery)
        body = self.read_body(serializers.CloneBody, optional=True)
        options = body.pop("options", {})
        wanted = options.get("message_filter", {})
        dates = DateRange(start=wanted.get("start_date"), end=wanted.get("end_date")).in_milliseconds()
        clone = Thread.objects.clone_thread(
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
        return Response(shape(serializers.CloneShape, clone))

    @action(detail=True, methods=["post"])
    def transfer(self, request: Request, **path: Any) -> Response:
        body = self.read_body(serializers.TransferBody)
        thread = Thread.objects.transfer_thread(
            self.thread_id, body["resource_id"], owners=self.access.owners
        )
        return Response(shape(serializers.ThreadShape, thread))
