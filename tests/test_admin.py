"""The plain admin: every page of every table opens, and nothing can be changed there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from memory import Memory
from memory.models import AdminEvent, Message

MODELS = sorted(
    (model for model in admin.site._registry if model._meta.app_label == "memory"),
    key=lambda model: model.__name__,
)


@pytest.mark.smoke
@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_lists_and_rows_open(
    model: Any,
    admin_client: Client,
    on_commit: Callable[..., AbstractContextManager[list[Callable[[], Any]]]],
) -> None:
    memory = Memory(working_memory={"enabled": True})
    with on_commit():
        memory.save_messages(
            [{"id": "m1", "thread_id": "t1", "role": "user", "content": "환불 退款 refund"}],
            create_thread=True,
            resource_id="r1",
        )
    memory.update_working_memory("notes", resource_id="r1")
    Message.objects.get().embedding_jobs.create(space=Message.objects.get().embeddings.get().space)
    AdminEvent.objects.record("read", resource_id="r1", thread_id="t1", message_id="m1")
    name = f"admin:memory_{model._meta.model_name}"
    assert admin_client.get(reverse(f"{name}_changelist"), {"q": "m1"}).status_code == 200
    row = model.objects.first() if model.__name__ != "EmbeddingJob" else model._default_manager.get()
    page = reverse(f"{name}_change", args=[row.pk])
    assert admin_client.get(page).status_code == 200
    assert admin_client.post(page, {}).status_code == 403
    assert admin_client.get(reverse(f"{name}_add")).status_code == 403


def test_every_table_is_registered() -> None:
    assert [model.__name__ for model in MODELS] == [
        "AdminEvent",
        "Embedding",
        "EmbeddingJob",
        "EmbeddingSpace",
        "Message",
        "Resource",
        "Thread",
        "WorkingMemory",
    ]
