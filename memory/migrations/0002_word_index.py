from django.db import migrations, models

import memory.content.terms
import memory.content.terms_sql
import memory.db.operations


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0001_initial"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["created_at", "id"], name="memory_message_newest"),
        ),
        memory.db.operations.CreateWordIndex(
            "message",
            "text",
            terms=memory.content.terms.terms,
            function_sql=memory.content.terms_sql.function_sql,
        ),
    ]
