"""Answers in the words of `/v1/responses`: a response of items, whole or in named events. One shape for each answer."""

import time
from collections.abc import Callable
from typing import Any

from layadesk.api_server.failures import Failure
from layadesk.api_server.made import Made
from layadesk.api_server.response_requests import ResponseRequest
from layadesk.api_server.shapes import frame
from layadesk.protocol.events import TextDelta, ThinkingDelta
from layadesk.usecases.answer_order import AnswerEvent


class ResponseShape:
    """See Shape. `ended` gets every response that was completed."""

    def __init__(self, asked: ResponseRequest, ended: Callable[[dict[str, Any], Made], None]) -> None:
        self._asked = asked
        self._ended = ended
        self._n_sent = 0
        self._n_items = 0
        self._open: tuple[str, str] | None = None  # kind and id of the item that is being written
        self._parts: list[str] = []

    def whole(self, made: Made) -> dict[str, Any]:
        """See Shape."""
        assert made.finished is not None
        output = []
        if made.finished.thinking:
            output.append(_item("reasoning", f"rs_{made.request_id}", made.finished.thinking))
        if made.finished.text or not made.finished.tool_calls:
            output.append(_item("message", f"msg_{made.request_id}", made.finished.text))
        output += _calls(made)
        is_cut = made.finish_reason == "length"
        response = {
            **self._head(made, "incomplete" if is_cut else "completed"),
            "output": output,
            "usage": _usage(made),
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "completed_at": int(time.time()),
        }
        if self._asked.layadesk:
            response["layadesk"] = made.details()
        self._ended(response, made)
        return response

    def opening(self, made: Made) -> bytes:
        """See Shape."""
        head = self._head(made, "in_progress")
        return self._event("response.created", response=head) + self._event("response.in_progress", response=head)

    def delta(self, made: Made, event: AnswerEvent) -> bytes:
        """See Shape."""
        match event:
            case TextDelta(text=text):
                begun = self._begin(made, "message", "msg")
                return begun + self._delta_of("response.output_text.delta", text, logprobs=[])
            case ThinkingDelta(text=text):
                begun = self._begin(made, "reasoning", "rs")
                return begun + self._delta_of("response.reasoning_text.delta", text)
            case _:
                return b""

    def closing(self, made: Made) -> bytes:
        """See Shape."""
        frames = self._close()
        for call in _calls(made):
            place = {"item_id": call["id"], "output_index": self._n_items}
            begun = {**call, "arguments": "", "status": "in_progress"}
            frames += self._event("response.output_item.added", output_index=self._n_items, item=begun)
            frames += self._event("response.function_call_arguments.delta", **place, delta=call["arguments"])
            arguments = {"arguments": call["arguments"], "name": call["name"]}
            frames += self._event("response.function_call_arguments.done", **place, **arguments)
            frames += self._event("response.output_item.done", output_index=self._n_items, item=call)
            self._n_items += 1
        response = self.whole(made)
        return frames + self._event(f"response.{response['status']}", response=response)

    def failed(self, made: Made, failure: Failure) -> bytes:
        """See Shape."""
        error = {"code": failure.code, "message": failure.message}
        response = {**self._head(made, "failed"), "error": error, "usage": _usage(made)}
        return self._close() + self._event("response.failed", response=response)

    def _begin(self, made: Made, kind: str, prefix: str) -> bytes:
        """Open an item, and close the one before it."""
        if self._open is not None and self._open[0] == kind:
            return b""
        frames = self._close()
        self._open = (kind, f"{prefix}_{made.request_id}")
        item = {**_item(kind, self._open[1], ""), "status": "in_progress", "content": []}
        frames += self._event("response.output_item.added", output_index=self._n_items, item=item)
        if kind == "message":
            frames += self._event("response.content_part.added", **self._place(), part=_part(kind, ""))
        return frames

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        (kind, item_id), text = self._open, "".join(self._parts)
        frames = b""
        if kind == "message":
            frames += self._event("response.output_text.done", **self._place(), text=text, logprobs=[])
            frames += self._event("response.content_part.done", **self._place(), part=_part(kind, text))
        else:
            frames += self._event("response.reasoning_text.done", **self._place(), text=text)
        item = _item(kind, item_id, text)
        frames += self._event("response.output_item.done", output_index=self._n_items, item=item)
        self._open, self._parts = None, []
        self._n_items += 1
        return frames

    def _delta_of(self, name: str, text: str, **more: Any) -> bytes:
        self._parts.append(text)
        return self._event(name, **self._place(), delta=text, **more)

    def _place(self) -> dict[str, Any]:
        return {
            "item_id": "" if self._open is None else self._open[1],
            "output_index": self._n_items,
            "content_index": 0,
        }

    def _event(self, kind: str, /, **fields: Any) -> bytes:
        number, self._n_sent = self._n_sent, self._n_sent + 1
        return frame({"type": kind, "sequence_number": number, **fields}, event=kind)

    def _head(self, made: Made, status: str) -> dict[str, Any]:
        asked = self._asked
        return {
            "id": f"resp_{made.request_id}",
            "object": "response",
            "created_at": made.created,
            "status": status,
            "model": made.model,
            "output": [],
            "error": None,
            "incomplete_details": None,
            "instructions": asked.instructions,
            "previous_response_id": asked.previous_response_id,
            "max_output_tokens": asked.max_output_tokens,
            "temperature": asked.temperature,
            "top_p": asked.top_p,
            "parallel_tool_calls": True,
            "tool_choice": asked.tool_choice if isinstance(asked.tool_choice, str) else "auto",
            "tools": [],
            "text": {"format": {"type": "text"}},
            "store": asked.store is not False,
            "truncation": "disabled",
            "metadata": {},
            "usage": None,
        }


def _part(kind: str, text: str) -> dict[str, Any]:
    if kind == "reasoning":
        return {"type": "reasoning_text", "text": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _item(kind: str, item_id: str, text: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": item_id, "type": kind, "status": "completed", "content": [_part(kind, text)]}
    return {**fields, "summary": []} if kind == "reasoning" else {**fields, "role": "assistant"}


def _calls(made: Made) -> list[dict[str, Any]]:
    calls = () if made.finished is None else made.finished.tool_calls
    return [
        {
            "type": "function_call",
            "id": f"fc_{one.call_id}",
            "call_id": one.call_id,
            "name": one.name,
            "arguments": one.arguments,
            "status": "completed",
        }
        for one in calls
    ]


def _usage(made: Made) -> dict[str, Any] | None:
    usage = made.usage
    if usage is None:
        return None
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": usage["prompt_tokens_details"],
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": usage["completion_tokens_details"],
        "total_tokens": usage["total_tokens"],
    }
