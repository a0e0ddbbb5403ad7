"""Random valid chats in the OpenAI format, and what every prompt has to hold to."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from tests.properties.documents import documents, storable

if TYPE_CHECKING:
    from collections.abc import Iterable

Turn = dict[str, Any]

PROMPT: TypeAdapter[list[ChatCompletionMessageParam]] = TypeAdapter(list[ChatCompletionMessageParam])

words = st.text(min_size=1, max_size=12).map(storable)
names = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
breakpoints = st.just({"prompt_cache_breakpoint": {"mode": "explicit"}})
payloads = st.binary(max_size=6).map(lambda data: base64.b64encode(data).decode())


def optional(key: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Turn]:
    """An object with the key, or without it."""
    return st.one_of(st.just({}), st.builds(lambda value: {key: value}, values))


def merged(*objects: st.SearchStrategy[Turn]) -> st.SearchStrategy[Turn]:
    """One object with the keys of all."""
    return st.tuples(*objects).map(lambda found: {key: value for o in found for key, value in o.items()})


def part(kind: str, **keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Turn]:
    """A content part, sometimes with a mark of the prompt cache."""
    return merged(st.fixed_dictionaries({"type": st.just(kind), **keys}), st.just({}) | breakpoints)


urls = st.one_of(
    st.just("https://example.com/a.png"), payloads.map(lambda data: f"data:image/png;base64,{data}")
)
images = part(
    "image_url",
    image_url=merged(
        st.fixed_dictionaries({"url": urls}), optional("detail", st.sampled_from(["auto", "low", "original"]))
    ),
)
sounds = part(
    "input_audio",
    input_audio=st.fixed_dictionaries({"data": payloads, "format": st.sampled_from(["wav", "mp3"])}),
)
files = part(
    "file",
    file=st.one_of(
        st.fixed_dictionaries({"file_id": st.just("file-1")}),
        st.fixed_dictionaries({"file_id": st.just("file-1"), "filename": st.just("a.pdf")}),
        st.fixed_dictionaries({"file_data": payloads, "filename": st.sampled_from(["a.pdf", "b", "c.wav"])}),
        st.fixed_dictionaries(
            {"file_data": payloads.map(lambda data: f"data:application/pdf;base64,{data}")}
        ),
    ),
)
texts = part("text", text=words)
refusals = st.fixed_dictionaries({"type": st.just("refusal"), "refusal": words})

users = merged(
    st.fixed_dictionaries(
        {
            "role": st.just("user"),
            "content": words | st.lists(st.one_of(texts, images, sounds, files), min_size=1, max_size=4),
        }
    ),
    optional("name", names),
)
systems = merged(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["system", "developer"]),
            "content": words | st.lists(texts, min_size=1, max_size=2),
        }
    ),
    optional("name", names),
)


@st.composite
def arguments(draw: st.DrawFn) -> str:
    """What a model writes: JSON in any spacing and order, JSON that is no object, no JSON at all."""
    if draw(st.booleans()):
        indent = draw(st.sampled_from([None, 2]))
        return json.dumps(draw(documents), indent=indent, ensure_ascii=draw(st.booleans())).translate(
            dict.fromkeys((0, *range(55296, 57344)))
        )
    return draw(
        st.sampled_from(["", "{}", " ", '{"a":1.0,"a":2}', '{"b":1e22,"a":-0.0}', "{", "NaN", '"x"', "1e999"])
        | words
    )


def calls(identifiers: list[str]) -> st.SearchStrategy[list[Turn]]:
    """Parallel calls of functions and of custom tools, one an id."""
    return st.tuples(
        *[
            st.one_of(
                st.fixed_dictionaries(
                    {
                        "id": st.just(identifier),
                        "type": st.just("function"),
                        "function": st.fixed_dictionaries({"name": names, "arguments": arguments()}),
                    }
                ),
                st.fixed_dictionaries(
                    {
                        "id": st.just(identifier),
                        "type": st.just("custom"),
                        "custom": st.fixed_dictionaries({"name": names, "input": words | st.just("")}),
                    }
                ),
            )
            for identifier in identifiers
        ]
    ).map(list)


@st.composite
def tool_steps(draw: st.DrawFn, first: int) -> list[Turn]:
    """An answer with 1 to 3 calls, and their results; ids from `first` on."""
    if draw(st.integers(0, 5)) == 0:
        name = draw(names)
        call = {"name": name, "arguments": draw(arguments())}
        return [
            {"role": "assistant", "content": draw(st.none() | words), "function_call": call},
            {"role": "function", "name": name, "content": draw(st.none() | words)},
        ]
    identifiers = [f"call_{first + number}" for number in range(draw(st.integers(1, 3)))]
    answer = {
        "role": "assistant",
        "content": draw(st.none() | words | st.lists(texts | refusals, min_size=1, max_size=2)),
        "tool_calls": draw(calls(identifiers)),
    } | draw(optional("name", names))
    results = [
        {
            "role": "tool",
            "tool_call_id": identifier,
            "content": draw(words | st.just("") | st.lists(texts, min_size=1, max_size=2)),
        }
        for identifier in identifiers
    ]
    return [answer, *results]


answers = merged(
    st.one_of(
        st.fixed_dictionaries({"role": st.just("assistant"), "content": words}),
        st.fixed_dictionaries(
            {
                "role": st.just("assistant"),
                "content": st.lists(st.one_of(texts, refusals), min_size=1, max_size=3),
            }
        ),
        st.fixed_dictionaries({"role": st.just("assistant"), "content": st.none(), "refusal": words}),
        st.fixed_dictionaries(
            {"role": st.just("assistant"), "content": st.none(), "audio": st.just({"id": "audio_1"})}
        ),
    ),
    optional("name", names),
)


@st.composite
def histories(draw: st.DrawFn, unique_ids: bool = True) -> list[Turn]:
    """System messages, then turns of the user, tool steps and answers in any valid order."""
    history: list[Turn] = []
    for index in range(draw(st.integers(0, 6))):
        step = draw(st.integers(0, 3))
        if step == 0:
            history.append(draw(users))
        elif step == 1:
            history.append(draw(answers))
        else:
            history += draw(tool_steps(10 * index if unique_ids else 0))
    return history


def without_null(history: Iterable[Turn]) -> list[Turn]:
    """The same messages, null left out: it is how the format writes "not given"."""
    return [
        {
            key: value
            for key, value in message.items()
            if value is not None or (key == "content" and message["role"] == "function")
        }
        for message in history
    ]


def check_prompt(prompt: list[Turn]) -> None:
    """It is of the request format, and each call stands just before its result and the other way round."""
    for message in PROMPT.validate_python(prompt):
        for value in message.values():
            if not isinstance(value, str | dict | None):
                list(value)  # type: ignore[call-overload]
    waiting: list[Any] = []
    for message in prompt:
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
        elif message["role"] == "function":
            assert waiting.pop(0) == ("function", message["name"])
        else:
            assert not waiting
            waiting = [call["id"] for call in message.get("tool_calls", ())]
            if "function_call" in message:
                waiting.append(("function", message["function_call"]["name"]))
            assert len(set(waiting)) == len(waiting)
    assert not waiting
