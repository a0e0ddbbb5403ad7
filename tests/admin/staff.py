"""Members of the staff, and pages of the admin as they see them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Permission, User
from django.db.models import Model, Q
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse

# What everybody on the staff may do here: look, without reading.
LOOK = tuple(
    f"view_{model}"
    for model in (
        "resource",
        "thread",
        "message",
        "embedding",
        "embeddingspace",
        "embeddingjob",
        "workingmemory",
    )
)
READ = "view_message_content"

REASON = "ticket 4711"


def staff(*permissions: str, name: str = "agent") -> Client:
    """The browser of a new member of the staff with these permissions of this app."""
    user = User.objects.create_user(name, is_staff=True)
    wanted = Q(codename__in=[*LOOK, *permissions], content_type__app_label="memory")
    user.user_permissions.set(Permission.objects.filter(wanted))
    client = Client()
    client.force_login(user)
    return client


def act_url(row: Model, name: str) -> str:
    return reverse(f"admin:memory_{row._meta.model_name}_{name}", args=[row.pk])


def answers(page: Any, **changed: Any) -> dict[str, Any]:
    """The form of a page as a browser sends it, with a reason, and with what is `changed`."""
    form = page.context["form"]
    sent: dict[str, Any] = {"reason": REASON}
    for field in form:
        value = field.value()
        if value not in (None, False):
            sent.setdefault(field.name, "on" if value is True else value)
    sent |= changed
    return {name: value for name, value in sent.items() if value is not None}


def act(client: Client, row: Model, name: str, **changed: Any) -> Any:
    """Open the page of an act, and send its form."""
    url = act_url(row, name)
    page = client.get(url)
    assert page.status_code == 200, (url, page.status_code)
    return client.post(url, answers(page, **changed))


def said(response: Any) -> list[str]:
    """The messages that the next page will show."""
    return [str(message) for message in response.wsgi_request._messages]


def only_first(request: HttpRequest) -> list[str]:
    """A `MEMORY["ADMIN_RESOURCES"]`: the staff see the resource r alone."""
    return ["r"]
