"""Tests of the admin, and what they share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import admin
from django.http import HttpResponse
from django.urls import URLPattern, reverse

from memory.models import (
    AdminEvent,
    Embedding,
    EmbeddingJob,
    EmbeddingSpace,
    Message,
    Resource,
    Thread,
    WorkingMemory,
    WorkingMemoryVersion,
)

MARKER = "zanzibar"
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
# Differs from one answer to the next.
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="\w+"|nonce="[^"]*"')


def conversation(
    uid: str, texts: Sequence[Any], owner: str = "r1", *, start: datetime = START, every: timedelta = MINUTE
) -> Thread:
    """A thread of messages `<uid>-0`, `<uid>-1`, ... one a minute; users and assistants take turns.

    A text is the content of a message, in any of its forms.
    """
    resource, _ = Resource.objects.get_or_create(uid=owner)
    thread = Thread.objects.create(uid=uid, resource=resource)
    messages = []
    for number, text in enumerate(texts):
        message = Message(
            uid=f"{uid}-{number}",
            thread=thread,
            role="assistant" if number % 2 else "user",
            created_at=start + number * every,
        )
        message.content = text
        messages.append(message)
    Message.objects.bulk_create(messages)
    return thread


def marked_rows(word: str) -> dict[str, Any]:
    """One row of each table, by the name of its model, with `word` wherever content can be."""
    resource = Resource.objects.create(uid="r-marked", metadata={word: word})
    thread = Thread.objects.create(uid="t-marked", resource=resource, title=word, metadata={word: word})
    message = Message(uid="m-marked", thread=thread, role="user", type=word, created_at=START)
    call = {"toolCallId": "c", "toolName": word, "args": {word: word}, "state": "result", "result": word}
    message.content = {
        "parts": [
            {"type": "text", "text": word},
            {"type": "reasoning", "reasoning": word},
            {"type": "tool-invocation", "toolInvocation": call},
            {"type": "file", "filename": word, "mediaType": word, "data": word},
            {"type": f"data-{word}", "data": word},
        ],
        "metadata": {word: word},
        "annotations": [word],
    }
    message.save()
    space, _ = EmbeddingSpace.objects.get_or_create(
        alias="default", defaults={"model": "hash", "dimensions": 64}
    )
    embedding = Embedding.objects.create(
        message=message, space=space, thread=thread, resource=resource, text_hash=word, vector=None
    )
    job, _ = EmbeddingJob.objects.update_or_create(
        message=message, space=space, defaults={"state": "failed", "error": word}
    )
    working_memory = WorkingMemory.objects.create(resource=resource, value=word)
    WorkingMemoryVersion.objects.create(working_memory=working_memory, number=1, value=word)
    event = AdminEvent.objects.create(action="read", target="message", message_uid=message.uid)
    rows = (resource, thread, message, space, embedding, job, working_memory, event)
    return {str(row._meta.model_name): row for row in rows}


def addresses(rows: dict[str, Any], site: admin.AdminSite = admin.site) -> Iterator[str]:
    """Every address of this app's admin, with the primary key of a marked row where it takes one."""
    yield reverse("admin:index", current_app=site.name)
    yield reverse("admin:app_list", args=["memory"], current_app=site.name)
    for model, model_admin in site._registry.items():
        if model._meta.app_label != "memory":
            continue
        for pattern in model_admin.get_urls():
            assert isinstance(pattern, URLPattern)
            arguments = dict.fromkeys(pattern.pattern.converters)
            row = rows.get(str(model._meta.model_name))
            if arguments and row is None:
                continue
            if pattern.name is None:
                # The old address of a page of one row.
                name = f"admin:memory_{model._meta.model_name}_changelist"
                yield f"{reverse(name, current_app=site.name)}{row.pk}/"
                continue
            yield reverse(f"admin:{pattern.name}", args=[row.pk for _ in arguments], current_app=site.name)


def transcript(thread: Thread) -> str:
    """The address of a conversation."""
    return reverse("admin:memory_thread_transcript", args=[thread.pk])


def changelist(model: str) -> str:
    return reverse(f"admin:memory_{model}_changelist")


def text_of(response: Any) -> str:
    """What the server answered, without what differs each time."""
    assert isinstance(response, HttpResponse)
    return _TOKEN.sub("", response.content.decode())


def shown_messages(response: Any) -> list[str]:
    """The ids of the messages on a page of a conversation, in their order."""
    return [message.uid for message in response.context["page"].messages]
