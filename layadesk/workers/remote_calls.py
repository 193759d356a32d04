"""Tool calls at an OpenAI-compatible server: asked for as they are, put together again from the pieces they come in."""

import json
import secrets
from dataclasses import dataclass
from typing import Any

from layadesk.domain.inference import ToolCall, ToolUse

MAX_CALLS = 128


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A part of call number `index`: its id and name once, its arguments bit by bit."""

    index: int
    call_id: str
    name: str
    arguments: str


class CallPieces:
    """The calls of one answer. A server that goes on beyond MAX_CALLS is not listened to."""

    def __init__(self) -> None:
        self._calls: dict[int, list[str]] = {}

    def add(self, piece: CallPiece) -> None:
        """Take the next piece."""
        if piece.index not in self._calls and len(self._calls) >= MAX_CALLS:
            return
        call = self._calls.setdefault(piece.index, ["", "", ""])
        call[0], call[1] = call[0] or piece.call_id, call[1] or piece.name
        call[2] += piece.arguments

    def whole(self) -> tuple[ToolCall, ...]:
        """What is there so far, in order; one without a name is none."""
        calls = [self._calls[index] for index in sorted(self._calls)]
        return tuple(ToolCall(i or f"c{secrets.token_hex(4)}", name, args or "{}") for i, name, args in calls if name)


def tools_in_body(tools: ToolUse | None) -> dict[str, Any]:
    """The fields of a request that offer tools."""
    if tools is None:
        return {}
    choice: Any = "required" if tools.forced else "auto"
    if len(tools.forced) == 1:
        choice = {"type": "function", "function": {"name": tools.forced[0]}}
    return {"tools": json.loads(tools.tools), "tool_choice": choice}
