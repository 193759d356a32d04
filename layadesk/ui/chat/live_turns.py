"""The answers that are being made, as the window has heard of them; no Qt.

A stream belongs to its message, not to what is on screen (reported faults E10, E23): whichever conversation is shown,
every event is kept here first, and a view that is opened in mid-answer takes its text from here.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from layadesk.domain.chat import Message
from layadesk.usecases.turns import (
    TurnDraft,
    TurnEnded,
    TurnEvent,
    TurnProgress,
    TurnPrompt,
    TurnRestarted,
    TurnRouted,
    TurnStarted,
    TurnText,
    TurnThinking,
)

N_ENDED_KEPT = 64


@dataclass(slots=True)
class LiveTurn:
    """One unfinished answer. `message` has its route as soon as that is known; its text is in `parts`, its thinking in
    `thinking_parts`.
    """

    message: Message
    parts: list[str] = field(default_factory=list)
    thinking_parts: list[str] = field(default_factory=list)
    n_chars: int = 0
    n_decoded: int = 0
    progress: TurnProgress | None = None
    prompt: TurnPrompt | None = None

    @property
    def text(self) -> str:
        """All text so far."""
        return _whole(self.parts)

    @property
    def thinking(self) -> str:
        """All thinking so far."""
        return _whole(self.thinking_parts)


def _whole(parts: list[str]) -> str:
    if len(parts) > 1:
        parts[:] = ["".join(parts)]
    return parts[0] if parts else ""


class LiveTurns:
    """GUI thread. Fed with every turn event before any widget sees it."""

    def __init__(self) -> None:
        self._running: dict[str, LiveTurn] = {}
        self._ended: OrderedDict[str, Message] = OrderedDict()

    def take(self, event: TurnEvent) -> None:
        """Note one event."""
        match event:
            case TurnStarted(answer=answer):
                parts, thinking = [answer.text] * bool(answer.text), [answer.thinking] * bool(answer.thinking)
                self._running[answer.message_id] = LiveTurn(answer, parts, thinking, n_chars=len(answer.text))
                self._ended.pop(answer.message_id, None)
            case TurnEnded(message_id=message_id, message=message):
                self._running.pop(message_id, None)
                self._ended[message_id] = message
                if len(self._ended) > N_ENDED_KEPT:
                    self._ended.popitem(last=False)
            case TurnRouted() | TurnRestarted() | TurnProgress() | TurnPrompt() | TurnThinking() | TurnText():
                turn = self._running.get(event.message_id)
                if turn is not None:
                    _note(turn, event)
            case TurnDraft():
                pass  # whole drafts come with the route

    def find(self, message_id: str) -> LiveTurn | None:
        """The unfinished answer with this id."""
        return self._running.get(message_id)

    def running_in(self, conversation_id: str) -> LiveTurn | None:
        """The unfinished answer of a conversation."""
        return next((t for t in self._running.values() if t.message.conversation_id == conversation_id), None)

    def running_conversations(self) -> frozenset[str]:
        """Where answers are being made."""
        return frozenset(turn.message.conversation_id for turn in self._running.values())

    def latest(self, message: Message) -> Message:
        """A message as read from the store, brought up to what has been heard since."""
        turn = self._running.get(message.message_id)
        if turn is not None:
            return replace(turn.message, text=turn.text, thinking=turn.thinking)
        ended = self._ended.get(message.message_id)
        return message if ended is None else replace(ended, correction=message.correction)

    @property
    def running(self) -> Mapping[str, LiveTurn]:
        """All unfinished answers by message id."""
        return self._running


def _note(
    turn: LiveTurn, event: TurnRouted | TurnRestarted | TurnProgress | TurnPrompt | TurnThinking | TurnText
) -> None:
    match event:
        case TurnRouted(route=route):
            turn.message = replace(turn.message, route=route, expert_id=route.expert)
        case TurnRestarted(route=route):
            turn.message = replace(turn.message, route=route, expert_id=route.expert, n_dropped=0)
            turn.parts.clear()
            turn.thinking_parts.clear()
            turn.n_chars = turn.n_decoded = 0
            turn.progress = turn.prompt = None
        case TurnProgress():
            turn.progress = event
        case TurnPrompt():
            turn.prompt = event
            turn.message = replace(turn.message, n_dropped=event.n_dropped)
        case TurnThinking():
            turn.thinking_parts.append(event.text)
            turn.n_decoded = event.n_decoded
            turn.progress = None
        case TurnText():
            turn.parts.append(event.text)
            turn.n_chars += len(event.text)
            turn.n_decoded = event.n_decoded
            turn.progress = None
