"""One child from its start to its end: its line, its liveness, and what is done when it will not leave."""

import contextlib
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, TypeVar

from layadesk.domain.errors import LayaDeskError
from layadesk.domain.worker_state import ExitKind, WorkerExit, WorkerKind, classify_exit
from layadesk.protocol.commands import Ping, Shutdown
from layadesk.protocol.events import Pong
from layadesk.protocol.native_log import (
    SELF_TEST_BEGIN,
    SELF_TEST_LACKS,
    SELF_TEST_OK,
    native_log_file,
    read_native_log,
)
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.job_object import bind_to_app
from layadesk.workers.liveness import Liveness, Timing
from layadesk.workers.pid_file import remove_pid_file, write_pid_file
from layadesk.workers.worker_line import WorkerLine

CommandT = TypeVar("CommandT")
EventT = TypeVar("EventT")

LOG_TAIL_LINES = 40


class RunningChild(Generic[CommandT, EventT]):
    """Owned by the client thread; only `kill` may be called from others.

    Its supervisor waits on `pipe` and `sentinel`, reads while the pipe has something (so that text sent before a death
    is not lost), and then calls `finish` when the sentinel fired or it `is_abandoned`.
    """

    def __init__(
        self,
        child: ChildProcess,
        worker: WorkerKind,
        *,
        event_type: Any,
        log_dir: Path,
        run_dir: Path,
        timing: Timing,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.is_ready = False
        self.is_abandoned = False
        self._child = child
        self._worker = worker
        self._log_file = native_log_file(log_dir, worker)
        self._timing = timing
        self._clock = clock
        self._job = bind_to_app(child.process.sentinel)  # on Windows the sentinel is the process handle
        self._line: WorkerLine[CommandT | Ping | Shutdown, EventT | Pong] = WorkerLine(
            child, event_type, name=worker, half_frame_s=timing.half_frame_s, clock=clock
        )
        self._pid_file = write_pid_file(run_dir, worker, pid=child.pid)
        self._liveness = Liveness(timing)
        self._ping_at = clock()
        self._is_line_open = True
        self._verdict: tuple[ExitKind, str] | None = None
        self._plan: deque[tuple[float, Callable[[], None]]] = deque()  # what to do, and when, until it is gone

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    @property
    def sentinel(self) -> int:
        """What becomes ready when it dies."""
        return self._child.process.sentinel

    @property
    def pipe(self) -> "Connection[Any, Any] | None":
        """What becomes ready when it says something; None when nothing can come any more."""
        return self._line.connection if self._is_line_open else None

    def has_more_to_say(self) -> bool:
        """Whether a dead child left words in the pipe. Asked again after its death, since `wait` looks at the pipe
        before it looks at the sentinel, and the last words may fall between."""
        if not self._is_line_open:
            return False
        try:
            return self._line.connection.poll(0)
        except OSError:  # Windows says the end of the line that way
            return False

    def send(self, command: CommandT) -> None:
        """Queue one command; never blocks. Raises BAD_PARAMETER for one that cannot be sent."""
        self._line.send(command)

    def read(self) -> EventT | None:
        """The next event, when the pipe is among what `wait` returned; None for a Pong, or when the line broke."""
        try:
            event = self._line.receive()
        except BlockingIOError:
            self._is_line_open = False
            self.condemn(ExitKind.HUNG, "half a message")
        except LayaDeskError as error:
            self._is_line_open = False
            self.condemn(ExitKind.PROTOCOL_MISMATCH, str(error.facts.get("detail")))
        except (EOFError, OSError):
            self._is_line_open = False
            if not self._plan:  # the sentinel follows within milliseconds, unless only the pipe was closed
                self._do_at(self._timing.leave_s, lambda: self.condemn(ExitKind.PROTOCOL_MISMATCH, "line closed"))
        else:
            if not isinstance(event, Pong):
                return event
            self._liveness.take(event)
        return None

    @property
    def next_due(self) -> float:
        """When `keep_time` has something to do next, on the clock given."""
        if self._plan:
            return self._plan[0][0]
        busy_since = self._line.busy_since
        return self._ping_at if busy_since is None else min(self._ping_at, busy_since + self._timing.pipe_full_s)

    def keep_time(self) -> None:
        """Ping, judge, and take the next step against a child that will not leave."""
        now = self._clock()
        while self._plan and self._plan[0][0] <= now:
            self._plan.popleft()[1]()
        if self._plan:
            return
        busy_since = self._line.busy_since
        if busy_since is not None and now - busy_since >= self._timing.pipe_full_s:
            self.condemn(ExitKind.HUNG, "full pipe")
        elif self._ping_at <= now:
            self._ping_at = now + self._timing.ping_every_s
            self._line.send(self._liveness.next_ping())
            complaint = self._liveness.complaint() if self.is_ready else None
            if complaint is None and not self.is_ready and self._liveness.is_overdue():
                complaint = "starting"
            if complaint is not None:
                self.condemn(ExitKind.HUNG, complaint)

    def ask_to_leave(self, timeout_s: float) -> None:
        """Shutdown now, SIGTERM after `timeout_s`, SIGKILL soon after that."""
        self._line.send(Shutdown())
        self._plan.clear()
        self._do_at(timeout_s, self._child.process.terminate)
        self._do_at(timeout_s + self._timing.terminate_s, self.kill)
        self._do_at(timeout_s + self._timing.terminate_s + self._timing.unkillable_s, self._abandon)

    def condemn(self, kind: ExitKind, detail: str) -> None:
        """Kill it, and remember the reason, which its exit code does not tell."""
        if self._verdict is None:
            self._verdict = (kind, detail)
        self.kill()
        self._plan.clear()
        self._do_at(self._timing.unkillable_s, self._abandon)

    def kill(self) -> None:
        """SIGKILL, from any thread; nothing if it has ended."""
        with contextlib.suppress(ValueError):  # closed meanwhile
            self._child.process.kill()

    def finish(self, *, asked_to_stop: bool) -> WorkerExit:
        """How it ended; frees everything that was held for it."""
        code = None if self.is_abandoned else self._child.wait_exit_code(1.0)
        lines = read_native_log(self._log_file, self.pid)
        self._line.close()
        if self._job is not None:
            self._job.close()
        if code is not None:
            remove_pid_file(self._pid_file)  # else it may live on, and the next start has to know
        with contextlib.suppress(ValueError):  # it is still there: unkillable
            self._child.process.close()
        return self._classify(code, lines, asked_to_stop=asked_to_stop)

    def _classify(self, code: int | None, lines: tuple[str, ...], *, asked_to_stop: bool) -> WorkerExit:
        tail = lines[-LOG_TAIL_LINES:]
        if self._verdict is not None and not asked_to_stop:
            return WorkerExit(*self._verdict, tail)
        if code is None:
            kind = ExitKind.STOPPED_BY_US if asked_to_stop else ExitKind.NATIVE_CRASH
            return WorkerExit(kind, "unknown", tail)
        told = classify_exit(code, asked_to_stop=asked_to_stop, log_tail=tail)
        has_begun, is_over = (any(mark in line for line in lines) for mark in (SELF_TEST_BEGIN, SELF_TEST_OK))
        lacking = next((line for line in lines if SELF_TEST_LACKS in line), None)
        if lacking is not None and told.kind is ExitKind.BAD_BUILD:
            return WorkerExit(ExitKind.CPU_TOO_OLD, lacking.partition(SELF_TEST_LACKS)[2], tail)
        in_self_test = has_begun and not is_over and not self.is_ready
        if in_self_test and told.kind in (ExitKind.NATIVE_CRASH, ExitKind.PYTHON_ERROR):
            return WorkerExit(ExitKind.BAD_BUILD, told.detail, tail)
        return told

    def _do_at(self, delay_s: float, action: Callable[[], None]) -> None:
        self._plan.append((self._clock() + delay_s, action))

    def _abandon(self) -> None:
        self.is_abandoned = True
