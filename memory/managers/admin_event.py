"""`AdminEvent.objects`: writing down what support staff did."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from django.db import models

from memory.asynchronous import async_twin
from memory.managers.base import WritingManager
from memory.schema.admin_event import MAX_NAME_LENGTH
from memory.validation import Check

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser

    from memory.schema import AdminEvent


class Details(TypedDict, total=False):
    """What an event says beside the act and its object.

    Attributes:
        actor: the account that acted; its name is copied.
        actor_name: who acted where it is no account, such as the user of a terminal.
        counts: numbers by name. No text: an event holds no content.
        reason: why, in the words of whoever acted.
        group: of the other objects of the same act; default a new one.
        ip: the address that the act came from. What is none, as behind some servers and proxies, is left out.
    """

    actor: AbstractBaseUser | AnonymousUser | None
    actor_name: str
    counts: Mapping[str, int | float]
    reason: str
    group: uuid.UUID
    ip: str | None


class AdminEventManager(WritingManager["AdminEvent"]):
    """Events are recorded and read; nothing changes them."""

    def record(
        self,
        action: str,
        *,
        resource_id: str | None = None,
        thread_id: str | None = None,
        message_id: str | None = None,
        **details: Unpack[Details],
    ) -> AdminEvent:
        """Write down one act on one object. 1 query.

        Inside the transaction of the act, the two share their fate.

        Args:
            action: an `AdminEvent.Action`.
            resource_id, thread_id, message_id: the object, by the innermost of the ids given, and what it
                belongs to: its owner is always named.
            details: see :class:`Details`.

        Raises:
            RecallError: bad input; nothing was written.
        """
        check = Check()
        ids = {"resource_id": resource_id, "thread_id": thread_id, "message_id": message_id}
        columns = {**self._columns(check, action, **details), **_target(check, ids)}
        check.finish()
        return self.using(self.write_db).create(**columns)

    def record_all(
        self, action: str, objects: Sequence[Mapping[str, str]], **details: Unpack[Details]
    ) -> list[AdminEvent]:
        """Write down one act on several objects: an event for each, all of one group. 1 query, on SQLite 1
        for about 80 objects.

        Args:
            action: an `AdminEvent.Action`.
            objects: of each the `resource_id`, and the `thread_id` and `message_id` where it has them.
            details: see :class:`Details`.

        Raises:
            RecallError: bad input; nothing was written.
        """
        check = Check()
        columns = self._columns(check, action, **details)
        targets = [_target(check, ids, f"objects[{number}].") for number, ids in enumerate(objects)]
        check.finish()
        return self.using(self.write_db).bulk_create(self.model(**columns, **target) for target in targets)

    def _columns(
        self,
        check: Check,
        action: str,
        *,
        actor: AbstractBaseUser | AnonymousUser | None = None,
        actor_name: str = "",
        counts: Mapping[str, int | float] | None = None,
        reason: str = "",
        group: uuid.UUID | None = None,
        ip: str | None = None,
    ) -> dict[str, Any]:
        """What all events of one act hold."""
        check.choice(action, "action", self.model.Action.values)
        # An anonymous user is no row.
        account = actor if isinstance(actor, models.Model) else None
        name = actor_name if account is None else str(account.get_username())
        return {
            "action": action,
            "group": group or uuid.uuid4(),
            "actor_id": None if account is None else account.pk,
            "actor_name": name[:MAX_NAME_LENGTH],
            "ip": _address_or_none(ip),
            "counts": _read_counts(check, counts or {}),
            "reason": check.text(reason, "reason") or "",
        }

    arecord = async_twin(record)
    arecord_all = async_twin(record_all)


def _target(check: Check, ids: Mapping[str, str | None], path: str = "") -> dict[str, str]:
    """The columns that name an object."""
    uids = {
        kind: check.identifier(uid, f"{path}{kind}_id") or ""
        for kind in ("resource", "thread", "message")
        if (uid := ids.get(f"{kind}_id")) is not None
    }
    if uids and "resource" not in uids:
        check.fail(f"{path}resource_id", "is required: the erasure of an owner finds its events by it")
    return {"target": next(reversed(uids), ""), **{f"{kind}_uid": uid for kind, uid in uids.items()}}


def _read_counts(check: Check, counts: Mapping[str, Any]) -> dict[str, int | float]:
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            check.fail(f"counts.{name}", "must be a number: an event holds no content")
    return dict(counts)


def _address_or_none(ip: str | None) -> str | None:
    """An address as the databases take it, which know no zone of one (`fe80::1%eth0`)."""
    try:
        return str(ip_address((ip or "").partition("%")[0]))
    except ValueError:
        return None
