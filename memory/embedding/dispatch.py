"""When the jobs of a transaction are worked off."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.db import connections, transaction

from memory.conf import memory_settings
from memory.embedding.worker import embed_messages

logger = logging.getLogger("memory.embedding")


class WakeUp:
    """The one wake-up of a transaction: embeds, after its commit, what it has saved."""

    def __init__(self, using: str, messages: Iterable[int]) -> None:
        self.using = using
        self.messages = set(messages)
        # Django's test tools call what waits for the commit and leave it in the list.
        self.is_spent = False

    def __call__(self) -> None:
        self.is_spent = True
        try:
            embed_messages(self.using, self.messages)
        except Exception:
            # The save has been committed and its jobs are open: `embed_messages` will find them.
            logger.exception("Embedding after the commit failed; its jobs stay open.")


def wake(using: str, messages: Iterable[int]) -> None:
    """Have the open jobs of these messages worked off after the commit, where the site embeds inline."""
    if memory_settings.EMBED != "inline":
        return
    # A wake-up that is found here shares the fate of this write: a savepoint that is rolled back takes the
    # wake-ups registered inside along.
    registered = (function for _, function, *_ in connections[using].run_on_commit)
    wake_up = next((entry for entry in registered if isinstance(entry, WakeUp) and not entry.is_spent), None)
    if wake_up is None:
        transaction.on_commit(WakeUp(using, messages), using=using)
    else:
        wake_up.messages.update(messages)
