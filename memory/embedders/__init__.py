"""Embedders: the models that turn texts into vectors, by alias as in the `MEMORY` setting.

Importing this package loads no model and no client library.
"""

from __future__ import annotations

from memory.embedders.base import BaseEmbedder, EmbedResult
from memory.embedders.handler import embedders
from memory.embedders.local import LocalEmbedder
from memory.embedders.openai import OpenAIEmbedder

__all__ = ["BaseEmbedder", "EmbedResult", "LocalEmbedder", "OpenAIEmbedder", "embedders"]
