"""What a model is told of its working memory, and the tool by which it writes there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from memory.recall.template import template_of

if TYPE_CHECKING:
    from memory.recall import WorkingMemoryConfig

TAG = "working_memory"
TOOL_NAME = "updateWorkingMemory"
_MARKER = re.compile(r"<(?=\s*/?\s*working_memory_(?:data|template))", re.IGNORECASE)

_WRITABLE = f"""WORKING MEMORY
You keep what is worth remembering about this person beyond this conversation in a working memory.
- Call {TOOL_NAME} as soon as you learn something that will matter later, and when something stored is no
  longer true. Do not wait to be asked, and do not announce it.
- {{how}}
- Leave out what matters only now, and what you were not told. Keep the form; leave unknown entries empty.
- Do not call it when nothing has changed."""
_WHOLE = "Send the whole text each time, what is to stay included: it replaces what is stored."
_MERGED = (
    "Send only what changes, as an object of this form: it is merged into what is stored. A null removes an "
    "entry; a list replaces the stored list."
)
_READ_ONLY = """WORKING MEMORY (READ-ONLY)
What is known about this person from earlier conversations. You can read it, not change it."""
_NOTHING = "Nothing is stored yet."


def system_text(value: str | None, config: WorkingMemoryConfig) -> str:
    """The system message.

    Args:
        value: the stored text; None = there is none.
        config: the form; working memory is on.
    """
    if config.read_only:
        return "\n\n".join([_READ_ONLY, _block("data", value) if value else _NOTHING])
    template = template_of(config) or {"content": ""}
    how = _WHOLE if config.schema is None else _MERGED
    return "\n\n".join(
        [
            _WRITABLE.format(how=how),
            _block("template", template["content"]),
            _block("data", value) if value else _NOTHING,
        ]
    )


def tool_definition(config: WorkingMemoryConfig) -> dict[str, Any]:
    """The tool, in the form of the OpenAI API."""
    if config.schema is None:
        memory: dict[str, Any] = {"type": "string", "description": "The whole working memory as Markdown."}
    else:
        memory = {**config.schema}
    return {
        "type": "function",
        "function": {
            "name": TOOL_NAME,
            "description": f"Update the working memory. {_WHOLE if config.schema is None else _MERGED}",
            "parameters": {"type": "object", "properties": {"memory": memory}, "required": ["memory"]},
        },
    }


def _block(name: str, text: str) -> str:
    # No stored text can end its block.
    return f"<working_memory_{name}>\n{_MARKER.sub('‹', text.strip())}\n</working_memory_{name}>"
