"""Messages that remind the model of something and are not part of the conversation people see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REMINDER_KEYS = ("systemReminder", "dynamicAgentsMdReminder")
REMINDER_SIGNALS = ("system-reminder", "reactive")
REMINDER_TAG = "<system-reminder"


def is_system_reminder(role: str, body: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """A user message marked as a reminder, in its metadata or by the tag its text begins with, or a signal
    of that kind."""
    if role == "signal":
        signal = metadata.get("signal")
        return isinstance(signal, Mapping) and signal.get("type") in REMINDER_SIGNALS
    if role != "user":
        return False
    if any(key in metadata for key in REMINDER_KEYS):
        return True
    texts = (part["text"] for part in body["parts"] if part.get("type") == "text")
    return next(texts, "").startswith(REMINDER_TAG)
