"""The pages of the admin of this app."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from django.urls import reverse

from memory.admin.acts import ACTS


def addresses(rows: Mapping[str, Any], words: str = "") -> dict[str, str]:
    """A page of each kind, by what it is.

    Args:
        rows: one of each model, by its name; a model without one has its list alone.
        words: what is searched.
    """
    found = {
        "index": reverse("admin:app_list", args=["memory"]),
        "overview": reverse("admin:memory_overview"),
        "search": f"{reverse('admin:memory_search')}?q={quote(words)}",
    }
    for model, row in rows.items():
        found[f"{model} list"] = reverse(f"admin:memory_{model}_changelist")
        if row is not None:
            found[model] = reverse(f"admin:memory_{model}_change", args=[row.pk])
            for act in ACTS.get(model, ()):
                found[f"{model} {act.name}"] = reverse(f"admin:memory_{model}_{act.name}", args=[row.pk])
    thread, resource, message = (rows[name] for name in ("thread", "resource", "message"))
    conversation = reverse("admin:memory_thread_transcript", args=[thread.pk])
    return {
        **found,
        "conversation": conversation,
        "conversation at a message": f"{conversation}?message={quote(message.uid, safe='')}",
        "playground of a thread": reverse("admin:memory_message_recall", args=[message.pk]),
        "playground of a resource": reverse("admin:memory_resource_recall", args=[resource.pk]),
    }
