import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import memory.content.normalise
import memory.db.fields
import memory.db.indexes
import memory.db.operations
import memory.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        memory.db.operations.CreateVectorExtension(),
        migrations.CreateModel(
            name="EmbeddingSpace",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("alias", models.CharField(max_length=64, verbose_name="alias")),
                ("model", models.CharField(max_length=255, verbose_name="model")),
                ("dimensions", models.PositiveIntegerField(verbose_name="dimensions")),
                ("rule", models.CharField(default="text-1", max_length=64, verbose_name="rule")),
                (
                    "state",
                    models.CharField(
                        choices=[("building", "building"), ("active", "active"), ("retired", "retired")],
                        default="active",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="created at"),
                ),
            ],
            options={
                "verbose_name": "embedding space",
                "verbose_name_plural": "embedding spaces",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "active")), fields=("alias",), name="memory_space_active"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Resource",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("uid", models.CharField(default=memory.ids.uuid7, max_length=512, verbose_name="id")),
                ("metadata", models.JSONField(blank=True, default=dict, verbose_name="metadata")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="created at"),
                ),
                (
                    "updated_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="updated at"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="memory_resources",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user account",
                    ),
                ),
            ],
            options={
                "verbose_name": "resource",
                "verbose_name_plural": "resources",
                "permissions": [("access_all_resources", "Can act for every resource over the API")],
            },
        ),
        migrations.CreateModel(
            name="Thread",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("uid", models.CharField(default=memory.ids.uuid7, max_length=512, verbose_name="id")),
                ("title", models.TextField(blank=True, default="", verbose_name="title")),
                ("metadata", models.JSONField(blank=True, default=dict, verbose_name="metadata")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="created at"),
                ),
                (
                    "updated_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="updated at"),
                ),
                (
                    "last_message_at",
                    models.DateTimeField(
                        blank=True, editable=False, null=True, verbose_name="last message at"
                    ),
                ),
                (
                    "resource",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="threads",
                        to="memory.resource",
                        verbose_name="resource",
                    ),
                ),
            ],
            options={
                "verbose_name": "thread",
                "verbose_name_plural": "threads",
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("uid", models.CharField(default=memory.ids.uuid7, max_length=512, verbose_name="id")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("user", "user"),
                            ("assistant", "assistant"),
                            ("system", "system"),
                            ("tool", "tool"),
                            ("signal", "signal"),
                        ],
                        max_length=16,
                        verbose_name="role",
                    ),
                ),
                ("type", models.CharField(blank=True, default="", max_length=64, verbose_name="type")),
                (
                    "body",
                    models.JSONField(default=memory.content.normalise.empty_body, verbose_name="content"),
                ),
                ("metadata", models.JSONField(blank=True, default=dict, verbose_name="metadata")),
                ("text", models.TextField(blank=True, default="", editable=False, verbose_name="text")),
                ("created_at", models.DateTimeField(blank=True, verbose_name="created at")),
                (
                    "redacted_at",
                    models.DateTimeField(blank=True, editable=False, null=True, verbose_name="redacted at"),
                ),
                (
                    "cloned_from",
                    models.CharField(
                        blank=True, default="", editable=False, max_length=512, verbose_name="cloned from"
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="memory.thread",
                        verbose_name="thread",
                    ),
                ),
            ],
            options={
                "verbose_name": "message",
                "verbose_name_plural": "messages",
            },
        ),
        migrations.CreateModel(
            name="Embedding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("chunk", models.PositiveIntegerField(default=0, verbose_name="chunk")),
                ("text_hash", models.CharField(max_length=64, verbose_name="text hash")),
                ("vector", memory.db.fields.VectorField(null=True, verbose_name="vector")),
                (
                    "space",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="embeddings",
                        to="memory.embeddingspace",
                        verbose_name="embedding space",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="embeddings",
                        to="memory.message",
                        verbose_name="message",
                    ),
                ),
                (
                    "resource",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="memory.resource",
                        verbose_name="resource",
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="embeddings",
                        to="memory.thread",
                        verbose_name="thread",
                    ),
                ),
            ],
            options={
                "verbose_name": "embedding",
                "verbose_name_plural": "embeddings",
            },
        ),
        migrations.CreateModel(
            name="WorkingMemory",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.TextField(blank=True, default="", verbose_name="value")),
                (
                    "updated_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="updated at"),
                ),
                (
                    "resource",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="working_memory",
                        to="memory.resource",
                        verbose_name="resource",
                    ),
                ),
                (
                    "thread",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="working_memory",
                        to="memory.thread",
                        verbose_name="thread",
                    ),
                ),
            ],
            options={
                "verbose_name": "working memory",
                "verbose_name_plural": "working memories",
            },
        ),
        migrations.CreateModel(
            name="WorkingMemoryVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("value", models.TextField(blank=True, verbose_name="value")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="created at"),
                ),
                (
                    "working_memory",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="memory.workingmemory",
                        verbose_name="working memory",
                    ),
                ),
            ],
            options={
                "verbose_name": "version of a working memory",
                "verbose_name_plural": "versions of working memories",
            },
        ),
        migrations.CreateModel(
            name="EmbeddingJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("failed", "failed")],
                        default="open",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0, verbose_name="attempts")),
                ("error", models.TextField(blank=True, default="", verbose_name="error")),
                (
                    "available_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="available at"),
                ),
                ("leased_until", models.DateTimeField(blank=True, null=True, verbose_name="leased until")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="created at"),
                ),
                (
                    "space",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="memory.embeddingspace",
                        verbose_name="embedding space",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="embedding_jobs",
                        to="memory.message",
                        verbose_name="message",
                    ),
                ),
            ],
            options={
                "verbose_name": "embedding job",
                "verbose_name_plural": "embedding jobs",
                "indexes": [models.Index(fields=["state", "available_at"], name="memory_job_due")],
                "constraints": [
                    models.UniqueConstraint(fields=("message", "space"), name="memory_job_message_space")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.UniqueConstraint(fields=("uid",), name="memory_resource_uid"),
        ),
        migrations.AddIndex(
            model_name="thread",
            index=models.Index(fields=["resource", "created_at", "id"], name="memory_thread_created"),
        ),
        migrations.AddIndex(
            model_name="thread",
            index=models.Index(fields=["resource", "updated_at", "id"], name="memory_thread_updated"),
        ),
        migrations.AddIndex(
            model_name="thread",
            index=models.Index(fields=["created_at", "id"], name="memory_thread_all_created"),
        ),
        migrations.AddIndex(
            model_name="thread",
            index=models.Index(fields=["updated_at", "id"], name="memory_thread_all_updated"),
        ),
        migrations.AddIndex(
            model_name="thread",
            index=memory.db.indexes.ContainmentIndex(fields=["metadata"], name="memory_thread_metadata"),
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.UniqueConstraint(fields=("uid",), name="memory_thread_uid"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["thread", "created_at", "id"], name="memory_message_order"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(("cloned_from", ""), _negated=True),
                fields=["cloned_from"],
                name="memory_message_clones",
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=memory.db.indexes.ContainmentIndex(fields=["metadata"], name="memory_message_metadata"),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(fields=("uid",), name="memory_message_uid"),
        ),
        migrations.AddIndex(
            model_name="embedding",
            index=models.Index(fields=["thread", "space"], name="memory_embedding_thread"),
        ),
        migrations.AddIndex(
            model_name="embedding",
            index=models.Index(fields=["resource", "space"], name="memory_embedding_resource"),
        ),
        migrations.AddIndex(
            model_name="embedding",
            index=models.Index(fields=["space", "text_hash"], name="memory_embedding_text"),
        ),
        migrations.AddConstraint(
            model_name="embedding",
            constraint=models.UniqueConstraint(
                fields=("message", "space", "chunk"), name="memory_embedding_chunk"
            ),
        ),
        migrations.AddConstraint(
            model_name="workingmemory",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("resource__isnull", False), ("thread__isnull", True)),
                    models.Q(("resource__isnull", True), ("thread__isnull", False)),
                    _connector="OR",
                ),
                name="memory_working_memory_scope",
            ),
        ),
        migrations.AddConstraint(
            model_name="workingmemoryversion",
            constraint=models.UniqueConstraint(
                fields=("working_memory", "number"), name="memory_version_number"
            ),
        ),
    ]
