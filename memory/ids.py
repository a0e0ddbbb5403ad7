"""Default ids: UUIDv7, so that ids of one process sort in the order in which they were made."""

from __future__ import annotations

import os
import threading
import time
import uuid

_lock = threading.Lock()
_last = 0


def uuid7() -> str:
    """A UUIDv7 as text, greater than every one this process made before (RFC 9562, method 2).

    The 12 bits after the millisecond count up within it, so the order survives a clock that stands still
    or steps back.
    """
    global _last
    with _lock:
        now = (time.time_ns() // 1_000_000) << 12
        _last = now if now > _last else _last + 1
        stamp = _last
    milliseconds, counter = stamp >> 12, stamp & 0xFFF
    random = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF
    return str(uuid.UUID(int=milliseconds << 80 | 7 << 76 | counter << 64 | 2 << 62 | random))
