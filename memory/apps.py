"""Wires the app together."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_save
from django.utils.translation import gettext_lazy as _


class MemoryAppConfig(AppConfig):
    name = "memory"
    label = "memory"
    verbose_name = _("Conversation memory")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from memory import checks  # noqa: F401 - registers the system checks
        from memory.embedding import outbox

        post_save.connect(
            outbox.message_was_saved, sender=self.get_model("Message"), dispatch_uid="memory.outbox.message"
        )
        post_save.connect(
            outbox.thread_was_saved, sender=self.get_model("Thread"), dispatch_uid="memory.outbox.thread"
        )
