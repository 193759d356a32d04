"""The router as the rest of the app sees it: a question gets one answer in time, or the word that there is none."""

import itertools
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.routing import RouterAnswer
from layadesk.domain.worker_state import WorkerExit, WorkerKind, WorkerState, WorkerStatus
from layadesk.protocol.commands import Cancel, Decide, RouterCommand, RouteText
from layadesk.protocol.events import Decided, Failed, RouteAnswered, RouterEvent, RouterReady
from layadesk.protocol.feed import Feed
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.liveness import Timing
from layadesk.workers.supervisor import Supervisor

log = logging.getLogger(__name__)

DECIDE_S = 30.0
STARTING_S = 3.0  # the longest that a question waits for a router that is just starting, its answer included


@dataclass(slots=True)
class _OpenRoute:
    question: RouteText
    on_answer: Callable[[RouterAnswer | None], None]
    deadline_s: float
    due_at: float
    is_sent: bool = False


@dataclass(frozen=True, slots=True)
class _OpenDecision:
    question: Decide
    on_end: Callable[[Decided | Failed], None]
    due_at: float

    def end(self, event: Decided | Failed) -> None:
        """Tell the outcome."""
        try:
            self.on_end(event)
        except Exception:
            log.exception("a listener failed at the decision %s", self.question.request_id)


def _away(question: Decide) -> Failed:
    return Failed(question.request_id, ErrorReport(ErrorCode.ROUTER_AWAY))


class RouterClient:
    """All methods may be called from any thread and return at once, `stop` excepted.

    Answers come on the thread "router-client"; before `start` and after `stop`, `route` answers None itself. The router
    is a comfort: whatever is wrong with it, the chat goes on without.
    """

    def __init__(
        self,
        start: Callable[[], ChildProcess],
        *,
        log_dir: Path,
        run_dir: Path,
        timing: Timing | None = None,
        clock: Callable[[], float] = time.monotonic,
        starting_s: float = STARTING_S,
    ) -> None:
        self.ready: RouterReady | None = None
        self._starting_s = starting_s
        self._clock = clock
        self._ids = itertools.count(1)
        self._open: dict[str, _OpenRoute] = {}
        self._decisions: dict[str | None, _OpenDecision] = {}
        self._supervisor: Supervisor[RouterCommand, RouterEvent] = Supervisor(
            WorkerKind.ROUTER,
            start,
            owner=self,
            event_type=RouterEvent,
            log_dir=log_dir,
            run_dir=run_dir,
            timing=timing,
            clock=clock,
        )
        self.status_feed: Feed[WorkerStatus] = self._supervisor.status_feed

    @property
    def status(self) -> WorkerStatus:
        """Where the router stands now."""
        return self._supervisor.status

    def start(self) -> None:
        """Start the router in the background."""
        self._supervisor.start()

    def restart(self) -> None:
        """Start it again after it was given up; a running one is replaced."""
        self._supervisor.restart()

    def stop(self, timeout_s: float = 3.0) -> None:
        """End the router: asked first, then forced; blocks until nothing is left of it. Open questions get None."""
        self._supervisor.stop(timeout_s)

    def route(
        self,
        text: str,
        history: Sequence[str],
        on_answer: Callable[[RouterAnswer | None], None],
        deadline_s: float = 0.4,
    ) -> None:
        """Ask about one request. `on_answer` is called once: with None when the router is away, fails, or takes longer
        than `deadline_s` from now. For a router that is just starting that time begins when it is ready, and ends
        `starting_s` from now at the latest, if that is later.
        """
        question = RouteText(f"route-{next(self._ids)}", text, tuple(history))
        opened = _OpenRoute(question, on_answer, deadline_s, self._clock() + deadline_s)
        if not self._supervisor.is_started or not self._supervisor.call(lambda: self._ask(opened)):
            _tell(opened, None)

    def decide(self, question: Decide, on_end: Callable[[Decided | Failed], None]) -> None:
        """Ask questions of a client's own. `on_end` is called once; ROUTER_AWAY where nobody answers in DECIDE_S."""
        asked = _OpenDecision(question, on_end, self._clock() + DECIDE_S)
        if not self._supervisor.is_started or not self._supervisor.call(lambda: self._ask_decision(asked)):
            asked.end(_away(question))

    # Called by the supervisor, on the client thread

    def worker_ready(self, event: RouterEvent) -> None:
        """Ask what has been waiting."""
        assert isinstance(event, RouterReady)
        self.ready = event
        for opened in list(self._open.values()):
            opened.due_at = min(opened.due_at, self._clock() + opened.deadline_s)
            self._send(opened)

    def worker_said(self, event: RouterEvent) -> None:
        """Pass an answer on; one that is too late has nobody waiting for it."""
        match event:
            case RouteAnswered(request_id=request_id, answer=answer):
                self._close(request_id, answer)
            case Decided() | Failed() if event.request_id in self._decisions:
                self._decisions.pop(event.request_id).end(event)
            case Failed(request_id=request_id, error=error):
                log.warning("the router failed at %s: %s", request_id, error.code)
                self._close(request_id or "", None)
            case _:
                pass

    def worker_ended(self, ended: WorkerExit, state: WorkerState) -> None:  # nothing outlives a router
        """No answer will come."""
        self.ready = None
        for request_id in list(self._open):
            self._close(request_id, None)
        decisions, self._decisions = self._decisions, {}
        for asked in decisions.values():
            asked.end(_away(asked.question))

    def next_due(self) -> float | None:
        """When the next question has waited long enough."""
        routes = [opened.due_at for opened in self._open.values()]
        return min((*routes, *(asked.due_at for asked in self._decisions.values())), default=None)

    def due(self, now: float) -> None:
        """Give up on the questions whose time is over."""
        for request_id, opened in list(self._open.items()):
            if opened.due_at <= now:
                if opened.is_sent:
                    self._supervisor.send(Cancel(request_id))  # what nobody waits for need not be worked out
                self._close(request_id, None)
        for asked in [asked for asked in self._decisions.values() if asked.due_at <= now]:
            del self._decisions[asked.question.request_id]
            asked.end(_away(asked.question))

    # On the client thread

    def _ask_decision(self, asked: "_OpenDecision") -> None:
        if self._supervisor.is_over or self.status.state is not WorkerState.READY:
            asked.end(_away(asked.question))
            return
        self._decisions[asked.question.request_id] = asked
        try:
            self._supervisor.send(asked.question)
        except LayaDeskError as error:
            del self._decisions[asked.question.request_id]
            asked.end(Failed(asked.question.request_id, error.report))

    def _ask(self, opened: _OpenRoute) -> None:
        if self._supervisor.is_over or self.status.state not in (WorkerState.READY, WorkerState.STARTING):
            _tell(opened, None)
            return
        self._open[opened.question.request_id] = opened
        if self.status.state is WorkerState.READY:
            self._send(opened)
        else:
            opened.due_at += max(self._starting_s - opened.deadline_s, 0.0)

    def _send(self, opened: _OpenRoute) -> None:
        opened.is_sent = True
        try:
            self._supervisor.send(opened.question)
        except LayaDeskError as error:
            log.warning("a request cannot be sent to the router: %s", error.code)
            self._close(opened.question.request_id, None)

    def _close(self, request_id: str, answer: RouterAnswer | None) -> None:
        opened = self._open.pop(request_id, None)
        if opened is not None:
            _tell(opened, answer)


def _tell(opened: _OpenRoute, answer: RouterAnswer | None) -> None:
    try:
        opened.on_answer(answer)
    except Exception:
        log.exception("a listener failed at the answer to %s", opened.question.request_id)
