"""What clients of `/v1/responses` may send, and the same as messages and tools for the engine."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec

from layadesk.api_server.failures import Failure
from layadesk.api_server.parts import Part, text_of
from layadesk.api_server.requests import (
    Count,
    NamedFunction,
    NamedTool,
    Sampled,
    Text,
    Tool,
    check_depth,
    sampling_of,
    tool_use,
)
from layadesk.domain.inference import PromptMessage, Role, SamplingParams, ThinkingParams, ToolCall, ToolUse
from layadesk.usecases.answer_order import clean_text


class Item(msgspec.Struct):
    """One item of the input: a message, a call of an earlier answer, or the result of one. Others are passed over."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[Part] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    output: str | list[Part] | None = None


class FlatTool(msgspec.Struct):
    """A tool; those that are no functions are passed over."""

    type: str
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None


class FlatChoice(msgspec.Struct):
    """The function that must be called."""

    type: Literal["function"]
    name: str


class TextFormat(msgspec.Struct):
    """What binds the answer."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    schema: dict[str, Any] | None = None


class TextOptions(msgspec.Struct):
    """How the text comes."""

    format: TextFormat | None = None


class Reasoning(msgspec.Struct):
    """How hard to think."""

    effort: str | None = None


class ResponseRequest(Sampled, kw_only=True):
    """`POST /v1/responses`."""

    model: Text
    input: str | Annotated[list[Item], msgspec.Meta(max_length=10_000)]
    instructions: str | None = None
    previous_response_id: str | None = None
    max_output_tokens: Count | None = None
    tools: Annotated[list[FlatTool], msgspec.Meta(max_length=128)] | None = None
    tool_choice: Literal["none", "auto", "required"] | FlatChoice | None = None
    text: TextOptions | None = None
    reasoning: Reasoning | None = None
    store: bool | None = None
    background: Literal[False] | None = None


def input_messages(asked: ResponseRequest) -> tuple[PromptMessage, ...]:
    """The new messages, without the instructions; blocks while files are read."""
    if isinstance(asked.input, str):
        return (PromptMessage(Role.USER, clean_text(asked.input)),)
    messages: list[PromptMessage] = []
    for i, item in enumerate(asked.input):
        _add(messages, item, f"input[{i}]")
    return tuple(messages)


def _add(messages: list[PromptMessage], item: Item, place: str) -> None:
    match item.type:
        case "message":
            roles = {"assistant": Role.ASSISTANT, "user": Role.USER}
            messages.append(PromptMessage(roles.get(item.role or "user", Role.SYSTEM), text_of(item.content, place)))
        case "function_call":
            call = ToolCall(item.call_id or "", item.name or "", clean_text(item.arguments or "{}"))
            last = messages[-1] if messages and messages[-1].role is Role.ASSISTANT else None
            if last is None:
                messages.append(PromptMessage(Role.ASSISTANT, "", (call,)))
            else:
                messages[-1] = replace(last, tool_calls=(*last.tool_calls, call))
        case "function_call_output":
            messages.append(PromptMessage(Role.TOOL, text_of(item.output, place), tool_call_id=item.call_id or ""))
        case "item_reference":
            raise Failure(
                422, "invalid_value", "Items cannot be referred to; send them, or previous_response_id.", place
            )
        case _:
            pass  # what an answer thought, and what only other servers make


def response_sampling(asked: ResponseRequest, base: SamplingParams) -> SamplingParams:
    """As `sampling_of`, with the fields under the names they have here."""
    sampling = sampling_of(asked, base)
    if asked.max_output_tokens is not None:
        sampling = replace(sampling, max_tokens=asked.max_output_tokens)
    wanted = None if asked.text is None else asked.text.format
    if wanted is None or wanted.type == "text":
        return sampling
    if wanted.type == "json_object":
        return replace(sampling, json_schema='{"type": "object"}')
    if wanted.schema is None:
        raise Failure(422, "invalid_value", "json_schema needs a schema.", "text.format")
    check_depth(wanted.schema, "text.format")
    return replace(sampling, json_schema=msgspec.json.encode(wanted.schema).decode())


def response_tools(asked: ResponseRequest) -> ToolUse | None:
    """What the model may or must call."""
    functions = [
        {"type": "function", "function": _function(one)} for one in asked.tools or () if one.type == "function"
    ]
    try:
        tools = msgspec.convert(functions, list[Tool])
    except msgspec.ValidationError as error:
        raise Failure(422, "invalid_value", f"{error}.", "tools") from error
    choice = asked.tool_choice
    named = NamedTool("function", NamedFunction(choice.name)) if isinstance(choice, FlatChoice) else choice
    is_bound = asked.text is not None and asked.text.format is not None and asked.text.format.type != "text"
    return tool_use(tools, named, is_bound=is_bound)


def _function(one: FlatTool) -> dict[str, Any]:
    fields = {"name": one.name, "description": one.description, "parameters": one.parameters}
    return {name: value for name, value in fields.items() if value is not None}


def response_thinking(asked: ResponseRequest) -> ThinkingParams | None:
    """How the expert is asked to think."""
    effort = None if asked.reasoning is None else asked.reasoning.effort
    if effort in ("none", "minimal"):
        return ThinkingParams(enabled=False)
    return None if effort is None else ThinkingParams(effort=effort)


def with_instructions(instructions: str | None, messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """The messages of a prompt; instructions hold for one answer and are not kept."""
    system = [PromptMessage(Role.SYSTEM, clean_text(instructions))] if instructions and instructions.strip() else []
    return (*system, *messages)
