"""Laya with a deadline: the bundled router answers first, and that stands where Laya is late, away or still loading."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Final, Protocol, TypeVar

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.routing import RouterAnswer
from layadesk.router.decision_model import DecisionModel
from layadesk.router.language import detect
from layadesk.router.reading import Reading, read

ValueT = TypeVar("ValueT")

log = logging.getLogger(__name__)

DECIDE_S: Final = 20.0
_N_FAILURES: Final = 3  # then it is not asked any more


class Lack(StrEnum):
    """Why the wanted router did not answer; a LayaDeskError's code where it could not be loaded."""

    LOADING = "loading"
    LATE = "late"
    BUSY = "busy"  # still at an earlier request
    BROKEN = "broken"


class SlowModel(Protocol):
    """What may take its time: `LayaModel`, and slow ones in tests."""

    def ask(self, reading: Reading, language: str | None, history: Sequence[str]) -> RouterAnswer:
        """One decision."""

    def decide(self, state: str, questions: str) -> str:
        """Questions of a client's own; JSON text in and out. Raises BAD_PARAMETER."""


class StandingIn:
    """Asks the slow model on a thread of its own; `answer` takes no longer than the deadline."""

    def __init__(
        self, name: str, load: Callable[[], SlowModel], stand_in: DecisionModel, *, deadline_ms: float
    ) -> None:
        """`load` runs in the background; until it is done the stand-in answers."""
        self.router_id = name
        self._stand_in = stand_in
        self._deadline_s = deadline_ms / 1000.0
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._loading: Future[SlowModel] = self._submit(load)
        self._running: Future[RouterAnswer] | None = None
        self._n_failures = 0
        threading.Thread(target=self._run, name="slow-router", daemon=True).start()  # nobody waits for it at the end

    def _run(self) -> None:
        while True:
            self._work.get()()

    def _submit(self, work: Callable[[], ValueT]) -> Future[ValueT]:
        future: Future[ValueT] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever asks for the result
                future.set_exception(error)

        self._work.put(run)
        return future

    def wait_loaded(self, timeout_s: float) -> bool:
        """Whether it is loaded, after waiting that long; for measurements and tests."""
        try:
            self._loading.result(timeout_s)
        except Exception:  # noqa: BLE001 - each answer says what was in the way
            return False
        return True

    def answer(self, text: str, history: Sequence[str]) -> RouterAnswer:
        """The slow model's answer in time, or the stand-in's with `wanted` and `wanted_lack`."""
        start = time.perf_counter()
        fallback = self._stand_in.answer(text, history)
        lack = self._lack()
        if lack is None:
            found = self._ask(text, history, start)
            if isinstance(found, RouterAnswer):
                complexity = fallback.complexity  # rules, and what was learned here: Laya is asked, but not believed
                return replace(
                    found,
                    route_ms=(time.perf_counter() - start) * 1000.0,
                    complexity=found.complexity if complexity is None else complexity,
                    effort_signs=fallback.effort_signs,
                    folds=fallback.folds,
                )
            lack = found
        route_ms = (time.perf_counter() - start) * 1000.0
        return replace(fallback, route_ms=route_ms, wanted=self.router_id, wanted_lack=lack)

    def decide(self, state: str, questions: str) -> str:
        """The slow model's answer, however long it takes up to DECIDE_S: nobody can stand in here.

        Raises ROUTER_AWAY while it is loaded or busy, ROUTER_MODEL_DAMAGED where it cannot be, BAD_PARAMETER.
        """
        lack = self._lack()
        if lack in (Lack.LOADING, Lack.BUSY):
            raise fail(ErrorCode.ROUTER_AWAY)
        if lack is not None:
            known = lack in (ErrorCode.ROUTER_MODEL_MISSING, ErrorCode.ROUTER_MODEL_DAMAGED)
            raise fail(ErrorCode(lack) if known else ErrorCode.ROUTER_MODEL_DAMAGED)
        try:
            return self._submit(partial(self._loading.result().decide, state, questions)).result(DECIDE_S)
        except FutureTimeout as error:
            raise fail(ErrorCode.ROUTER_AWAY) from error

    def _lack(self) -> str | None:
        if not self._loading.done():
            return Lack.LOADING
        error = self._loading.exception()
        if error is not None:
            return str(error.code) if isinstance(error, LayaDeskError) else Lack.BROKEN
        if self._running is not None and not self._running.done():
            return Lack.BUSY
        return Lack.BROKEN if self._n_failures >= _N_FAILURES else None

    def _ask(self, text: str, history: Sequence[str], start: float) -> "RouterAnswer | Lack":
        model, reading = self._loading.result(), read(text)
        self._running = self._submit(partial(model.ask, reading, detect(reading), tuple(history)))
        left = self._deadline_s - (time.perf_counter() - start)
        try:
            found = self._running.result(max(0.0, left))
        except FutureTimeout:
            return Lack.LATE
        except Exception as error:  # noqa: BLE001  # one it cannot read must not take the router away
            self._n_failures += 1
            log.warning("the router %s failed: %s", self.router_id, type(error).__name__)
            return Lack.BROKEN
        self._n_failures = 0
        return found
