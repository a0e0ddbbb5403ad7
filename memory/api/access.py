"""Which resources a caller may touch (contract section 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.module_loading import import_string

from memory.api.errors import ResourceNotFound
from memory.conf import memory_settings
from memory.ids import uuid7
from memory.models import Resource, Thread

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from rest_framework.request import Request

PERMISSION = "memory.access_all_resources"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What `MEMORY["RESOURCE_RESOLVER"]` answers for a request.

    Attributes:
        owners: ids of the resources the caller may touch; None = every one.
        pending: id of a resource that is the caller's own as soon as its first write makes it.
        user: the account that resource is linked to.
    """

    owners: frozenset[str] | None
    pending: str | None = None
    user: AbstractBaseUser | None = None

    def check(self, resource_id: str | None) -> None:
        """Hold a resource that a request names against this.

        Raises:
            ResourceNotFound: it is not the caller's, whether it exists or not.
        """
        if resource_id is None or self.owners is None or resource_id in self.owners:
            return
        if resource_id != self.pending:
            raise ResourceNotFound

    def creator(self, resource_id: str) -> AbstractBaseUser | None:
        """The account that a write to this resource links it to, where that is still to be made."""
        return self.user if resource_id == self.pending else None

    def readable(self, resource_id: str) -> str:
        """A resource that was checked, as a verb without an owner scope may be given it.

        What is pending may be another's row of the same id: an id that no row has stands in for it.
        """
        return resource_id if self.owners is None or resource_id in self.owners else uuid7()

    def readable_thread(self, thread_id: str | None) -> str | None:
        """A thread's id likewise: a foreign one answers what an unknown one answers. At most 1 query."""
        if thread_id is None or self.owners is None:
            return thread_id
        known = Thread.objects.of_owners(self.owners).filter(uid=thread_id).exists()
        return thread_id if known else uuid7()


def resolve_resources(request: Request) -> Access:
    """The default of `MEMORY["RESOURCE_RESOLVER"]`: the resources linked to the user; all of them for staff
    with the permission `memory.access_all_resources`. 1 query for most users.

    A user to whom none is linked owns one named by its primary key, made by its first write.
    """
    user: Any = request.user
    if getattr(user, "is_staff", False) and user.has_perm(PERMISSION):
        return Access(owners=None)
    owners = frozenset(Resource.objects.filter(user=user).values_list("uid", flat=True))
    return Access(owners=owners, pending=None if owners else str(user.pk), user=user)


def access_of(request: Request) -> Access:
    """What the configured resolver answers.

    Raises:
        ImportError: `MEMORY["RESOURCE_RESOLVER"]` names nothing that can be imported.
    """
    resolver: Callable[[Request], Access] = import_string(memory_settings.RESOURCE_RESOLVER)
    return resolver(request)
