"""The answers of this session, as far as a diagnosis needs them. Their texts are looked at and not kept."""

import threading
from collections import deque

from layadesk.domain.chat import Message
from layadesk.domain.diagnosis import Answered, is_repeating
from layadesk.protocol.feed import Feed
from layadesk.usecases.turns import TurnEnded, TurnEvent, TurnPhase, TurnProgress, TurnStarted

N_KEPT = 200


class SessionLog:
    """Follows the turn events on the worker threads; `answers` may be asked on any."""

    def __init__(self, turns: Feed[TurnEvent]) -> None:
        self._lock = threading.Lock()
        self._answers: deque[Answered] = deque(maxlen=N_KEPT)
        self._loading: set[str] = set()  # messages that wait for their expert
        self._begun_in_load: set[str] = set()
        turns.subscribe(self._on_turn)

    def answers(self) -> tuple[Answered, ...]:
        """Oldest first."""
        with self._lock:
            return tuple(self._answers)

    def _on_turn(self, event: TurnEvent) -> None:
        match event:
            case TurnStarted(answer=answer) if self._loading:
                self._begun_in_load.add(answer.message_id)
            case TurnProgress(phase=phase, message_id=message_id):
                if phase is TurnPhase.LOADING:
                    self._loading.add(message_id)
                else:
                    self._loading.discard(message_id)
            case TurnEnded(message=message):
                self._loading.discard(message.message_id)
                with self._lock:
                    self._answers.append(self._answered(message))
                self._begun_in_load.discard(message.message_id)
            case _:
                pass

    def _answered(self, message: Message) -> Answered:
        return Answered(
            message.expert_id,
            message.timings,
            None if message.error is None else message.error.code,
            None if message.route is None else message.route.route_ms,
            was_loading=message.message_id in self._begun_in_load,
            is_repeating=is_repeating(message.text),
        )
