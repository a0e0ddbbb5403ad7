"""The owner of threads."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.content.controls import visible
from memory.ids import uuid7
from memory.schema import permissions
from memory.validation import MAX_ID_LENGTH


class Resource(models.Model):
    """A user, a customer or an organisation that owns threads; optionally linked to the site's user."""

    uid = models.CharField(_("id"), max_length=MAX_ID_LENGTH, default=uuid7)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("user account"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="memory_resources",
    )
    metadata = models.JSONField(_("metadata"), default=dict, blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)

    class Meta:
        abstract = True
        verbose_name = _("resource")
        verbose_name_plural = _("resources")
        permissions = permissions.RESOURCE
        # A constraint rather than `unique=True`, which would add a second index for LIKE on PostgreSQL.
        constraints = [models.UniqueConstraint(fields=["uid"], name="memory_resource_uid")]

    def __str__(self) -> str:
        """The id, as it can be read: characters in it that turn or hide text by their names."""
        return visible(self.uid)

    def as_dict(self) -> dict[str, Any]:
        """The wire's shape."""
        return {"id": self.uid, "metadata": self.metadata}
