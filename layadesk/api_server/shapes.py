"""Answers in the words of `/v1/chat/completions` and `/v1/completions`: whole, or in server-sent events."""

from typing import Any, Final, Protocol

import msgspec

from layadesk import __version__
from layadesk.api_server.failures import Failure
from layadesk.api_server.made import Made
from layadesk.protocol.events import TextDelta, ThinkingDelta
from layadesk.usecases.answer_order import AnswerEvent

DONE: Final = b"data: [DONE]\n\n"
FINGERPRINT: Final = f"layadesk-{__version__}"


class Shape(Protocol):
    """One dialect. Frames are server-sent events, ready to be sent; an empty one says nothing."""

    def whole(self, made: Made) -> dict[str, Any]:
        """The whole answer."""

    def opening(self, made: Made) -> bytes:
        """What comes first."""

    def delta(self, made: Made, event: AnswerEvent) -> bytes:
        """What an event adds."""

    def closing(self, made: Made) -> bytes:
        """The end of an answer."""

    def failed(self, made: Made, failure: Failure) -> bytes:
        """The end of one that failed after it had begun."""


def frame(fields: dict[str, Any], *, event: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {event}\n".encode() if event else b""
    return head + b"data: " + msgspec.json.encode(fields) + b"\n\n"


class ChatShape:
    """`chat.completion` and its chunks."""

    def __init__(self, *, usage: bool, details: bool) -> None:
        self._usage = usage
        self._details = details

    def whole(self, made: Made) -> dict[str, Any]:
        """See Shape."""
        finished = made.finished
        assert finished is not None
        message: dict[str, Any] = {"role": "assistant", "content": finished.text, "refusal": None}
        if finished.tool_calls:
            message |= {"content": finished.text or None, "tool_calls": made.tool_calls}
        if finished.thinking:
            message["reasoning_content"] = finished.thinking
        choice = {"index": 0, "message": message, "finish_reason": made.finish_reason, "logprobs": None}
        return self._framed(made, "chat.completion", [choice], usage=made.usage, is_last=True)

    def opening(self, made: Made) -> bytes:
        """See Shape."""
        return self._chunk(made, {"role": "assistant", "content": ""})

    def delta(self, made: Made, event: AnswerEvent) -> bytes:
        """See Shape."""
        match event:
            case TextDelta(text=text):
                return self._chunk(made, {"content": text})
            case ThinkingDelta(text=text):
                return self._chunk(made, {"reasoning_content": text})
            case _:
                return b""

    def closing(self, made: Made) -> bytes:
        """See Shape."""
        calls = [{"index": index, **call} for index, call in enumerate(made.tool_calls)]
        last = self._chunk(made, {"tool_calls": calls}) if calls else b""
        last += self._chunk(made, {}, finish_reason=made.finish_reason, is_last=True)
        if self._usage:
            last += frame(self._framed(made, "chat.completion.chunk", [], usage=made.usage))
        return last + DONE

    def failed(self, made: Made, failure: Failure) -> bytes:
        """See Shape."""
        return frame(failure.as_json())

    def _chunk(
        self, made: Made, delta: dict[str, Any], *, finish_reason: str | None = None, is_last: bool = False
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return frame(self._framed(made, "chat.completion.chunk", [choice], is_last=is_last))

    def _framed(
        self,
        made: Made,
        kind: str,
        choices: list[dict[str, Any]],
        *,
        usage: dict[str, Any] | None = None,
        is_last: bool = False,
    ) -> dict[str, Any]:
        framed = {**_head(made, "chatcmpl", kind), "choices": choices}
        if usage is not None or self._usage:
            framed["usage"] = usage
        if is_last and self._details:
            framed["layadesk"] = made.details()
        return framed


class CompletionShape:
    """`text_completion`, whole and in chunks. Thinking is left out: there is no place for it."""

    def __init__(self, *, usage: bool, details: bool) -> None:
        self._usage = usage
        self._details = details

    def whole(self, made: Made) -> dict[str, Any]:
        """See Shape."""
        assert made.finished is not None
        fields = self._framed(made, made.finished.text, finish_reason=made.finish_reason, is_last=True)
        return {**fields, "usage": made.usage}

    def opening(self, made: Made) -> bytes:
        """See Shape."""
        return b""

    def delta(self, made: Made, event: AnswerEvent) -> bytes:
        """See Shape."""
        return frame(self._framed(made, event.text)) if isinstance(event, TextDelta) else b""

    def closing(self, made: Made) -> bytes:
        """See Shape."""
        last = frame(self._framed(made, "", finish_reason=made.finish_reason, is_last=True))
        if self._usage:
            last += frame({**_head(made, "cmpl", "text_completion"), "choices": [], "usage": made.usage})
        return last + DONE

    def failed(self, made: Made, failure: Failure) -> bytes:
        """See Shape."""
        return frame(failure.as_json())

    def _framed(
        self, made: Made, text: str, *, finish_reason: str | None = None, is_last: bool = False
    ) -> dict[str, Any]:
        choice = {"index": 0, "text": text, "finish_reason": finish_reason, "logprobs": None}
        framed: dict[str, Any] = {**_head(made, "cmpl", "text_completion"), "choices": [choice]}
        if is_last and self._details:
            framed["layadesk"] = made.details()
        return framed


def _head(made: Made, prefix: str, kind: str) -> dict[str, Any]:
    return {
        "id": f"{prefix}-{made.request_id}",
        "object": kind,
        "created": made.created,
        "model": made.model,
        "system_fingerprint": FINGERPRINT,
    }
