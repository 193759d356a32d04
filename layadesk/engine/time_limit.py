"""A time limit that stops Python code which will not stop by itself: a loop in a hostile chat template."""

import sys
import time
from types import FrameType, TracebackType
from typing import Any

TEMPLATE_FILE = "<template>"  # what Jinja names the file of a compiled template
_LOOK_EVERY = 64


class TimeLimitExceeded(BaseException):
    """Raised inside the limited code. Not an `Exception`, so that nothing in between swallows it."""


class TimeLimit:
    """`with TimeLimit(seconds):` raises TimeLimitExceeded in template code inside, once the time is over.

    Works as a trace function of this thread, which Python calls at each line of a template and at each call in Jinja:
    rendering takes four times as long, 0.1 ms a message. An exception thrown in from another thread would cost nothing,
    but it could hit anything, also the code after the block. A single long call into C is not interrupted:
    `template_sandbox.py` bounds those.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends_at = 0.0
        self._n_events = 0
        self._outer: Any = None

    def __enter__(self) -> None:
        self._ends_at = time.monotonic() + self._seconds
        self._outer = sys.gettrace()
        sys.settrace(self._trace)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        sys.settrace(self._outer)

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Called for every function that is entered; returns what to call for its lines."""
        if frame.f_code.co_filename == TEMPLATE_FILE:
            return self._look
        if frame.f_globals.get("__name__", "").startswith("jinja2."):
            self._look(frame, event, arg)
        return None

    def _look(self, _frame: FrameType, _event: str, _arg: Any) -> Any:
        self._n_events += 1
        if self._n_events % _LOOK_EVERY == 0 and time.monotonic() > self._ends_at:
            raise TimeLimitExceeded
        return self._look
