"""A child's end of the line: what arrives, what leaves, and leaving at once when the app is gone."""

import contextlib
import logging
import os
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from layadesk.domain.errors import LayaDeskError
from layadesk.domain.worker_state import EXIT_PYTHON_ERROR
from layadesk.protocol.channel import Channel
from layadesk.protocol.commands import Ping
from layadesk.protocol.events import Pong
from layadesk.protocol.outbox import Outbox

if sys.platform == "win32":
    import ctypes
else:
    import resource

log = logging.getLogger(__name__)

ReceivedT = TypeVar("ReceivedT")
SentT = TypeVar("SentT")


class ChildLine(Generic[ReceivedT, SentT]):
    """The pipe to the app, served by the threads "inbox" and "outbox"; the child's main thread only touches `inbox`.

    Make and start it first thing in a child, before any slow import: from then on the process leaves within
    milliseconds of the app's death, also while its main thread sits in native code, and Ping is answered. Native code
    that keeps the interpreter lock (ctypes' `CDLL` does not) would stop both.
    """

    def __init__(self, connection: "Connection[Any, Any]", received_type: Any) -> None:
        self.inbox: queue.SimpleQueue[ReceivedT] = queue.SimpleQueue()
        self._channel: Channel[SentT | Pong, ReceivedT | Ping] = Channel(connection, received_type)
        self._outbox: Outbox[SentT | Pong] = Outbox(self._channel, on_failure=_leave_loudly)
        self._progress = ("starting", 0)
        self._thread = threading.Thread(target=self._receive_all, name="inbox", daemon=True)

    def start(self) -> None:
        """Start both threads. On the main thread, where Ctrl-C in a terminal is set to be the app's business alone."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        die_quickly()
        self._outbox.start()
        self._thread.start()

    def send(self, message: SentT) -> None:
        """Queue one event; never waits for the app. Any thread."""
        self._outbox.put(message)

    def set_phase(self, phase: str, step: int) -> None:
        """What the main thread is in (`idle`, `loading`, `prefill`, `decode`) and a counter that moves with its work.

        In `prefill` and `decode` a step that stands still too long is taken for a hang, and the child is killed: count
        something that also moves on a slow machine. Cheap; any thread.
        """
        self._progress = (phase, step)

    def flush(self, timeout_s: float) -> bool:
        """Wait until all events so far are in the pipe. Call it before native code that may end the process."""
        return self._outbox.flush(timeout_s)

    def close(self, timeout_s: float) -> None:
        """Send what is waiting, at most for `timeout_s`. The last call before `run` returns."""
        self._outbox.close(timeout_s)

    def _receive_all(self) -> None:
        while True:
            try:
                command = self._channel.receive()
            except (EOFError, OSError):
                os._exit(0)  # the app is gone; not sys.exit, since the main thread may sit deep in native code
            except LayaDeskError as error:
                _leave_loudly(error)
            if isinstance(command, Ping):
                phase, step = self._progress
                self._outbox.put(Pong(command.n, phase, step))
            else:
                self.inbox.put(command)


def die_quickly() -> None:
    """Let a crash of this process end it at once.

    Otherwise its death is seen only after gigabytes of memory image went to the disk (Linux, also where a program such
    as systemd-coredump takes it), or after a person has closed a dialog (Windows).
    """
    if sys.platform == "win32":
        fail_critical_errors, no_fault_box, no_open_file_box = 0x1, 0x2, 0x8000
        ctypes.windll.kernel32.SetErrorMode(fail_critical_errors | no_fault_box | no_open_file_box)
    else:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with contextlib.suppress(OSError):  # Linux alone has it
            Path("/proc/self/coredump_filter").write_text("0x0", encoding="ascii")


def _leave_loudly(error: Exception) -> NoReturn:
    """A broken line cannot be repaired from here: the app sees the death and starts a new child."""
    log.critical("the line to the app is broken", exc_info=error)
    logging.shutdown()
    os._exit(EXIT_PYTHON_ERROR)
