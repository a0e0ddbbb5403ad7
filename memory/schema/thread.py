"""One conversation of one resource."""

from __future__ import annotations

from typing import Any

from django.db import models, router, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.content.controls import visible
from memory.content.dates import wire_date
from memory.db.indexes import ContainmentIndex
from memory.ids import uuid7
from memory.schema import permissions
from memory.schema.resource import Resource
from memory.validation import MAX_ID_LENGTH


class Thread(models.Model):
    """One conversation. `last_message_at` is the date of its newest message, None without messages."""

    uid = models.CharField(_("id"), max_length=MAX_ID_LENGTH, default=uuid7)
    resource: models.ForeignKey[Resource, Resource] = models.ForeignKey(
        "memory.Resource",
        verbose_name=_("resource"),
        on_delete=models.CASCADE,
        related_name="threads",
        db_index=False,  # memory_thread_created begins with it
    )
    title = models.TextField(_("title"), blank=True, default="")
    metadata = models.JSONField(_("metadata"), default=dict, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)
    last_message_at = models.DateTimeField(_("last message at"), null=True, blank=True, editable=False)

    class Meta:
        abstract = True
        verbose_name = _("thread")
        verbose_name_plural = _("threads")
        permissions = permissions.THREAD
        constraints = [models.UniqueConstraint(fields=["uid"], name="memory_thread_uid")]
        indexes = [
            models.Index(fields=["resource", "created_at", "id"], name="memory_thread_created"),
            models.Index(fields=["resource", "updated_at", "id"], name="memory_thread_updated"),
            models.Index(fields=["created_at", "id"], name="memory_thread_all_created"),
            models.Index(fields=["updated_at", "id"], name="memory_thread_all_updated"),
            ContainmentIndex(fields=["metadata"], name="memory_thread_metadata"),
        ]

    def __str__(self) -> str:
        """The id, as it can be read: characters in it that turn or hide text by their names."""
        return visible(self.uid)

    def save(self, **options: Any) -> None:
        using = options.get("using") or router.db_for_write(type(self), instance=self)
        # The vectors follow to another resource by `post_save`, and share the fate of the row.
        with transaction.atomic(using=using):
            super().save(**options)

    def as_dict(self) -> dict[str, Any]:
        """The wire's shape; needs the resource loaded."""
        return {
            "id": self.uid,
            "resourceId": self.resource.uid,
            "title": self.title,
            "createdAt": wire_date(self.created_at),
            "updatedAt": wire_date(self.updated_at),
            "metadata": self.metadata,
        }
