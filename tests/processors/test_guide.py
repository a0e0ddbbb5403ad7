"""The code of the guide's section "In an agent" runs as it stands, against a server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from openai import AsyncOpenAI

from memory.models import Message
from tests.embedders.openai_stub import OpenAIStub, says
from tests.processors import stored

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).parents[2]


def blocks() -> list[str]:
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    section = guide.split("\n## In an agent\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def test_the_guide(stub: OpenAIStub, settings: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
    settings.MEMORY = {**settings.MEMORY, "AGENTS": {"support": {"semantic_recall": True}}}
    track = [("track", {"order": "A-4711"}), ("track", {})]
    stub.chats.extend([says("On its way."), says(None, *track), says("In Busan."), says("You are welcome.")])
    names: dict[str, Any] = {"Memory": __import__("memory").Memory}
    first, tools, stream, in_async, by_hand, own_processor, titles = blocks()
    for code in (first, tools, stream):
        exec(code, names)
    assert capsys.readouterr().out == "You are welcome."
    tool_messages = [m for m in stub.asked("/chat/completions")[2]["messages"] if m["role"] == "tool"]
    assert [message["content"] for message in tool_messages] == [
        '{"order":"A-4711","place":"Busan"}',
        'call "track" with {"order": ...}',
    ]
    stub.chats.extend([says("Later, and again."), says("Shoes.")])
    exec(in_async, names)

    async def read() -> str:
        async with AsyncOpenAI() as client:
            return "".join([piece async for piece in names["answer"](client, "Bye")])

    assert async_to_sync(read)() == "Later, and again."
    exec(by_hand, names)
    assert stored("t-1") == [
        ("user", "Where is my parcel?"),
        ("assistant", "On its way."),
        ("user", "And my order A-4711?"),
        ("assistant", "In Busan."),
        ("user", "Thank you!"),
        ("assistant", "You are welcome."),
        ("user", "Bye"),
        ("assistant", "Later, and again."),
        ("user", "What did I order?"),
        ("assistant", "Shoes."),
    ]
    assert not Message.objects.filter(metadata__has_key="incomplete").exists()
    exec(own_processor, names)
    names["memory"].update_messages(
        [{"id": names["memory"].recall("t-1").messages[0].uid, "content": "my password is x"}]
    )
    rows = names["memory"].recall("t-1").messages
    kept = names["MessageList"](thread_id="t-1").add(rows, "memory")
    assert len(names["NoSecrets"]().process_input([], message_list=kept)) == len(rows) - 1
    exec(titles, names)
    settings.MEMORY = {**settings.MEMORY, **names["MEMORY"]}
    assert names["Memory"]("support").config().generate_title.model == "gpt-4.1-nano"
    names["client"].close()
