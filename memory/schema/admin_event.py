"""What support staff did."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.validation import MAX_ID_LENGTH

MAX_NAME_LENGTH = 255


class AdminEvent(models.Model):
    """One act on one object, for good: it outlives the object, and the account of whoever did it.

    It names objects by their ids as text, and never holds content. An act on several objects makes an event
    for each, with one `group`. Nothing in this app changes or deletes an event, except that the
    erasure of an owner puts hashes in the place of its ids (:mod:`memory.managers.erasing`).
    """

    class Action(models.TextChoices):
        READ = "read", _("content read")
        SEARCH = "search", _("messages searched")
        RECALL = "recall", _("recall tried out")
        EDIT_MESSAGE = "edit_message", _("message edited")
        REDACT_MESSAGE = "redact_message", _("message redacted")
        MOVE_MESSAGE = "move_message", _("message moved")
        DELETE_MESSAGE = "delete_message", _("message deleted")
        REEMBED_MESSAGE = "reembed_message", _("message embedded again")
        RETRY_EMBEDDING = "retry_embedding", _("embedding retried")
        EDIT_THREAD = "edit_thread", _("thread edited")
        CLONE_THREAD = "clone_thread", _("thread cloned")
        TRANSFER_THREAD = "transfer_thread", _("thread transferred")
        DELETE_THREAD = "delete_thread", _("thread deleted")
        EDIT_WORKING_MEMORY = "edit_working_memory", _("working memory edited")
        RESTORE_WORKING_MEMORY = "restore_working_memory", _("working memory restored")
        LINK_RESOURCE = "link_resource", _("resource linked to an account")
        EXPORT_THREAD = "export_thread", _("thread exported")
        EXPORT_RESOURCE = "export_resource", _("resource exported")
        BEGIN_ERASE = "begin_erase", _("erasure of a resource begun")
        ERASE_RESOURCE = "erase_resource", _("resource erased")

    class Target(models.TextChoices):
        RESOURCE = "resource", _("resource")
        THREAD = "thread", _("thread")
        MESSAGE = "message", _("message")

    action = models.CharField(_("action"), max_length=32, choices=Action.choices)
    group = models.UUIDField(pgettext_lazy("events of one act", "group"), default=uuid.uuid4)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("actor"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    actor_name = models.CharField(_("name of the actor"), max_length=MAX_NAME_LENGTH, blank=True)
    ip = models.GenericIPAddressField(_("IP address"), null=True, blank=True)
    # The innermost of the three that are named below; blank where none is.
    target = models.CharField(_("target"), max_length=16, choices=Target.choices, blank=True)
    resource_uid = models.CharField(_("id of the resource"), max_length=MAX_ID_LENGTH, blank=True)
    thread_uid = models.CharField(_("id of the thread"), max_length=MAX_ID_LENGTH, blank=True)
    message_uid = models.CharField(_("id of the message"), max_length=MAX_ID_LENGTH, blank=True)
    counts = models.JSONField(_("counts"), default=dict, blank=True)
    reason = models.TextField(_("reason"), blank=True)

    class Meta:
        abstract = True
        verbose_name = _("admin event")
        verbose_name_plural = _("admin events")
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["created_at", "id"], name="memory_event_newest"),
            models.Index(fields=["action", "created_at", "id"], name="memory_event_action"),
            models.Index(fields=["actor_name", "created_at", "id"], name="memory_event_actor"),
            models.Index(fields=["group"], name="memory_event_group"),
            models.Index(fields=["resource_uid", "created_at", "id"], name="memory_event_resource"),
            models.Index(fields=["thread_uid", "created_at", "id"], name="memory_event_thread"),
            models.Index(fields=["message_uid", "created_at", "id"], name="memory_event_message"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
