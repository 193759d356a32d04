"""`/v1/responses` by OpenAI's own client: text, streams, what came before, tools, schemas."""

import json
from typing import Any

import openai
import pytest

from layadesk.api_server import responses
from tests.fakes.served import Served

ADD = {"type": "function", "name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
CALL = 'See: <tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


def test_text_in_and_text_out(echo: Served) -> None:
    answer = echo.client().responses.create(model="auto", input="hello 你好", instructions="Be kind.")
    assert (answer.output_text, answer.status, answer.model) == ("hello 你好", "completed", answer.model)
    assert answer.model in {"tiny", "other"}
    assert answer.usage.output_tokens == len("hello 你好".encode())
    assert answer.output[0].type == "message"


def test_a_stream_has_its_events_in_order_and_the_whole_at_its_end(echo: Served) -> None:
    with echo.client().responses.stream(model="tiny", input="hello") as stream:
        events = list(stream)
        final = stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    for before, after in (
        ("response.output_item.added", "response.content_part.added"),
        ("response.content_part.added", "response.output_text.delta"),
        ("response.output_text.done", "response.content_part.done"),
        ("response.content_part.done", "response.output_item.done"),
    ):
        assert kinds.index(before) < kinds.index(after)
    assert [event.sequence_number for event in events if event.sequence_number is not None] == list(range(len(events)))
    assert final.output_text == "hello"
    assert final.usage.total_tokens > 5


def test_what_came_before_is_remembered_until_it_is_forgotten(echo: Served) -> None:
    client = echo.client()
    first = client.responses.create(model="tiny", input="first words")
    second = client.responses.create(model="tiny", input="second", previous_response_id=first.id)
    assert second.usage.input_tokens > first.usage.input_tokens + len("first words")
    assert second.previous_response_id == first.id
    assert client.responses.retrieve(first.id).output_text == "first words"
    client.responses.delete(first.id)
    for response_id in (first.id, "resp_unknown"):
        with pytest.raises(openai.NotFoundError) as gone:
            client.responses.create(model="tiny", input="x", previous_response_id=response_id)
        assert gone.value.code == "previous_response_not_found"
    unkept = client.responses.create(model="tiny", input="x", store=False)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(unkept.id)


def test_only_the_last_responses_are_kept(echo: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "MAX_KEPT", 2)
    client = echo.client()
    made = [client.responses.create(model="tiny", input=str(n)).id for n in range(3)]
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made[0])
    assert client.responses.retrieve(made[2]).output_text == "2"


def test_functions_are_called_and_their_results_come_back(echo: Served) -> None:
    client = echo.client()
    answer = client.responses.create(model="tiny", input=CALL, tools=[ADD, {"type": "web_search"}])
    text, call = answer.output
    assert (text.content[0].text, call.type, call.name) == ("See:", "function_call", "add")
    assert json.loads(call.arguments) == {"a": 1}
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "two"}
    later = client.responses.create(model="tiny", input=[result], tools=[ADD], previous_response_id=answer.id)
    assert later.output_text == "<tool_response>\ntwo\n</tool_response>"
    whole: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": CALL}]}, call.to_dict(), result]
    assert client.responses.create(model="tiny", input=whole, tools=[ADD]).output_text == later.output_text


def test_calls_are_streamed_as_items_of_their_own(echo: Served) -> None:
    events = list(echo.client().responses.create(model="tiny", input=CALL, tools=[ADD], stream=True))
    done = next(event for event in events if event.type == "response.function_call_arguments.done")
    assert json.loads(done.arguments) == {"a": 1}
    items = [event.item.type for event in events if event.type == "response.output_item.done"]
    assert items == ["message", "function_call"]
    assert events[-1].response.output[1].name == "add"


def test_an_answer_that_was_cut_off_is_incomplete(echo: Served) -> None:
    answer = echo.client().responses.create(model="tiny", input="hello", max_output_tokens=2)
    assert (answer.output_text, answer.status) == ("he", "incomplete")
    assert answer.incomplete_details.reason == "max_output_tokens"


@pytest.mark.parametrize(
    "fields",
    [
        {"input": []},
        {"input": [{"type": "item_reference", "id": "x"}]},
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
        {"max_output_tokens": 0},
        {"tools": [{"type": "function", "name": "not a name"}]},
        {"tool_choice": {"type": "function", "name": "add"}},
        {"text": {"format": {"type": "json_schema", "name": "x"}}},
        {"background": True},
    ],
    ids=str,
)
def test_a_value_that_is_not_possible_is_422(echo: Served, fields: dict[str, Any]) -> None:
    with pytest.raises(openai.UnprocessableEntityError):
        echo.client().responses.create(**{"model": "tiny", "input": "x", **fields})


def test_too_long_an_input_is_400_before_a_stream_begins(echo: Served) -> None:
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as refusal:
            echo.client().responses.create(model="tiny", input="x" * 3000, stream=stream)
        assert refusal.value.code == "context_length_exceeded"
