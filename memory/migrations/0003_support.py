import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0002_word_index"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="embeddingjob",
            options={
                "permissions": (("retry_embedding", "Can retry failed embedding jobs"),),
                "verbose_name": "embedding job",
                "verbose_name_plural": "embedding jobs",
            },
        ),
        migrations.AlterModelOptions(
            name="message",
            options={
                "permissions": (
                    ("view_message_content", "Can see what messages say"),
                    ("edit_message_text", "Can edit the text of messages"),
                    ("redact_message", "Can redact messages"),
                    ("move_message", "Can move messages to another thread"),
                    ("reembed_message", "Can have messages embedded again"),
                ),
                "verbose_name": "message",
                "verbose_name_plural": "messages",
            },
        ),
        migrations.AlterModelOptions(
            name="resource",
            options={
                "permissions": (
                    ("access_all_resources", "Can act for every resource over the API"),
                    ("export_resource", "Can export resources and threads"),
                    ("erase_resource", "Can erase resources with all they own"),
                    ("use_recall_playground", "Can try out what is recalled"),
                ),
                "verbose_name": "resource",
                "verbose_name_plural": "resources",
            },
        ),
        migrations.AlterModelOptions(
            name="thread",
            options={
                "permissions": (
                    ("clone_thread", "Can clone threads"),
                    ("transfer_thread", "Can give threads to another resource"),
                ),
                "verbose_name": "thread",
                "verbose_name_plural": "threads",
            },
        ),
        migrations.AlterModelOptions(
            name="workingmemory",
            options={
                "permissions": (("edit_working_memory", "Can edit and restore working memories"),),
                "verbose_name": "working memory",
                "verbose_name_plural": "working memories",
            },
        ),
        migrations.CreateModel(
            name="AdminEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("read", "content read"),
                            ("search", "messages searched"),
                            ("recall", "recall tried out"),
                            ("edit_message", "message edited"),
                            ("redact_message", "message redacted"),
                            ("move_message", "message moved"),
                            ("delete_message", "message deleted"),
                            ("reembed_message", "message embedded again"),
                            ("retry_embedding", "embedding retried"),
                            ("edit_thread", "thread edited"),
                            ("clone_thread", "thread cloned"),
                            ("transfer_thread", "thread transferred"),
                            ("delete_thread", "thread deleted"),
                            ("edit_working_memory", "working memory edited"),
                            ("restore_working_memory", "working memory restored"),
                            ("link_resource", "resource linked to an account"),
                            ("export_thread", "thread exported"),
                            ("export_resource", "resource exported"),
                            ("begin_erase", "erasure of a resource begun"),
                            ("erase_resource", "resource erased"),
                        ],
                        max_length=32,
                        verbose_name="action",
                    ),
                ),
                ("group", models.UUIDField(default=uuid.uuid4, verbose_name="group")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="created at"),
                ),
                (
                    "actor_name",
                    models.CharField(blank=True, max_length=255, verbose_name="name of the actor"),
                ),
                ("ip", models.GenericIPAddressField(blank=True, null=True, verbose_name="IP address")),
                (
                    "target",
                    models.CharField(
                        blank=True,
                        choices=[("resource", "resource"), ("thread", "thread"), ("message", "message")],
                        max_length=16,
                        verbose_name="target",
                    ),
                ),
                (
                    "resource_uid",
                    models.CharField(blank=True, max_length=512, verbose_name="id of the resource"),
                ),
                ("thread_uid", models.CharField(blank=True, max_length=512, verbose_name="id of the thread")),
                (
                    "message_uid",
                    models.CharField(blank=True, max_length=512, verbose_name="id of the message"),
                ),
                ("counts", models.JSONField(blank=True, default=dict, verbose_name="counts")),
                ("reason", models.TextField(blank=True, verbose_name="reason")),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="actor",
                    ),
                ),
            ],
            options={
                "verbose_name": "admin event",
                "verbose_name_plural": "admin events",
                "abstract": False,
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(fields=["created_at", "id"], name="memory_event_newest"),
                    models.Index(fields=["action", "created_at", "id"], name="memory_event_action"),
                    models.Index(fields=["group"], name="memory_event_group"),
                    models.Index(fields=["resource_uid", "created_at", "id"], name="memory_event_resource"),
                    models.Index(fields=["thread_uid", "created_at", "id"], name="memory_event_thread"),
                    models.Index(fields=["message_uid", "created_at", "id"], name="memory_event_message"),
                    models.Index(fields=["actor_name", "created_at", "id"], name="memory_event_actor"),
                ],
            },
        ),
    ]
