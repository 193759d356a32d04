"""What was done when, as bands behind the curves: routing, loading, prefill and decode of each answer."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from layadesk.protocol.feed import Feed
from layadesk.usecases.turns import (
    TurnDraft,
    TurnEnded,
    TurnEvent,
    TurnPhase,
    TurnProgress,
    TurnPrompt,
    TurnRestarted,
    TurnRouted,
    TurnStarted,
    TurnText,
    TurnThinking,
)

KEPT_S = 31 * 60.0
_MAX_BANDS = 4000


@dataclass(frozen=True, slots=True)
class Band:
    """One phase of one answer, in monotonic seconds; `until` is None while it goes on.

    A decode band begins at the first token.
    """

    phase: TurnPhase
    since: float
    until: float | None
    conversation_id: str
    message_id: str


class Timeline:
    """Follows the turn events on the worker threads; `bands` may be asked on any."""

    def __init__(self, turns: Feed[TurnEvent], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._ended: deque[Band] = deque(maxlen=_MAX_BANDS)
        self._open: dict[str, Band] = {}  # by message
        turns.subscribe(self._on_turn)

    def bands(self) -> tuple[Band, ...]:
        """Of the last half hour, in the order in which they ended; the open ones last."""
        with self._lock:
            return (*self._ended, *self._open.values())

    def _on_turn(self, event: TurnEvent) -> None:
        match event:
            case TurnStarted(answer=answer):
                self._enter(TurnPhase.ROUTING, answer.conversation_id, answer.message_id)
            case TurnRouted() | TurnRestarted():
                self._enter(TurnPhase.QUEUED, event.conversation_id, event.message_id)
            case TurnProgress(phase=phase):
                self._enter(phase, event.conversation_id, event.message_id)
            case TurnPrompt():
                self._enter(TurnPhase.PREFILL, event.conversation_id, event.message_id)
            case TurnText() | TurnThinking() | TurnDraft():
                self._enter(TurnPhase.DECODE, event.conversation_id, event.message_id)
            case TurnEnded():
                self._end(event.message_id)

    def _enter(self, phase: TurnPhase, conversation_id: str, message_id: str) -> None:
        open_band = self._open.get(message_id)  # only this thread writes
        if open_band is not None and open_band.phase is phase:
            return
        now = self._clock()
        with self._lock:
            self._close(message_id, now)
            self._open[message_id] = Band(phase, now, None, conversation_id, message_id)

    def _end(self, message_id: str) -> None:
        now = self._clock()
        with self._lock:
            self._close(message_id, now)
            while self._ended and (self._ended[0].until or now) < now - KEPT_S:
                self._ended.popleft()

    def _close(self, message_id: str, now: float) -> None:
        band = self._open.pop(message_id, None)
        if band is not None:
            self._ended.append(replace(band, until=now))
