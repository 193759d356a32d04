"""Tools: what a model may or must call, in the words of OpenAI's client."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.fakes.served import Served, served

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
    },
}
CALL = 'Let me see. <tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'


def ask(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def test_a_call_is_apart_from_the_text_whole_and_streamed(echo: Served) -> None:
    create = echo.client().chat.completions.create
    whole = create(model="tiny", messages=ask(CALL), tools=[ADD]).choices[0]
    assert (whole.message.content, whole.finish_reason) == ("Let me see.", "tool_calls")
    (call,) = whole.message.tool_calls
    assert (call.type, call.function.name) == ("function", "add")
    assert json.loads(call.function.arguments) == {"a": 1, "b": 2}
    chunks = list(create(model="tiny", messages=ask(CALL), tools=[ADD], stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Let me see."
    (delta,) = [one for chunk in chunks for one in chunk.choices[0].delta.tool_calls or ()]
    assert (delta.index, delta.function.name) == (0, "add")
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_without_tools_the_same_words_are_text(echo: Served) -> None:
    create = echo.client().chat.completions.create
    assert create(model="tiny", messages=ask(CALL)).choices[0].message.content == CALL
    assert create(model="tiny", messages=ask(CALL), tools=[ADD], tool_choice="none").choices[0].message.content == CALL


def test_the_result_of_a_call_goes_back_to_the_model(echo: Served) -> None:
    calls = [{"id": "c12345678", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}]
    messages = [
        *ask("1 + 2?"),
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c12345678", "content": "three"},
    ]
    answer = echo.client().chat.completions.create(model="tiny", messages=messages, tools=[ADD])
    assert answer.choices[0].message.content == "<tool_response>\nthree\n</tool_response>"  # what the model read last


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_choice": "required"},
        {"tools": [ADD], "tool_choice": {"type": "function", "function": {"name": "sub"}}},
        {"tools": [{"type": "function", "function": {"name": "not a name"}}]},
        {"tools": [{"type": "web_search"}]},
        {"tools": [ADD], "response_format": {"type": "json_object"}},
    ],
    ids=str,
)
def test_tools_that_contradict_themselves_are_422(echo: Served, fields: dict[str, Any]) -> None:
    with pytest.raises(openai.UnprocessableEntityError):
        echo.client().chat.completions.create(model="tiny", messages=ask("x"), **fields)


# ── with a real model ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def smol(smol_gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("smol"), files={"smol": smol_gguf}) as running:
        yield running


@pytest.mark.llama
def test_a_small_model_that_must_call_calls_with_what_the_schema_asks_for(smol: Served) -> None:
    create = smol.client().chat.completions.create
    for choice in ("required", {"type": "function", "function": {"name": "add"}}):
        answer = create(
            model="smol", messages=ask("What is 2 + 3?"), tools=[ADD], tool_choice=choice, temperature=0, max_tokens=120
        ).choices[0]
        (call,) = answer.message.tool_calls
        assert call.function.name == "add"
        arguments = json.loads(call.function.arguments)
        assert set(arguments) == {"a", "b"}
        assert all(isinstance(value, int) for value in arguments.values())
        assert answer.finish_reason == "tool_calls"
        assert answer.message.content is None


@pytest.mark.llama
def test_a_small_model_keeps_to_a_json_schema_and_answers_in_a_stream(smol: Served) -> None:
    client = smol.client()
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}, "size": {"enum": ["small", "large"]}},
        "required": ["city", "size"],
        "additionalProperties": False,
    }
    bound = client.chat.completions.create(
        model="auto",
        messages=ask("Name a city."),
        response_format={"type": "json_schema", "json_schema": {"name": "city", "schema": schema, "strict": True}},
        temperature=0,
        max_tokens=100,
    )
    found = json.loads(bound.choices[0].message.content)
    assert set(found) == {"city", "size"}
    assert found["size"] in {"small", "large"}
    chunks = client.chat.completions.create(model="smol", messages=ask("Hi"), stream=True, max_tokens=8, seed=1)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks).strip()
    for fields in ({"extra_body": {"grammar": "("}}, {"messages": ask("x " * 9000)}):
        with pytest.raises(openai.APIStatusError) as refusal:
            client.chat.completions.create(**{"model": "smol", "messages": ask("Hi"), **fields})
        assert refusal.value.status_code in {400, 422}
