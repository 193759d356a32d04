"""How long the window works on putting an answer on the screen."""

import time
from collections import OrderedDict
from collections.abc import Callable

from layadesk.usecases.turns import TurnEvent

N_KEPT = 64


class ScreenClock:
    """Passes turn events on and adds up what taking them in costs, by answer. Painting itself is not in it."""

    def __init__(self, receiver: Callable[[TurnEvent], None], clock: Callable[[], float] = time.perf_counter) -> None:
        self._receiver = receiver
        self._clock = clock
        self._spent: OrderedDict[str, float] = OrderedDict()

    def take(self, event: TurnEvent) -> None:
        """The next event."""
        began = self._clock()
        try:
            self._receiver(event)
        finally:
            message_id = event.message_id if hasattr(event, "message_id") else event.answer.message_id
            self._spent[message_id] = self._spent.get(message_id, 0.0) + self._clock() - began
            if len(self._spent) > N_KEPT:
                self._spent.popitem(last=False)

    def spent_ms(self, message_id: str) -> float | None:
        """Milliseconds on one answer; None for one of an earlier run."""
        spent = self._spent.get(message_id)
        return None if spent is None else 1000 * spent
