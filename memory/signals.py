"""Signals this app sends, inside the transaction that wrote the rows.

Bulk writes send no `post_save`, so whatever must follow messages (the embedding outbox does) listens to
both.
"""

from __future__ import annotations

from django.dispatch import Signal

# Rows of messages were written in bulk: saved, updated, moved or cloned.
# Arguments: sender=Message, messages=list of Message, created=True if all are new, using=database alias.
messages_stored = Signal()

# Threads went to another resource.
# Arguments: sender=Thread, threads=list of primary keys, using=database alias.
threads_transferred = Signal()
