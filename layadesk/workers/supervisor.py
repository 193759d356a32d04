"""Keeps one child alive: starts it, watches it, says how it ended, and starts it again by the rules of the domain.

One thread owns all state of a worker, so there is nothing to lock and no race to lose: calls from other threads become
wishes that it fulfils in order, and only it makes the terminal event of a request. It waits on [pipe, sentinel, alarm].
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from layadesk.domain.worker_state import (
    ExitKind,
    WorkerExit,
    WorkerKind,
    WorkerState,
    WorkerStatus,
    next_state,
)
from layadesk.protocol import PROTOCOL_VERSION
from layadesk.protocol.events import EngineReady, RouterReady
from layadesk.protocol.feed import Feed
from layadesk.workers.alarm import Alarm
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.liveness import Timing
from layadesk.workers.pid_file import reap_orphans
from layadesk.workers.running_child import RunningChild

log = logging.getLogger(__name__)

CommandT = TypeVar("CommandT")
EventT = TypeVar("EventT")
SaidT_contra = TypeVar("SaidT_contra", contravariant=True)

_KEPT_CRASHES = 16


class Owner(Protocol[SaidT_contra]):
    """The client above a supervisor. All calls come on the client thread."""

    def worker_ready(self, event: SaidT_contra) -> None:
        """The child said Ready; whatever it has to be told comes first now."""

    def worker_said(self, event: SaidT_contra) -> None:
        """Any other event."""

    def worker_ended(self, ended: WorkerExit, state: WorkerState) -> None:
        """The child is gone and its pipe is empty. `state` says what is next; GIVEN_UP and STOPPED are final."""

    def next_due(self) -> float | None:
        """When `due` wants to be called, on the supervisor's clock."""

    def due(self, now: float) -> None:
        """Called about then, and at other times."""


