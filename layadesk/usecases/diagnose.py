"""The health of the installation, asked for without waiting: for the window and for whoever wants to show it."""

import threading
from collections.abc import Callable
from concurrent.futures import Future

from layadesk.usecases.check_installation import Finding


class Diagnose:
    """`check` runs on a thread of its own, because it waits for the children; one check at a time."""

    def __init__(self, check: Callable[[], tuple[Finding, ...]]) -> None:
        self._check = check
        self._lock = threading.Lock()
        self._running: Future[tuple[Finding, ...]] | None = None

    def check(self) -> Future[tuple[Finding, ...]]:
        """The findings, in the order in which they should be mended. Who asks during a check gets that one."""
        with self._lock:
            if self._running is not None:
                return self._running
            future: Future[tuple[Finding, ...]] = Future()
            self._running = future
        threading.Thread(target=self._run, args=(future,), name="diagnose", daemon=True).start()
        return future

    def _run(self, future: Future[tuple[Finding, ...]]) -> None:
        try:
            findings = self._check()
        except Exception as error:  # noqa: BLE001 - it belongs to who holds the future
            self._forget()
            future.set_exception(error)
        else:
            self._forget()
            future.set_result(findings)

    def _forget(self) -> None:
        with self._lock:
            self._running = None
