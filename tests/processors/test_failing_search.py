"""A search that fails inside the caller's transaction (contract section 5)."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from django.db import connection, transaction

from memory import Memory
from memory.models import Message, Thread
from memory.processors import MessageList, RequestContext, SemanticRecall

pytestmark = pytest.mark.django_db


def broken(*args: object, **options: object) -> None:
    """A statement that the database refuses."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM no_such_table")


def test_the_transaction_of_the_caller_goes_on() -> None:
    """On PostgreSQL a failed statement would end it, and with it what the request has written."""
    Memory().create_thread("ada", thread_id="t")
    run = MessageList(thread_id="t", resource_id="ada").add("a question")
    with transaction.atomic():
        Thread.objects.filter(uid="t").update(title="kept")
        with patch.object(type(Message.objects), "recall", broken):
            result = SemanticRecall().process_input(
                [], message_list=run, request_context=RequestContext(thread_id="t", resource_id="ada")
            )
        assert result is run
        assert len(result) == 1
        assert Thread.objects.get(uid="t").title == "kept"
