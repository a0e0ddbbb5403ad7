from django.db import migrations, models

from memory.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    # PostgreSQL makes these indexes beside writers, and that in no transaction.
    atomic = False

    dependencies = [
        ("memory", "0003_support"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                condition=models.Q(("redacted_at__isnull", False)),
                fields=["created_at", "id"],
                name="memory_message_redacted",
            ),
        ),
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                condition=models.Q(("text", "")), fields=["created_at", "id"], name="memory_message_no_text"
            ),
        ),
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                condition=models.Q(("role__in", ["user", "assistant"]), _negated=True),
                fields=["role", "created_at", "id"],
                name="memory_message_rare_role",
            ),
        ),
    ]
