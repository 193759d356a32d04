"""What an OpenAI-compatible server says in one event, checked: new text, thinking, why it ended, what it counted."""

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import FinishReason
from layadesk.workers.remote_calls import CallPiece

DONE: Final = "[DONE]"
MAX_DETAIL: Final = 200
_MOST: Final = 2**31
_FINISH: Final = {"length": FinishReason.LENGTH, "max_tokens": FinishReason.LENGTH}


class _Function(msgspec.Struct, frozen=True):
    name: str | None = None
    arguments: str | None = None


class _Call(msgspec.Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Said(msgspec.Struct, frozen=True):
    tool_calls: list[_Call] | None = None
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None  # the same at some servers
    refusal: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: str | None = None


class _Details(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


class _Event(msgspec.Struct, frozen=True):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None
    object: str = ""


_EVENT: Final = msgspec.json.Decoder(_Event)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server says; None where it does not."""

    n_prompt: int | None = None
    n_decoded: int | None = None
    n_cached: int | None = None
    n_thinking: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """One event. `finish` is set in the last one that has a choice."""

    text: str = ""
    thinking: str = ""
    finish: FinishReason | None = None
    usage: Usage | None = None
    calls: tuple[CallPiece, ...] = ()


def read_piece(data: str) -> Piece:
    """One event's data, or the whole of an answer that was not streamed.

    Raises REMOTE_BAD_ANSWER for what is none, REMOTE_FAILED for an error in mid-stream.
    """
    try:
        event = _EVENT.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeError, ValueError) as error:
        raise fail(ErrorCode.REMOTE_BAD_ANSWER, detail=harmless(str(error))) from error
    if event.error is not None:
        raise fail(ErrorCode.REMOTE_FAILED, status="200", detail=error_words(event.error))
    if event.choices is None and event.usage is None:
        raise fail(ErrorCode.REMOTE_BAD_ANSWER, detail="an event without choices")
    if not event.choices:
        return Piece(usage=_usage(event.usage))
    choice = event.choices[0]
    said = choice.delta or choice.message or _Said()
    return Piece(
        _clean(said.content or said.refusal),
        _clean(said.reasoning_content or said.reasoning),
        None if choice.finish_reason is None else _FINISH.get(choice.finish_reason, FinishReason.STOP),
        _usage(event.usage),
        tuple(_call(place, call) for place, call in enumerate(said.tool_calls or ())),
    )


def _call(place: int, call: _Call) -> CallPiece:
    function = call.function or _Function()
    index = place if call.index is None else call.index
    return CallPiece(index, _clean(call.id), _clean(function.name), _clean(function.arguments))


def error_words(error: object) -> str:
    """What a server says went wrong, short and harmless: its own words are nothing we wrote."""
    if isinstance(error, dict):
        error = error.get("message") or error.get("code") or error.get("type") or ""
    return harmless(str(error))


def harmless(text: str) -> str:
    """On one line, without control signs, cut."""
    return "".join(c if c.isprintable() else " " for c in text[: 4 * MAX_DETAIL]).strip()[:MAX_DETAIL]


def _usage(usage: _Usage | None) -> Usage | None:
    if usage is None:
        return None
    prompt, answer = usage.prompt_tokens_details or _Details(), usage.completion_tokens_details or _Details()
    return Usage(
        _count(usage.prompt_tokens),
        _count(usage.completion_tokens),
        _count(prompt.cached_tokens),
        _count(answer.reasoning_tokens),
    )


def _count(n: int | None) -> int | None:
    return n if n is not None and 0 <= n < _MOST else None


def _clean(text: str | None) -> str:
    return (text or "").replace("\x00", "")
