"""The word index of the messages."""

from __future__ import annotations

from django.apps import apps

from memory.content.terms import terms
from memory.content.terms_sql import function_sql
from memory.db.words import WordIndex


def message_words() -> WordIndex:
    """The index that migration 0002 made."""
    return WordIndex(apps.get_model("memory", "Message")._meta.db_table, "text", terms, function_sql)
