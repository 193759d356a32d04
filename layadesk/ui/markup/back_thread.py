"""One thread beside the window's for what would hold it up: formulas, and the colours of long code."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge

log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")


class Beside(Protocol):
    """Runs something elsewhere; tests have one that runs it at once."""

    def run(self, work: Callable[[], ResultT], on_result: Callable[[ResultT], None]) -> None:
        """Have `work` done and hand its result to `on_result`, a method of a QObject, on the GUI thread."""
        ...

    def close(self) -> None:
        """End; what waits is dropped."""
        ...


class BackThread:
    """Started by the first piece of work. `work` must not touch Qt objects of the window."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._pool: ThreadPoolExecutor | None = None
        self._is_closed = False

    def run(self, work: Callable[[], ResultT], on_result: Callable[[ResultT], None]) -> None:
        """See `Beside`."""
        if self._is_closed:
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "markup")
        self._bridge.deliver(self._pool.submit(work), on_result, on_error=_on_error)

    def close(self) -> None:
        """See `Beside`."""
        self._is_closed = True
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _on_error(report: ErrorReport) -> None:
    log.warning("text could not be prepared: %s", report.code)
