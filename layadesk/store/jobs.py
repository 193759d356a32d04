"""What waits for the store's thread: first in, first out, and of two states of one thing only the newer is written."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

# Runs on the store's thread. A write gets its connection there; see `Store`.
Work = Callable[[], Any]


@dataclass(slots=True, eq=False)
class Job:
    """One piece of work and all whom its end is told. `replaces` names the state it brings; "" is no state.

    `is_state` is true where a newer job of the same name makes this one needless. `fence` keeps what was queued before
    it from being skipped for what comes after it, because a reader waits for exactly that.
    """

    work: Work
    futures: list[Future[Any]] = field(default_factory=list)
    replaces: str = ""
    is_state: bool = False
    fence: bool = False
    is_skipped: bool = False


class JobQueue:
    """Unbounded: text that is queued is in memory anyway, and states do not pile up. Any thread puts, one takes."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._newest: dict[str, Job] = {}  # of each state that may still be skipped
        self._changed = threading.Condition()
        self._is_closed = False

    def put(self, job: Job) -> bool:
        """Queue a job; False when the queue is closed. Whoever waited for a skipped job gets this one's result."""
        with self._changed:
            if self._is_closed:
                return False
            if job.fence:
                self._newest.clear()
            older = self._newest.pop(job.replaces, None) if job.replaces else None
            if older is not None:
                older.is_skipped = True
                job.futures[:0] = older.futures
                older.futures = []
            if job.is_state:
                self._newest[job.replaces] = job
            self._jobs.append(job)
            self._changed.notify()
            return True

    def take(self, timeout_s: float | None) -> Job | None:
        """The next job; waits. None when the time is over, or when the queue is closed and empty."""
        with self._changed:
            if not self._jobs and not self._is_closed:
                self._changed.wait(timeout_s)
            while self._jobs:
                job = self._jobs.popleft()
                if self._newest.get(job.replaces) is job:
                    del self._newest[job.replaces]
                if not job.is_skipped:
                    return job
            return None

    def close(self) -> None:
        """Accept nothing more; what is queued is still handed out."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    @property
    def is_over(self) -> bool:
        """Closed and empty."""
        with self._changed:
            return self._is_closed and not self._jobs
