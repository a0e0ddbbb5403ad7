"""Wires the app together."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.db import connections, router
from django.db.backends.signals import connection_created
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import post_migrate, post_save
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
        connection_created.connect(connect_words, dispatch_uid="memory.words.connect")
        # Another app may have opened connections while the apps were being loaded.
        for connection in connections.all(initialized_only=True):
            connect_words(connection=connection)
        post_migrate.connect(repair_words, sender=self, dispatch_uid="memory.words.repair")
        if apps.is_installed("drf_spectacular"):
            from memory.api.openapi import extensions  # noqa: F401 - registers what describes the REST API


def connect_words(*, connection: Any, **kwargs: Any) -> None:
    """Make the tokenizer known to a new connection to SQLite, whose triggers call it."""
    from memory.querysets.words import message_words

    message_words().connect(connection)


def repair_words(*, using: str, **kwargs: Any) -> None:
    """Make the word index again where a part of it is missing though its migration has run, and where the
    site makes tables without migrations."""
    from memory.querysets.words import message_words

    words, connection = message_words(), connections[using]
    if not router.allow_migrate(using, "memory", model_name="message"):
        return
    module, _explicit = MigrationLoader.migrations_module("memory")
    if module is None:
        wanted = words.table in connection.introspection.table_names()
    else:
        wanted = ("memory", "0002_word_index") in MigrationRecorder(connection).applied_migrations()
    if wanted:
        words.repair(connection)
