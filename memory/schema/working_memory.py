"""What an agent keeps in mind about a resource or a thread."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.schema import permissions


class WorkingMemory(models.Model):
    """The working memory of one resource or of one thread; `value` is its latest version."""

    resource = models.OneToOneField(
        "memory.Resource",
        verbose_name=_("resource"),
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="working_memory",
    )
    thread = models.OneToOneField(
        "memory.Thread",
        verbose_name=_("thread"),
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="working_memory",
    )
    value = models.TextField(_("value"), blank=True, default="")
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)

    class Meta:
        abstract = True
        verbose_name = _("working memory")
        verbose_name_plural = _("working memories")
        permissions = permissions.WORKING_MEMORY
        constraints = [
            models.CheckConstraint(
                condition=models.Q(resource__isnull=False, thread__isnull=True)
                | models.Q(resource__isnull=True, thread__isnull=False),
                name="memory_working_memory_scope",
            )
        ]

    def __str__(self) -> str:
        return str(self.pk)


class WorkingMemoryVersion(models.Model):
    """One state the working memory was in; the one with the highest number is the present one."""

    working_memory = models.ForeignKey(
        "memory.WorkingMemory",
        verbose_name=_("working memory"),
        on_delete=models.CASCADE,
        related_name="versions",
        db_index=False,
    )
    number = models.PositiveIntegerField(pgettext_lazy("of a version", "number"))
    value = models.TextField(_("value"), blank=True)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)

    class Meta:
        abstract = True
        verbose_name = _("version of a working memory")
        verbose_name_plural = _("versions of working memories")
        constraints = [
            models.UniqueConstraint(fields=["working_memory", "number"], name="memory_version_number")
        ]

    def __str__(self) -> str:
        return f"{self.working_memory_id}/{self.number}"
