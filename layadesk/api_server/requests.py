"""What clients may send, read strictly where it matters: types and limits; unknown fields are passed over."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from layadesk.api_server.failures import Failure
from layadesk.api_server.parts import Part, text_of
from layadesk.domain.inference import PromptMessage, Role, SamplingParams, ThinkingParams, ToolCall, ToolUse
from layadesk.usecases.answer_order import clean_text

MAX_DEPTH: Final = 64  # of schemas and tools, which are walked again later
_INT32: Final = 2**31 - 1
RequestT = TypeVar("RequestT")

Count = Annotated[int, msgspec.Meta(ge=1, le=_INT32)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]


class FunctionCall(msgspec.Struct):
    """What a model called; `arguments` is JSON text."""

    name: str
    arguments: str = "{}"


class ToolCallMessage(msgspec.Struct):
    """A call in the history."""

    function: FunctionCall
    id: str = ""
    type: str = "function"


class Message(msgspec.Struct):
    """One message of a chat."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None
    tool_calls: list[ToolCallMessage] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class Function(msgspec.Struct):
    """A function on offer; `parameters` is a JSON schema."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Tool(msgspec.Struct):
    """A tool; only functions can be called."""

    type: Literal["function"]
    function: Function


class NamedFunction(msgspec.Struct):
    """The function that must be called."""

    name: str


class NamedTool(msgspec.Struct):
    """The tool that must be called."""

    type: Literal["function"]
    function: NamedFunction


class StreamOptions(msgspec.Struct):
    """`include_usage` sends one more chunk at the end."""

    include_usage: bool = False


class JsonSchema(msgspec.Struct):
    """A schema with its name, which means nothing here."""

    schema: dict[str, Any] | None = None
    name: str | None = None
    strict: bool | None = None


class ResponseFormat(msgspec.Struct):
    """What binds the answer."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class TemplateSwitches(msgspec.Struct):
    """What vLLM and llama.cpp call `chat_template_kwargs`."""

    enable_thinking: bool | None = None
    reasoning_effort: str | None = None


