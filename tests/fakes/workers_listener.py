"""Listeners that remember what they heard and let a test wait for it."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from layadesk.domain.errors import ErrorCode
from layadesk.protocol.events import Failed, Finished, RequestEvent, TextDelta
from tests.invariants import check_request

HeardT = TypeVar("HeardT")
PATIENCE_S = 20.0  # only a broken product is ever waited for so long; the machine may be busy


class Heard(Generic[HeardT]):
    """Keeps everything it is called with, and when."""

    def __init__(self) -> None:
        self.all: list[HeardT] = []
        self.times: list[float] = []
        self._changed = threading.Condition()

    def __call__(self, one: HeardT) -> None:
        with self._changed:
            self.all.append(one)
            self.times.append(time.monotonic())
            self._changed.notify_all()

    def wait_until(self, is_done: Callable[[list[HeardT]], bool], timeout_s: float = PATIENCE_S) -> list[HeardT]:
        """Everything heard so far, as soon as `is_done`; fails after `timeout_s`."""
        with self._changed:
            assert self._changed.wait_for(lambda: is_done(self.all), timeout_s), f"only heard {self.all[-5:]}"
            return list(self.all)

    def wait_for(self, is_it: Callable[[HeardT], bool], timeout_s: float = PATIENCE_S) -> HeardT:
        """The first thing heard, before or from now on, that `is_it`."""
        heard = self.wait_until(lambda all_: any(is_it(one) for one in all_), timeout_s)
        return next(one for one in heard if is_it(one))

    def refuse_for(self, seconds: float, is_it: Callable[[HeardT], bool]) -> None:
        """Fail if something new that `is_it` is heard within that time: the one way to see that nothing happens."""
        with self._changed:
            start = len(self.all)
            happened = self._changed.wait_for(lambda: any(is_it(one) for one in self.all[start:]), seconds)
            assert not happened, self.all[start:]


class RequestListener(Heard[RequestEvent]):
    """Listens to one request and checks the promises kept for it."""

    def __init__(self, request_id: str) -> None:
        super().__init__()
        self.request_id = request_id

    def wait_text(self, n_chars: int = 1) -> str:
        """Wait until there is that much text."""
        self.wait_until(lambda events: len(_text(events)) >= n_chars)
        return _text(self.all)

    def wait_end(self, timeout_s: float = PATIENCE_S) -> Finished | Failed:
        """The terminal event, after a check of the whole life of the request."""
        end = self.wait_for(lambda event: isinstance(event, Finished | Failed), timeout_s)
        assert isinstance(end, Finished | Failed)
        self.check()
        return end

    def wait_failure(self, timeout_s: float = PATIENCE_S) -> ErrorCode:
        """The code of the failure with which the request ended."""
        end = self.wait_end(timeout_s)
        assert isinstance(end, Failed), end
        return end.error.code

    def check(self) -> str:
        """The promises of one ended request; returns its text."""
        return check_request(self.all, self.request_id)

    @property
    def ended_at(self) -> float:
        """When the terminal event came (monotonic)."""
        return self.times[-1]


def _text(events: list[RequestEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))
