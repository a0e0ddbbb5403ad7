"""What has been said, as files: JSON Lines to go on with, Markdown and HTML to read.

A format turns rows into text, one after the other, and asks the database nothing.
"""

from memory.export.base import ExportOptions, Format, Heading
from memory.export.html import HTML
from memory.export.jsonl import JSONLines
from memory.export.markdown import Markdown

FORMATS: dict[str, type[Format]] = {"jsonl": JSONLines, "markdown": Markdown, "html": HTML}

__all__ = ["FORMATS", "ExportOptions", "Format", "Heading"]
