from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0003_support"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(("redacted_at__isnull", False)),
                fields=["created_at", "id"],
                name="memory_message_redacted",
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(("text", "")), fields=["created_at", "id"], name="memory_message_no_text"
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(("role__in", ["user", "assistant"]), _negated=True),
                fields=["role", "created_at", "id"],
                name="memory_message_rare_role",
            ),
        ),
    ]
