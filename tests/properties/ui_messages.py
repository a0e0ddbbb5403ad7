"""Random messages in format 2 and in the AI SDK's UI format (version 5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from memory.processors.chat_message import ChatMessage
from tests.properties.conversations import merged, names, optional, words
from tests.properties.documents import documents, objects, stored
from tests.properties.histories import START

Part = dict[str, Any]

values = documents.map(stored)
identifiers = st.text("abc123-_", min_size=1, max_size=6)
providers = st.dictionaries(
    st.sampled_from(["openai", "anthropic", "openaiChat"]), objects.map(stored), min_size=1, max_size=2
)
flags = st.booleans()


def keys(required: dict[str, st.SearchStrategy[Any]], **others: st.SearchStrategy[Any]) -> Any:
    """An object with the required keys, and some of the others."""
    return merged(st.fixed_dictionaries(required), *[optional(key, value) for key, value in others.items()])


def tagged(kind: str, required: dict[str, st.SearchStrategy[Any]], **others: st.SearchStrategy[Any]) -> Any:
    """The same with a `type`."""
    return keys({"type": st.just(kind), **required}, **others)


streamed = st.sampled_from(["streaming", "done"])
data_parts = names.flatmap(lambda name: tagged(f"data-{name}", {"data": values}, id=identifiers))
documents_named = tagged(
    "source-document",
    {"sourceId": identifiers, "mediaType": st.just("text/plain"), "title": words},
    filename=words,
    providerMetadata=providers,
)
text_parts = tagged("text", {"text": words | st.just("")}, state=streamed, providerMetadata=providers)


def ui_tool(kind: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Part]:
    """A tool part in each of its states, with what the types of version 5 allow there."""
    base = {**kind, "toolCallId": identifiers}
    ran = {"providerExecuted": flags, "callProviderMetadata": providers}
    return st.one_of(
        keys({**base, "state": st.just("input-streaming")}, input=values, rawInput=words),
        keys({**base, "state": st.just("input-available"), "input": values}, **ran),
        keys(
            {**base, "state": st.just("output-available"), "input": values, "output": values},
            preliminary=flags,
            **ran,
        ),
        keys(
            {**base, "state": st.just("output-error"), "errorText": words | st.just("")},
            input=values,
            rawInput=values,
            **ran,
        ),
    )


ui_parts = st.one_of(
    text_parts,
    tagged(
        "reasoning", {"text": words | st.just("")}, id=identifiers, state=streamed, providerMetadata=providers
    ),
    names.flatmap(lambda name: ui_tool({"type": st.just(f"tool-{name}")})),
    ui_tool({"type": st.just("tool-invocation")}),
    ui_tool({"type": st.just("dynamic-tool"), "toolName": names, "title": words}),
    tagged("source-url", {"sourceId": identifiers, "url": words}, title=words, providerMetadata=providers),
    documents_named,
    tagged("file", {"mediaType": words, "url": words}, filename=words, providerMetadata=providers),
    tagged("step-start", {}),
    data_parts,
)

ui_metadata = merged(
    objects.map(stored),
    optional("createdAt", st.just("2026-01-31T09:00:00.123Z")),
    optional("threadId", st.just("thread")),
    optional("resourceId", st.just("owner")),
)

ui_messages = keys(
    {
        "id": identifiers,
        "role": st.sampled_from(["system", "user", "assistant"]),
        "parts": st.lists(ui_parts, max_size=5),
    },
    metadata=ui_metadata,
)

invocations = st.sampled_from(
    [
        "partial-call",
        "call",
        "approval-requested",
        "approval-responded",
        "result",
        "output-error",
        "output-denied",
    ]
).flatmap(
    lambda state: keys(
        {"state": st.just(state), "toolCallId": identifiers, "toolName": names},
        args=values,
        result=values,
        errorText=words,
        approval=objects.map(stored),
        step=st.integers(0, 3),
        isError=flags,
    )
)

format_2_parts = st.one_of(
    text_parts,
    tagged("text", {"text": words}, createdAt=st.integers(0, 2**40)),
    tagged(
        "reasoning",
        {"reasoning": words | st.just("")},
        details=st.lists(
            keys({"type": st.just("text"), "text": words}, signature=words)
            | st.fixed_dictionaries({"type": st.just("redacted"), "data": words}),
            max_size=2,
        ),
        providerMetadata=providers,
    ),
    tagged(
        "tool-invocation",
        {"toolInvocation": invocations},
        providerMetadata=providers,
        providerExecuted=flags,
        dynamicTool=st.just(True),
        title=words,
    ),
    tagged("tool-invocation", {"toolInvocation": values}),
    tagged("file", {"data": words, "mimeType": words}, filename=words, providerMetadata=providers),
    tagged("file", {"url": words, "mediaType": words}),
    tagged("file", {}, data=words, url=words, mimeType=words, mediaType=words),
    tagged(
        "source",
        {
            "source": keys(
                {"sourceType": st.just("url"), "id": identifiers, "url": words},
                title=words,
                providerMetadata=providers,
            )
        },
    ),
    tagged("source", {"source": values}),
    documents_named,
    tagged("step-start", {}, model=objects.map(stored)),
    tagged("error", {"name": words, "message": words}),
    data_parts,
    names.flatmap(lambda name: tagged(f"x-{name}", {}, data=values, text=words)),
)


@st.composite
def chat_messages(draw: st.DrawFn) -> ChatMessage:
    """A message as the store holds it, with every key of its content that it knows, and others."""
    content = draw(
        keys(
            {"format": st.just(2), "parts": st.lists(format_2_parts, max_size=5)},
            content=words,
            toolInvocations=st.lists(values, max_size=1),
            annotations=st.lists(values, max_size=1),
            providerMetadata=providers,
            metadata=merged(
                objects.map(stored).filter(bool),
                optional("threadId", values),
                optional("createdAt", values),
                optional("format2", values),
            ),
        )
    )
    dates = st.integers(0, 10**6).map(lambda step: START + timedelta(milliseconds=step))
    return ChatMessage(
        id=draw(identifiers),
        role=draw(st.sampled_from(["user", "assistant", "tool", "signal", "system"])),
        content=content,
        thread_id=draw(st.none() | identifiers),
        resource_id=draw(st.none() | identifiers),
        created_at=draw(st.none() | dates),
        type=draw(st.sampled_from(["", "text"])),
    )
