"""The `openai` package as a client of chat models."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from memory.embedders.base import require_package

if TYPE_CHECKING:
    from openai import OpenAI


def make_client(base_url: str | None, **options: Any) -> OpenAI:
    """A client with the key `OPENAI_API_KEY`.

    Args:
        base_url: a compatible server; None = `OPENAI_BASE_URL`, else OpenAI.
        options: of the package, such as `timeout`.

    Raises:
        ImproperlyConfigured: the package is not installed.
        OpenAIError: there is no key for OpenAI.
    """
    require_package("openai", extra="openai")
    from openai import OpenAI

    key = os.environ.get("OPENAI_API_KEY") or None
    if key is None and (base_url or os.environ.get("OPENAI_BASE_URL")):
        key = "none"  # the package insists on one, a server of one's own seldom does
    return OpenAI(api_key=key, base_url=base_url, **options)
