"""Bodies of requests."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.fields import (
    ConfigField,
    CountField,
    DateField,
    FilterField,
    FlagField,
    IdField,
    IdsField,
    IncludeField,
    MessagesField,
    ObjectField,
    OrderField,
    TextField,
    WireSerializer,
    page_cap,
)


class ThreadBody(WireSerializer):
    """A thread to make, or the owner's own to change."""

    resource_id = IdField()
    thread_id = IdField(required=False)
    title = TextField(required=False)
    metadata = ObjectField(required=False)


class ThreadChanges(WireSerializer):
    """Changes of a thread; `resourceId` is only held against its owner."""

    title = TextField(required=False)
    metadata = ObjectField(required=False)
    resource_id = IdField(required=False)


class CloneFilter(WireSerializer):
    start_date = DateField(required=False)
    end_date = DateField(required=False)
    message_ids = IdsField(required=False)


class CloneOptions(WireSerializer):
    message_limit = CountField(required=False)
    message_filter = CloneFilter(required=False)


class CloneBody(ThreadChanges):
    new_thread_id = IdField(required=False)
    options = CloneOptions(required=False)


class TransferBody(WireSerializer):
    resource_id = IdField()


class SaveBody(WireSerializer):
    messages = MessagesField()


class DeleteMessagesBody(WireSerializer):
    message_ids = IdsField()


class WorkingMemoryBody(WireSerializer):
    working_memory = TextField(filled=True)
    resource_id = IdField(required=False)
    memory_config = ConfigField(required=False)


class BufferStatusBody(WireSerializer):
    agent_id = IdField()
    resource_id = IdField(required=False)
    thread_id = IdField(required=False)


class RecallBody(WireSerializer):
    """All parameters of a recall (contract section 2); null means not given."""

    strict = True

    thread_id = IdField()
    resource_id = IdField(required=False, allow_null=True)
    vector_search_string = TextField(required=False, allow_null=True)
    per_page = CountField(maximum=page_cap, or_false=True, required=False, allow_null=True)
    page = CountField(required=False, allow_null=True)
    include = IncludeField(required=False, allow_null=True)
    filter = FilterField(required=False, allow_null=True)
    order_by = OrderField(("created_at",), required=False, allow_null=True)
    thread_config = ConfigField(required=False, allow_null=True)
    agent_id = IdField(required=False, allow_null=True)
    include_total = FlagField(default=True)
    cursor = TextField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("cursor") is not None and attrs.get("page") is not None:
            raise serializers.ValidationError({"page": ["must not be given beside a cursor"]})
        return attrs
