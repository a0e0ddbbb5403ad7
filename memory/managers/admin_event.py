"""`AdminEvent.objects`: writing down what support staff did."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import models

from memory.asynchronous import async_twin
from memory.managers.base import WritingManager
from memory.schema.admin_event import MAX_NAME_LENGTH
from memory.validation import Check

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser

    from memory.schema import AdminEvent


class AdminEventManager(WritingManager["AdminEvent"]):
    """Events are recorded and read; nothing changes them."""

    def record(
        self,
        action: str,
        *,
        actor: AbstractBaseUser | AnonymousUser | None = None,
        actor_name: str = "",
        resource_id: str | None = None,
        thread_id: str | None = None,
        message_id: str | None = None,
        counts: Mapping[str, int | float] | None = None,
        reason: str = "",
        group: uuid.UUID | None = None,
        ip: str | None = None,
    ) -> AdminEvent:
        """Write down one act on one object. 1 query.

        Inside the transaction of the act, the two share their fate.

        Args:
            action: an `AdminEvent.Action`.
            actor: the account that acted; its name is copied.
            actor_name: who acted where it is no account, such as the user of a terminal.
            resource_id, thread_id, message_id: the object, by the innermost of the ids given, and what it
                belongs to: its owner is always named.
            counts: numbers by name. No text: an event holds no content.
            reason: why, in the words of whoever acted.
            group: of the other objects of the same act; default a new one.
            ip: the address that the act came from.

        Raises:
            RecallError: bad input; nothing was written.
        """
        check = Check()
        check.choice(action, "action", self.model.Action.values)
        targets = {"resource": resource_id, "thread": thread_id, "message": message_id}
        uids = {
            kind: check.identifier(uid, f"{kind}_id") or ""
            for kind, uid in targets.items()
            if uid is not None
        }
        if uids and "resource" not in uids:
            check.fail("resource_id", "is required: the erasure of an owner finds its events by it")
        numbers = _read_counts(check, counts or {})
        text = check.text(reason, "reason")
        check.finish()
        # An anonymous user is no row.
        account = actor if isinstance(actor, models.Model) else None
        name = actor_name if account is None else account.get_username()
        return self.using(self.write_db).create(
            action=action,
            group=group or uuid.uuid4(),
            actor_id=None if account is None else account.pk,
            actor_name=name[:MAX_NAME_LENGTH],
            ip=ip,
            target=next(reversed(uids), ""),
            counts=numbers,
            reason=text or "",
            **{f"{kind}_uid": uid for kind, uid in uids.items()},
        )

    arecord = async_twin(record)


def _read_counts(check: Check, counts: Mapping[str, Any]) -> dict[str, int | float]:
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            check.fail(f"counts.{name}", "must be a number: an event holds no content")
    return dict(counts)
