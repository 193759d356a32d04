"""News that come too often, told at a pace that eyes and a window can follow."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from layadesk.protocol.feed import Feed

ValueT = TypeVar("ValueT")


class SlowFeed(Generic[ValueT]):
    """Publishes what `current` gives after a `tell`, and while it `moves`, every `pause_s`, on a thread of its own.

    The last state is always told. Any thread may tell.
    """

    def __init__(
        self, feed: Feed[ValueT], current: Callable[[], ValueT], moves: Callable[[], bool], pause_s: float
    ) -> None:
        self._feed = feed
        self._moves = moves
        self._current = current
        self._pause_s = pause_s
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def tell(self) -> None:
        """Something has changed."""
        self._news.set()
        with self._lock:
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._run, name="slow-feed", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Tell what has not been told yet, and end."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        self._news.set()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        told_at = 0.0
        while True:
            self._news.wait(self._pause_s if self._moves() else None)
            if not self._is_closed:
                time.sleep(max(0.0, told_at + self._pause_s - time.monotonic()))
            is_last = self._is_closed
            self._news.clear()
            told_at = time.monotonic()
            self._feed.publish(self._current())
            if is_last:
                return
