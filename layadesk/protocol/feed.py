"""One-to-many delivery inside the app: worker states, samples, turn events."""

import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

EventT = TypeVar("EventT")


class Feed(Generic[EventT]):
    """Hands every event to every subscriber, in order, on the thread that publishes."""

    def __init__(self) -> None:
        self._subscribers: dict[int, Callable[[EventT], None]] = {}
        self._next = 0
        self._lock = threading.Lock()

    def subscribe(self, callback: Callable[[EventT], None]) -> Callable[[], None]:
        """Call `callback` for each event from now on; returns what ends the subscription."""
        with self._lock:
            key = self._next
            self._next += 1
            self._subscribers[key] = callback

        def unsubscribe() -> None:
            with self._lock:
                self._subscribers.pop(key, None)

        return unsubscribe

    def publish(self, event: EventT) -> None:
        """Deliver one event. A subscriber that raises is logged and does not stop the others."""
        with self._lock:
            subscribers = list(self._subscribers.values())
        for callback in subscribers:
            try:
                callback(event)
            except Exception:
                log.exception("a subscriber of %s failed", type(event).__name__)
