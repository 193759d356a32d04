"""Route one request, then have the chosen expert answer it: what the window, `ask` and the HTTP server share."""

import threading
from collections.abc import Callable

from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.protocol.events import Failed, Queued
from layadesk.usecases.answer_order import AnswerEvent, AnswerOrder
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.expert_runners import ExpertRunners
from layadesk.usecases.load_gate import LoadGate
from layadesk.usecases.one_answer import OneAnswer
from layadesk.usecases.second_opinion import SecondOpinion
from layadesk.workers.router_client import RouterClient


class AnswerRequest:
    """Starts and cancels answers. Any thread; `on_event` is called on the worker threads.

    Every started request ends in exactly one Finished or Failed, also when it is cancelled while it is routed.
    """

    def __init__(
        self, pool: ExpertPool, router: RouterClient, runners: ExpertRunners, gate: LoadGate | None = None
    ) -> None:
        self._gate = gate
        self._pool = pool
        self._router = router
        self._runners = runners
        self._opinions = SecondOpinion(runners)
        self._lock = threading.Lock()
        self._open: dict[str, OneAnswer] = {}
        self._is_paused = False
        self._held: dict[str, OneAnswer] = {}  # of those that are open

    def start(self, order: AnswerOrder, on_event: Callable[[AnswerEvent], None]) -> None:
        """Begin; returns at once. Raises EMPTY_PROMPT; every other obstacle comes as Failed."""
        questions = order.questions
        if not questions or not questions[-1].strip():
            raise fail(ErrorCode.EMPTY_PROMPT)
        request_id = order.request_id
        answer = OneAnswer(
            order,
            on_event,
            pool=self._pool,
            runners=self._runners,
            opinions=self._opinions,
            gate=self._gate,
            ended=self._forget,
        )
        with self._lock:
            is_known = request_id in self._open
            position, is_held = len(self._held), self._is_paused
            if not is_known:
                self._open[request_id] = answer
                if is_held:
                    self._held[request_id] = answer
        if is_known:
            on_event(Failed(request_id, ErrorReport(ErrorCode.DUPLICATE_REQUEST, {"request": request_id})))
        elif is_held:
            on_event(Queued(request_id, position))
        else:
            answer.begin(self._router)

    def pause(self) -> None:
        """Hold what is asked from now on; it waits as queued."""
        with self._lock:
            self._is_paused = True

    def resume(self) -> None:
        """Begin what was held, in the order in which it was asked."""
        with self._lock:
            held, self._held = self._held, {}
            self._is_paused = False
        for answer in held.values():
            answer.begin(self._router)

    def cancel(self, request_id: str) -> None:
        """End a request wherever it is; silent for unknown ids."""
        with self._lock:
            answer = self._open.get(request_id)
        if answer is not None:
            answer.cancel()

    def _forget(self, request_id: str) -> None:
        with self._lock:
            self._open.pop(request_id, None)
            self._held.pop(request_id, None)
