"""Whose data a member of the staff may see."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.module_loading import import_string

from memory.conf import memory_settings

if TYPE_CHECKING:
    from django.db.models import Field
    from django.http import HttpRequest

Owners = frozenset[str] | None


def all_resources(request: HttpRequest) -> None:
    """The default of `MEMORY["ADMIN_RESOURCES"]`: the data of every resource. What staff may do with them is
    said by permissions alone."""


def owners_of(request: HttpRequest) -> Owners:
    """The ids of the resources that the viewer sees, None for all. The setting's function is asked once a
    request.

    Raises:
        ImportError: `MEMORY["ADMIN_RESOURCES"]` names nothing that can be imported.
    """
    if not hasattr(request, "_memory_owners"):
        ask: Callable[[HttpRequest], Collection[str] | None] = import_string(memory_settings.ADMIN_RESOURCES)
        found = ask(request)
        request._memory_owners = None if found is None else frozenset(found)  # type: ignore[attr-defined]
    owners: Owners = request._memory_owners  # type: ignore[attr-defined]
    return owners


def account_is(name: str, path: str = "") -> Q:
    """User accounts of this name; with the `path` "user__", rows that lead to one."""
    model = get_user_model()
    field: Field[Any, Any] = model._meta.get_field(model.USERNAME_FIELD)  # type: ignore[assignment]
    try:
        value = field.to_python(name)
    except (ValidationError, ValueError):
        # Accounts may be named by numbers.
        return Q(pk__in=[])
    return Q(**{f"{path}{field.name}": value})


def of_account(name: str) -> Q:
    """Resources that are linked to the user account of this name."""
    return account_is(name, "user__")
