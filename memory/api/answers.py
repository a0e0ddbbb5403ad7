"""What the routes answer. One class for each shape of the wire, and none twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from memory.api.fields import (
    CountField,
    WireSerializer,
)
from memory.content.dates import wire_date
from memory.content.incoming import STORED_ROLES
from memory.recall.config import SCOPES

if TYPE_CHECKING:
    from memory.recall import SearchHit
    from memory.schema import Message, Thread

SOURCES = ("history", "include", "semantic", "context")


class DateShape(serializers.DateTimeField):
    """ISO 8601 in UTC with milliseconds."""

    def to_representation(self, value: Any) -> str:
        return wire_date(value)


class ThreadShape(WireSerializer):
    id = serializers.CharField()
    resource_id = serializers.CharField()
    title = serializers.CharField()
    created_at = DateShape()
    updated_at = DateShape()
    metadata = serializers.DictField()

    def to_representation(self, instance: Thread) -> dict[str, Any]:
        return instance.as_dict()


class PartShape(WireSerializer):
    """One part of a message, with more keys by its type."""

    type = serializers.CharField()
    text = serializers.CharField(required=False)


class ContentShape(WireSerializer):
    """Format 2, with whatever other keys it came with."""

    format = serializers.IntegerField()
    parts = PartShape(many=True)
    content = serializers.CharField(required=False, allow_null=True)
    metadata = serializers.DictField(required=False)


class MessageShape(WireSerializer):
    id = serializers.CharField()
    role = serializers.ChoiceField(choices=STORED_ROLES)
    created_at = DateShape()
    thread_id = serializers.CharField()
    resource_id = serializers.CharField()
    content = ContentShape()
    type = serializers.CharField(required=False)

    def to_representation(self, instance: Message) -> dict[str, Any]:
        return instance.as_dict()


class ReasonShape(WireSerializer):
    """Why a message was recalled."""

    sources = serializers.MultipleChoiceField(choices=SOURCES)
    similarity = serializers.FloatField(allow_null=True)


class RecalledMessageShape(MessageShape):
    recall = ReasonShape()

    def to_representation(self, instance: Message) -> dict[str, Any]:
        reason = instance.recall
        sources = [source for source in SOURCES if source in reason.sources]
        return {**instance.as_dict(), "recall": {"sources": sources, "similarity": reason.similarity}}


class PageShape(WireSerializer):
    """What every page tells."""

    total = serializers.IntegerField()
    page = serializers.IntegerField()
    per_page = CountField(or_false=True)
    has_more = serializers.BooleanField()


class ThreadPageShape(PageShape):
    threads = ThreadShape(many=True)


class MessagePageShape(PageShape):
    messages = MessageShape(many=True)
    # What clients of another kind of server find here; this one has no such view of messages.
    ui_messages = serializers.ListField(read_only=True, allow_null=True, default=None)


class UsageShape(WireSerializer):
    tokens = serializers.IntegerField()


class RecallShape(PageShape):
    total = serializers.IntegerField(allow_null=True)
    page = serializers.IntegerField(allow_null=True)
    messages = RecalledMessageShape(many=True)
    usage = UsageShape(allow_null=True)
    pending_embeddings = serializers.IntegerField(allow_null=True)
    next_cursor = serializers.CharField(allow_null=True)
    prev_cursor = serializers.CharField(allow_null=True)


class SavedShape(WireSerializer):
    messages = MessageShape(many=True)


class CloneShape(WireSerializer):
    thread = ThreadShape()
    cloned_messages = MessageShape(many=True, source="messages")
    message_id_map = serializers.DictField(child=serializers.CharField())


class ResultShape(WireSerializer):
    result = serializers.CharField()


class SuccessShape(WireSerializer):
    success = serializers.BooleanField()
    message = serializers.CharField(required=False)


class NeighbourShape(WireSerializer):
    """A message as search results show it."""

    id = serializers.CharField(source="uid")
    role = serializers.CharField()
    content = serializers.CharField(source="text")
    created_at = DateShape()


class ContextShape(WireSerializer):
    """The neighbours of a hit."""

    before = NeighbourShape(many=True, source="context_before")
    after = NeighbourShape(many=True, source="context_after")


class SearchHitShape(NeighbourShape):
    thread_id = serializers.CharField()
    thread_title = serializers.CharField()
    # The framework moves declared fields aside: attributes of the same names are not lost.
    context = ContextShape(required=False)  # type: ignore[assignment]

    def to_representation(self, instance: SearchHit) -> dict[str, Any]:
        message = instance.message
        found: dict[str, Any] = {
            **shape(NeighbourShape, message),
            "threadId": message.thread.uid,
            "threadTitle": instance.thread_title or message.thread.uid,
        }
        if instance.context_before or instance.context_after:
            found["context"] = shape(ContextShape, instance)
        return found


class SearchShape(WireSerializer):
    results = SearchHitShape(many=True)
    count = serializers.IntegerField()
    query = serializers.CharField()
    search_scope = serializers.ChoiceField(choices=SCOPES)
    search_type = serializers.ChoiceField(choices=("semantic", "text"))


class TemplateShape(WireSerializer):
    format = serializers.ChoiceField(choices=("markdown", "json"))
    content = serializers.CharField()


class WorkingMemoryShape(WireSerializer):
    working_memory = serializers.CharField(allow_null=True)
    source = serializers.ChoiceField(choices=SCOPES)  # type: ignore[assignment]
    working_memory_template = TemplateShape(allow_null=True)
    thread_exists = serializers.BooleanField()


class StatusShape(WireSerializer):
    result = serializers.BooleanField()
    memory_type = serializers.CharField(required=False)


class ConfigurationShape(serializers.DictField):
    """How an agent's memory is configured."""


class ConfigShape(WireSerializer):
    config = ConfigurationShape(allow_null=True)


def shape(serializer: type[WireSerializer], instance: Any) -> Mapping[str, Any]:
    """What a route answers."""
    data: Mapping[str, Any] = serializer(instance).data
    return data
