"""The form of a working memory, as it is shown to models and clients."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.recall.config import WorkingMemoryConfig

# What is kept where the configuration names neither a template nor a schema.
DEFAULT_TEMPLATE = """# About the person
- **Name**:
- **Place and time zone**:
- **Language**:
- **Work**:
- **Interests**:
- **Goals**:
- **Preferences**:
- **Dates to remember**:
- **Facts**:
- **Projects**:
"""
EMPTY = {"string": "", "number": 0, "integer": 0, "boolean": False, "array": []}
# A schema may refer to itself by being deep; nobody fills in more levels than this.
MAX_DEPTH = 20


def template_of(config: WorkingMemoryConfig) -> dict[str, str] | None:
    """`{format, content}`: the template as Markdown, or an empty example of the schema as JSON; None where
    working memory is off."""
    if not config.enabled:
        return None
    if config.schema is not None:
        example = _example(config.schema, MAX_DEPTH)
        return {"format": "json", "content": json.dumps(example, ensure_ascii=False)}
    return {"format": "markdown", "content": config.template or DEFAULT_TEMPLATE}


def is_bare(text: str, config: WorkingMemoryConfig) -> bool:
    """Whether a text says nothing: blank, or the Markdown template as it is, white space apart."""
    template = template_of(config)
    bare = template["content"].split() if template and template["format"] == "markdown" else []
    return text.split() in ([], bare)


def _example(schema: Any, depth: int) -> Any:
    """An empty value of a JSON schema."""
    if not isinstance(schema, Mapping) or not depth:
        return None
    if "default" in schema:
        return schema["default"]
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        return {str(name): _example(nested, depth - 1) for name, nested in properties.items()}
    kind = schema.get("type")
    if kind == "object":
        return {}
    return EMPTY.get(kind) if isinstance(kind, str) else None