class Supervisor(Generic[CommandT, EventT]):
    """The life of one child, made and used by a client. Its public methods may be called from any thread.

    `status` is what was last published to `status_feed`, on the client thread. A supervisor that was stopped stays so.
    """

    def __init__(
        self,
        worker: WorkerKind,
        start: Callable[[], ChildProcess],
        *,
        owner: Owner[EventT],
        event_type: Any,
        log_dir: Path,
        run_dir: Path,
        timing: Timing | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.status = WorkerStatus(worker, WorkerState.STOPPED)
        self.status_feed: Feed[WorkerStatus] = Feed()
        self._worker = worker
        self._spawn = start
        self._owner = owner
        self._event_type = event_type
        self._log_dir = log_dir
        self._run_dir = run_dir
        self._timing = timing or Timing()
        self._clock = clock
        self._child: RunningChild[CommandT, EventT] | None = None
        self._crash_times: deque[float] = deque(maxlen=_KEPT_CRASHES)
        self._start_at = 0.0
        self._is_ending = False
        self._lock = threading.Lock()  # guards the two below and the thread's start
        self._wishes: deque[Callable[[], None]] = deque()
        self._is_over = False
        self._alarm = Alarm()
        self._thread = threading.Thread(target=self._run, name=f"{worker}-client", daemon=True)

    # Any thread

    def start(self) -> None:
        """Start the thread, which ends orphans of earlier runs and starts the child."""
        with self._lock:
            if not self.is_started and not self._is_over:
                self._thread.start()

    @property
    def is_started(self) -> bool:
        """Whether `start` was called."""
        return self._thread.ident is not None

    def call(self, action: Callable[[], None]) -> bool:
        """Run `action` on the client thread, in order; False when that thread has ended, and it never will."""
        with self._lock:
            if self._is_over:
                return False
            self._wishes.append(action)
        self._alarm.ring()
        return True

    def restart(self) -> None:
        """Start again after giving up, or at once instead of after the back-off; replaces a child that runs."""
        self.call(self._do_restart)

    def stop(self, timeout_s: float) -> None:
        """End the child and the thread; blocks for at most `timeout_s` and some seconds more for a wedged child."""
        with self._lock:
            was_started = self.is_started
        if not was_started:
            self._end_thread()
            return
        self.call(lambda: self._do_end(timeout_s))
        if threading.current_thread() is self._thread:
            return
        self._thread.join(timeout_s + self._timing.terminate_s + self._timing.unkillable_s + 1.0)
        child = self._child
        if self._thread.is_alive() and child is not None:
            log.error("the %s client thread is blocked by a callback; its child is killed", self._worker)
            child.kill()

    # The client thread

    @property
    def is_over(self) -> bool:
        """Whether this was stopped and has nothing left to end: what is asked for now will never be done."""
        return self._is_over or (self._is_ending and self.status.state is WorkerState.STOPPED)

    def send(self, command: CommandT) -> None:
        """Send to a child that said Ready. Raises BAD_PARAMETER for what cannot be sent. Client thread only."""
        if self._child is not None:
            self._child.send(command)

    def _run(self) -> None:
        try:
            self._reap_orphans()
            self._guard(self._start_child)
            while not self.is_over:
                self._guard(self._turn)
        finally:
            self._end_thread()

    def _reap_orphans(self) -> None:
        try:
            reap_orphans(self._run_dir)
        except Exception:  # a courtesy of earlier runs must not cost this one its child
            log.exception("orphans of earlier runs were not looked for")

    def _guard(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception:
            log.exception("the %s client failed", self._worker)
            self._collapse()

    def _turn(self) -> None:
        child = self._child
        waitables: list[Any] = [self._alarm.reader]
        if child is not None:
            waitables += [child.sentinel] if child.pipe is None else [child.pipe, child.sentinel]
        ready = wait(waitables, self._patience())
        if self._alarm.reader in ready:
            self._fulfil_wishes()
        if child is not None and child is self._child:
            self._attend(child, ready)
        now = self._clock()
        if self.status.state is WorkerState.WAITING and now >= self._start_at:
            self._start_child()
        self._owner.due(now)

    def _attend(self, child: RunningChild[CommandT, EventT], ready: list[Any]) -> None:
        has_ended = child.sentinel in ready or child.is_abandoned
        if child.pipe in ready or (has_ended and child.has_more_to_say()):
            event = child.read()
            if event is not None:
                self._take(child, event)
        elif has_ended:
            self._end_child(child)
            return
        child.keep_time()

    def _take(self, child: RunningChild[CommandT, EventT], event: EventT) -> None:
        if not isinstance(event, EngineReady | RouterReady):
            self._owner.worker_said(event)
        elif event.protocol_version != PROTOCOL_VERSION:
            child.condemn(ExitKind.PROTOCOL_MISMATCH, f"version {event.protocol_version}, not {PROTOCOL_VERSION}")
        elif self.status.state is WorkerState.STARTING:
            child.is_ready = True
            self._owner.worker_ready(event)
            self._move(WorkerState.READY, ended=None)

    def _start_child(self) -> None:
        self._move(WorkerState.STARTING, ended=self.status.exit)
        try:
            process = self._spawn()
        except Exception as error:
            log.exception("the %s process cannot be started", self._worker)
            self._after_crash(WorkerExit(ExitKind.PYTHON_ERROR, type(error).__name__), is_hopeless=False)
            return
        try:
            self._child = RunningChild(
                process,
                self._worker,
                event_type=self._event_type,
                log_dir=self._log_dir,
                run_dir=self._run_dir,
                timing=self._timing,
                clock=self._clock,
            )
        except BaseException:
            process.process.kill()
            raise
        self.status = replace(self.status, pid=process.pid)
        self.status_feed.publish(self.status)

    def _end_child(self, child: RunningChild[CommandT, EventT]) -> None:
        asked = self.status.state is WorkerState.STOPPING
        self._child = None
        ended = child.finish(asked_to_stop=asked)
        if asked:
            self._move(WorkerState.STOPPED, ended=ended)
            self._owner.worker_ended(ended, WorkerState.STOPPED if self._is_ending else WorkerState.STARTING)
            if not self._is_ending:
                self._start_child()
            return
        too_old = ended.kind is ExitKind.PROTOCOL_MISMATCH and not child.is_ready
        self._after_crash(ended, is_hopeless=too_old or ended.kind in (ExitKind.BAD_BUILD, ExitKind.CPU_TOO_OLD))

    def _after_crash(self, ended: WorkerExit, *, is_hopeless: bool) -> None:
        now = self._clock()
        self._crash_times.append(now)
        delay = None if is_hopeless else self._timing.back_off(tuple(self._crash_times), now)
        state = WorkerState.GIVEN_UP if delay is None else WorkerState.WAITING
        level = logging.ERROR if delay is None else logging.WARNING
        log.log(level, "the %s ended: %s (%s); %s", self._worker, ended.kind, ended.detail, state)
        self._start_at = now + (delay or 0.0)
        self._move(state, ended=ended, retry_in_s=delay)
        self._owner.worker_ended(ended, state)

    def _collapse(self) -> None:
        """After a bug in this thread: no child is better than one that nobody understands."""
        child, self._child = self._child, None
        ended = WorkerExit(ExitKind.PYTHON_ERROR, "client")
        if child is not None:
            child.kill()
            child.finish(asked_to_stop=False)
        if self.status.state in (WorkerState.STARTING, WorkerState.READY):
            self._move(WorkerState.GIVEN_UP, ended=ended)
        elif self.status.state is WorkerState.STOPPING:
            self._move(WorkerState.STOPPED, ended=ended)
        self._owner.worker_ended(ended, self.status.state)

    def _do_restart(self) -> None:
        self._crash_times.clear()
        if self.status.state in (WorkerState.GIVEN_UP, WorkerState.WAITING):
            self._start_child()
        elif self.status.state in (WorkerState.STARTING, WorkerState.READY):
            self._ask_to_leave(0.5)

    def _do_end(self, timeout_s: float) -> None:
        self._is_ending = True
        match self.status.state:
            case WorkerState.STARTING | WorkerState.READY:
                self._ask_to_leave(timeout_s)
            case WorkerState.WAITING | WorkerState.GIVEN_UP:
                ended = WorkerExit(ExitKind.STOPPED_BY_US, "not running")
                self._move(WorkerState.STOPPING, ended=self.status.exit)
                self._move(WorkerState.STOPPED, ended=ended)
                self._owner.worker_ended(ended, WorkerState.STOPPED)
            case WorkerState.STOPPING | WorkerState.STOPPED:
                pass

    def _ask_to_leave(self, timeout_s: float) -> None:
        self._move(WorkerState.STOPPING, ended=None)
        if self._child is not None:
            self._child.ask_to_leave(timeout_s)

    def _end_thread(self) -> None:
        with self._lock:
            self._is_over = True
        self._fulfil_wishes()
        self._alarm.close()

    def _fulfil_wishes(self) -> None:
        self._alarm.clear()
        while True:
            with self._lock:
                if not self._wishes:
                    return
                wish = self._wishes.popleft()
            wish()

    def _patience(self) -> float | None:
        """Seconds until something is due; None waits for the alarm alone."""
        due = [self._start_at] if self.status.state is WorkerState.WAITING else []
        if self._child is not None:
            due.append(self._child.next_due)
        asked = self._owner.next_due()
        if asked is not None:
            due.append(asked)
        return max(0.0, min(due) - self._clock()) if due else None

    def _move(self, state: WorkerState, *, ended: WorkerExit | None, retry_in_s: float | None = None) -> None:
        pid = None if self._child is None else self._child.pid
        state = next_state(self.status.state, state)
        self.status = WorkerStatus(self._worker, state, exit=ended, retry_in_s=retry_in_s, pid=pid)
        self.status_feed.publish(self.status)
