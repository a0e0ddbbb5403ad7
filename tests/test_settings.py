"""The `MEMORY` setting: typed, live, and documented in full."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from pytest_django import Settings

from memory import Memory
from memory.conf import MemorySettings, memory_settings
from memory.exceptions import RecallError

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.smoke
def test_settings_are_live(settings: Settings) -> None:
    assert memory_settings.MAX_TOP_K == 1_000
    settings.MEMORY = {"MAX_TOP_K": 3}
    assert memory_settings.MAX_TOP_K == 3
    assert memory_settings.MAX_WINDOW == 1_000
    with pytest.raises(RecallError, match=r"semantic_recall\.top_k"):
        Memory(semantic_recall={"top_k": 4}).config()


@pytest.mark.parametrize("document", ["README.md", "docs/settings.md"])
def test_every_setting_is_documented_with_its_default(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    defaults = MemorySettings()
    for field in fields(MemorySettings):
        default = getattr(defaults, field.name)
        row = next(line for line in text.splitlines() if line.startswith(f"| `{field.name}` |"))
        shown = row.split("|")[2].strip().strip("`").replace(",", "").strip('"')
        assert shown == str(default)


def test_every_setting_has_a_comment() -> None:
    source = (ROOT / "memory" / "conf.py").read_text("utf-8").splitlines()
    for field in fields(MemorySettings):
        line = next(number for number, text in enumerate(source) if text.startswith(f"    {field.name}:"))
        assert source[line - 1].startswith("    # ")
