"""Owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from memory.asynchronous import async_twin
from memory.content.json import clean_metadata, merge_metadata
from memory.exceptions import ResourceConflict
from memory.managers.base import WritingManager
from memory.managers.support import ResourceSupport
from memory.querysets import tables
from memory.validation import Check, after

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

    from memory.schema import Resource


class ResourceManager(ResourceSupport, WritingManager["Resource"]):
    """`Resource.objects`."""

    def ensure(self, resource_id: str) -> Resource:
        """The resource of this id, made if it does not exist. 1 query, 2 to make it.

        Raises:
            RecallError: `resource_id` is no id.
        """
        check = Check()
        check.identifier(resource_id, "resource_id")
        check.finish()
        return ensure_resource(resource_id, self.write_db)

    def update_resource(self, resource_id: str, *, metadata: Mapping[str, Any]) -> Resource:
        """Merge `metadata` into the resource's, key by key; the resource is made if it does not exist.

        Raises:
            RecallError: bad input.
        """
        check = Check()
        check.identifier(resource_id, "resource_id")
        changes = clean_metadata(check, metadata, "metadata") or {}
        check.finish()

        def update(using: str) -> Resource:
            ensure_resource(resource_id, using)
            resource = self.using(using).select_for_update(no_key=True).get(uid=resource_id)
            resource.metadata = merge_metadata(resource.metadata, changes, "metadata")
            resource.updated_at = after(timezone.now(), resource.updated_at)
            resource.save(using=using, update_fields=["metadata", "updated_at"])
            return resource

        return self.run_write(update)

    aensure = async_twin(ensure)
    aupdate_resource = async_twin(update_resource)


def ensure_resource(uid: str, using: str, *, user: AbstractBaseUser | None = None) -> Resource:
    """The resource of a valid id, made if it does not exist, and linked to `user` then.

    Raises:
        ResourceConflict: it exists and is not linked to `user`, where one is given: an account never takes
            over what it was not linked to (contract section 6).
    """
    defaults = {} if user is None else {"user_id": user.pk}
    resource, _ = tables.resources(using).get_or_create(uid=uid, defaults=defaults)
    if user is not None and resource.user_id != user.pk:
        raise ResourceConflict
    return resource