class Sampled(msgspec.Struct, kw_only=True):
    """How tokens are chosen: OpenAI's fields, and llama.cpp's under their own names."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    typical_p: float | None = None
    repeat_penalty: float | None = None
    repetition_penalty: float | None = None
    repeat_last_n: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    dry_multiplier: float | None = None
    dry_base: float | None = None
    dry_allowed_length: int | None = None
    xtc_probability: float | None = None
    xtc_threshold: float | None = None
    top_n_sigma: float | None = None
    mirostat: int | None = None
    mirostat_tau: float | None = None
    mirostat_eta: float | None = None
    logit_bias: dict[str, float] | None = None
    grammar: str | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    max_tokens: Count | None = None
    n: Literal[1] | None = None
    user: Annotated[str, msgspec.Meta(max_length=512)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    layadesk: bool = False


class ChatRequest(Sampled, kw_only=True):
    """`POST /v1/chat/completions`."""

    model: Text
    messages: Annotated[list[Message], msgspec.Meta(min_length=1, max_length=10_000)]
    max_completion_tokens: Count | None = None
    response_format: ResponseFormat | None = None
    tools: Annotated[list[Tool], msgspec.Meta(max_length=128)] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedTool | None = None
    reasoning_effort: str | None = None
    chat_template_kwargs: TemplateSwitches | None = None
    logprobs: Literal[False] | None = None
    top_logprobs: Literal[0] | None = None


class CompletionRequest(Sampled, kw_only=True):
    """`POST /v1/completions`: a text to go on with, no template."""

    model: Text
    prompt: str | Annotated[list[str], msgspec.Meta(min_length=1, max_length=1)]
    best_of: Literal[1] | None = None
    echo: Literal[False] | None = None
    logprobs: None = None
    suffix: Literal[""] | None = None


def read_json(body: bytes, kind: type[RequestT]) -> RequestT:
    """The request in `body`. 400 where it is no JSON, 422 where it is not what is expected."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        words = str(error)
        raise Failure(422, "invalid_value", f"{words}.", _place(words)) from error
    except RecursionError as error:
        raise Failure(400, "invalid_json", "The JSON is nested too deeply.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Failure(400, "invalid_json", f"The body is no valid JSON: {error}") from error


def sampling_of(request: Sampled, base: SamplingParams) -> SamplingParams:
    """The sampling of the settings, with what the request asks for in its place. 422 for what cannot be."""
    names = {one.name for one in fields(SamplingParams)} - {"logit_bias", "stop", "json_schema"}
    given = {name: value for name in names if (value := getattr(request, name, None)) is not None}
    if request.repetition_penalty is not None:
        given["repeat_penalty"] = request.repetition_penalty
    if request.logit_bias:
        given["logit_bias"] = _biases(request.logit_bias)
    stop = [request.stop] if isinstance(request.stop, str) else request.stop
    given["stop"] = tuple(clean_text(one) for one in stop or () if one)
    if isinstance(request, ChatRequest):
        given |= _of_chat(request)
    if given.get("seed") is not None:
        given["seed"] %= 2**63
    return replace(base, **given)


def _of_chat(request: ChatRequest) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if request.max_completion_tokens is not None:
        given["max_tokens"] = request.max_completion_tokens
    schema = schema_of(request.response_format)
    if schema is not None:
        given["json_schema"] = schema
    return given


def schema_of(wanted: ResponseFormat | None) -> str | None:
    """The JSON schema that binds an answer, as JSON text."""
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return '{"type": "object"}'
    if wanted.json_schema is None or wanted.json_schema.schema is None:
        raise Failure(422, "invalid_value", "json_schema needs a schema.", "response_format")
    check_depth(wanted.json_schema.schema, "response_format")
    return msgspec.json.encode(wanted.json_schema.schema).decode()


def check_depth(value: Any, param: str) -> None:
    """422 for what is nested deeper than any real schema."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for one in level if isinstance(one, dict | list) for inner in _inside(one)]
        if not level:
            return
    raise Failure(422, "invalid_value", f"{param} is nested too deeply; {MAX_DEPTH} levels are possible.", param)


def _inside(value: dict[str, Any] | list[Any]) -> Sequence[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def _biases(given: Mapping[str, float]) -> tuple[tuple[int, float], ...]:
    try:
        found = tuple((int(token), float(bias)) for token, bias in given.items())
    except ValueError as error:
        raise Failure(422, "invalid_value", "logit_bias maps token ids to numbers.", "logit_bias") from error
    if any(not 0 <= token <= _INT32 or math.isnan(bias) for token, bias in found):
        raise Failure(422, "invalid_value", "logit_bias maps token ids to numbers.", "logit_bias")
    return found


def thinking_of(request: ChatRequest) -> ThinkingParams | None:
    """How the request wants the expert to think; None leaves it to the user's choice."""
    switches = request.chat_template_kwargs or TemplateSwitches()
    effort = request.reasoning_effort or switches.reasoning_effort
    if effort in ("none", "minimal"):
        return ThinkingParams(enabled=False)
    if effort is None and switches.enable_thinking is None:
        return None
    return ThinkingParams(enabled=switches.enable_thinking, effort=effort)


def messages_of(request: ChatRequest) -> tuple[PromptMessage, ...]:
    """The chat as the engine takes it; blocks while files are read. 422 for content that is no text."""
    return tuple(_message(one, f"messages[{i}].content") for i, one in enumerate(request.messages))


def with_question(messages: tuple[PromptMessage, ...]) -> tuple[PromptMessage, ...]:
    """`messages`; of a chat that is nothing but instructions the last is what is asked. Most templates need a user."""
    if not messages or any(one.role is not Role.SYSTEM for one in messages):
        return messages
    return (*messages[:-1], replace(messages[-1], role=Role.USER))


_ROLES: Final = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}


def _message(one: Message, place: str) -> PromptMessage:
    called = one.tool_calls if one.role == "assistant" else None
    calls = tuple(ToolCall(call.id, call.function.name, clean_text(call.function.arguments)) for call in called or ())
    return PromptMessage(_ROLES.get(one.role, Role.USER), text_of(one.content, place), calls, one.tool_call_id or "")


def tools_of(request: ChatRequest) -> ToolUse | None:
    """What the model may or must call. 422 where that contradicts itself."""
    is_bound = request.response_format is not None and request.response_format.type != "text"
    return tool_use(request.tools or [], request.tool_choice, is_bound=is_bound)


def tool_use(tools: Sequence[Tool], choice: str | NamedTool | None, *, is_bound: bool) -> ToolUse | None:
    """The same for any interface; `is_bound`: a schema binds the answer."""
    if not tools or choice == "none":
        if choice == "required" or isinstance(choice, NamedTool):
            raise Failure(422, "invalid_value", "tool_choice needs tools.", "tool_choice")
        return None
    names = [tool.function.name for tool in tools]
    for tool in tools:
        check_depth(tool.function.parameters, "tools")
    if is_bound:
        words = "tools and response_format cannot be had together; leave one out."
        raise Failure(422, "invalid_value", words, "response_format")
    forced = tuple(names) if choice == "required" else ()
    if isinstance(choice, NamedTool):
        if choice.function.name not in names:
            raise Failure(422, "invalid_value", "tool_choice names no tool on offer.", "tool_choice")
        forced = (choice.function.name,)
    return ToolUse(msgspec.json.encode(tools).decode(), forced)


def _place(words: str) -> str | None:
    """The field that msgspec names: `... - at `$.messages[0].role``."""
    _, found, place = words.rpartition("`$.")
    return place.rstrip("`") if found else None
