"""The engine's heart: take what arrived, let it in, compute one step, tell what came of it. The decode thread.

Everything reaches the loop through one queue: commands from the app's pipe, prompts from the prompt thread, experts
from the loader thread. So no other thread ever touches an expert that computes, and every event is sent from here, in
order.
"""

import logging
import queue
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.inference import FinishReason
from layadesk.engine.backend import Backend
from layadesk.engine.cell_keeper import CellKeeper, CellsRead
from layadesk.engine.expert_runner import ExpertRunner
from layadesk.engine.inside import Inside
from layadesk.engine.loaded_experts import LoadedExperts
from layadesk.engine.model_loader import LoadEnded, LoadProgress, ModelLoader
from layadesk.engine.moe_watch import MoeWatch
from layadesk.engine.prompt_worker import PromptCounted, PromptReady, PromptRefused, PromptWorker
from layadesk.engine.request_check import check_request
from layadesk.engine.request_events import RequestEvents
from layadesk.engine.residency import Limits
from layadesk.engine.sequence import Marks, Sequence, SequenceState
from layadesk.engine.steps import BEAT_S, StepEnded, Steps
from layadesk.engine.throughput import Throughput
from layadesk.engine.token_counts import TokenCounts
from layadesk.protocol.commands import (
    Cancel,
    Configure,
    CountTokens,
    EngineCommand,
    ForgetConversation,
    Generate,
    LoadModel,
    Ping,
    ProfileExpert,
    Shutdown,
    UnloadModel,
    WatchMoeExperts,
)
from layadesk.protocol.events import EngineEvent, Failed, ModelLoading

log = logging.getLogger(__name__)

LoopResult = PromptReady | PromptRefused | PromptCounted | LoadProgress | LoadEnded | CellsRead | StepEnded
LoopMessage = EngineCommand | LoopResult

STOP_S = 2.0
REST_S = 1.0  # without work; then kept cells go to disk


class EngineLoop:
    """Serves requests until Shutdown. `run` belongs to the decode thread; `inbox` may be filled from any.

    A request id that is in use already: the second Generate is answered by `Failed` *without* a request id and with the
    id as the fact `request`. Addressed to the id, it would end the first request in the eyes of everyone who listens.
    """

    def __init__(
        self,
        backend: Backend,
        inbox: "queue.SimpleQueue[LoopMessage]",
        put: Callable[[EngineEvent], None],
        *,
        set_phase: Callable[[str, int], None],
        before_load: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
        cells_dir: Path | None = None,
    ) -> None:
        self._inbox = inbox
        self._put = put
        self._set_phase = set_phase
        self._clock = clock
        self._arrived: deque[LoopMessage] = deque()
        self._open: dict[str, Sequence] = {}
        self._n_arrived = 0
        self._n_queue_max = Configure(()).n_queue_max
        self._moe = MoeWatch(put, clock)
        self._events = RequestEvents(put, clock, self._forget)
        self._prompts = PromptWorker(inbox.put)
        self._loader = ModelLoader(backend, inbox.put, clock=clock, before_load=before_load)
        self._keeper = None if cells_dir is None else CellKeeper(cells_dir, inbox.put)
        self._experts = LoadedExperts(
            self._loader, put, self._events, self._moe, clock=clock, refused=self._fail_waiting, keeper=self._keeper
        )
        self._counts = TokenCounts(self._experts, self._prompts, put)
        self._throughput = Throughput(put, clock)
        self._steps = Steps(
            self._experts.runners,
            self._throughput,
            post=inbox.put,
            set_phase=set_phase,
            clock=clock,
            calls_off=self._calls_off,
        )
        self._inside = Inside(self._moe, self._steps, self._experts.runners, put)
        self._preparing: dict[int, Sequence] = {}
        self._is_over = False

    def run(self) -> bool:
        """Work until Shutdown; returns whether all threads could be ended, False with one still in native code."""
        self._prompts.start()
        if self._keeper is not None:
            self._keeper.start()
        self._take_messages(may_wait=True)
        while not self._is_over:
            self._let_in()
            has_stepped = self._steps.take(has_news=lambda: bool(self._arrived))
            self._throughput.tell(self._experts.runners.values(), n_waiting=self._n_waiting(), is_over=False)
            self._events.positions(self._open.values(), self._has_free_slot)
            self._take_messages(may_wait=not has_stepped)
        return self._stop()

    def _take_messages(self, *, may_wait: bool) -> None:
        """All that has arrived; waits for one when there is nothing to do."""
        if may_wait and not self._arrived and self._steps.is_in_flight:
            self._wait_for_step()
        elif may_wait and not self._arrived:
            self._throughput.tell(self._experts.runners.values(), n_waiting=len(self._open), is_over=True)
            self._set_phase("idle" if self._experts.loading is None else "loading", self._steps.n_steps)
            self._wait()
        self._drain()
        while self._arrived and not self._is_over:
            self._handle(self._arrived.popleft())

    def _wait_for_step(self) -> None:
        """For a message while another thread computes; StepEnded is one."""
        try:
            self._arrived.append(self._inbox.get(timeout=BEAT_S))
        except queue.Empty:
            self._steps.tell_phase()

    def _wait(self) -> None:
        """For a message, or for a moment of rest that kept cells can use to get to disk."""
        while True:
            unsaved = [runner for runner in self._experts.runners.values() if runner.kept.has_unsaved]
            due = self._experts.next_due
            waits = [REST_S] * bool(unsaved) + ([] if due is None else [max(0.0, due - self._clock())])
            try:
                self._arrived.append(self._inbox.get(timeout=min(waits, default=None)))
            except queue.Empty:
                if unsaved:
                    unsaved[0].kept.save_next()
                self._experts.advance()
            else:
                return

    def _drain(self) -> None:
        while not self._inbox.empty():  # nobody else takes from it
            self._arrived.append(self._inbox.get_nowait())

    def _handle(self, message: LoopMessage) -> None:
        match message:
            case Generate():
                self._generate(message)
            case Cancel(request_id):
                self._cancel(request_id)
            case Configure():
                self._configure(message)
            case LoadModel(model_id):
                self._experts.load(model_id)
            case UnloadModel():
                self._unload_if_allowed(message)
            case ForgetConversation(conversation_id):
                self._steps.settle_all()
                self._experts.forget_conversation(conversation_id)
            case CountTokens():
                self._counts.ask(message)
            case WatchMoeExperts() | ProfileExpert():
                self._inside.take(message)
            case Ping() | Shutdown():  # the inbox thread has answered a Ping
                self._is_over = isinstance(message, Shutdown)
            case _:
                self._handle_result(message)

    def _handle_result(self, result: LoopResult) -> None:
        match result:
            case StepEnded():
                self._steps.collect()
            case PromptReady() | PromptRefused():
                self._take_prompt(result)
            case PromptCounted():
                self._counts.take(result)
            case LoadProgress(model_id, fraction):
                self._tell_load(model_id, fraction)
            case LoadEnded():
                self._load_ended(result)
            case CellsRead(order, model_id, cells, seconds):
                runner = self._experts.runners.get(model_id)
                if runner is not None:
                    self._steps.settle(runner)
                    runner.restored(order, cells, seconds)

    def _configure(self, configure: Configure) -> None:
        self._n_queue_max = configure.n_queue_max
        for model_id in self._experts.configure(configure.experts, Limits.of(configure)):
            self._unload(model_id)

    def _generate(self, request: Generate) -> None:
        if request.request_id in self._open:
            error = ErrorReport(ErrorCode.DUPLICATE_REQUEST, {"request": request.request_id})
            self._put(Failed(None, error, request.model_id))
            return
        self._n_arrived += 1
        one = Sequence(request, self._n_arrived, Marks(self._clock()))
        try:
            self._check(request)
        except LayaDeskError as refusal:
            self._events.failed(one, refusal.report)
            return
        self._open[request.request_id] = one

    def _check(self, request: Generate) -> None:
        self._experts.check_known(request.model_id)
        check_request(request)
        n_waiting = self._n_waiting()
        if n_waiting >= self._n_queue_max:
            raise fail(ErrorCode.QUEUE_FULL, n_waiting=n_waiting, maximum=self._n_queue_max)

    def _cancel(self, request_id: str) -> None:
        one = self._open.get(request_id)
        if one is not None:
            self._take_out(one)
            self._events.finished(one, FinishReason.CANCELLED)
            if not any(other.model_id == one.model_id for other in self._open.values()):
                self._experts.unwant(one.model_id)

    def _unload_if_allowed(self, command: UnloadModel) -> None:
        model_id = command.model_id
        is_asked = any(one.model_id == model_id for one in self._open.values())
        if command.only_idle and (is_asked or self._experts.is_busy(model_id)):
            self._put(Failed(None, ErrorReport(ErrorCode.EXPERT_BUSY, {"expert": model_id}), model_id))
        else:
            self._unload(model_id)

    def _unload(self, model_id: str) -> None:
        for one in [one for one in self._open.values() if one.model_id == model_id]:
            self._take_out(one)
            self._events.finished(one, FinishReason.CANCELLED)
        self._experts.unload(model_id)

    def _take_prompt(self, message: PromptReady | PromptRefused) -> None:
        runner = self._experts.runners[message.model_id]  # it could not go: n_preparing held it
        runner.n_preparing -= 1
        one = self._preparing.pop(message.order, None)
        if one is None or one.state is SequenceState.ENDED:
            return
        if isinstance(message, PromptRefused):
            self._events.failed(one, message.error)
            return
        one.marks.tokenize_s = message.seconds
        runner.add(one, message.prompt)

    def _tell_load(self, model_id: str, fraction: float) -> None:
        self._put(ModelLoading(model_id, fraction))
        for one in self._open.values():
            if one.model_id == model_id and one.state is SequenceState.AWAITING_EXPERT:
                self._events.loading(one, fraction)

    def _load_ended(self, end: LoadEnded) -> None:
        error = self._experts.ended(end)
        if error is not None:
            self._fail_waiting(end.spec.model_id, error)

    def _fail_waiting(self, model_id: str, error: ErrorReport) -> None:
        """End all who wait for an expert that will not come."""
        for one in [one for one in self._open.values() if one.model_id == model_id]:
            if one.state is SequenceState.AWAITING_EXPERT:
                self._events.failed(one, error)

    def _let_in(self) -> None:
        """Send every request whose expert is there to the prompt thread; for the others, have it loaded.

        In this order: an expert that has just come must have its requests before it can look idle.
        """
        waiting = [one for one in self._open.values() if one.state is SequenceState.AWAITING_EXPERT]
        for one in waiting:
            runner = self._experts.usable(one.model_id)
            if runner is not None:
                self._prepare(one, runner)
        for one in waiting:
            if one.state is SequenceState.AWAITING_EXPERT:
                self._experts.want(one.model_id)
        self._experts.advance()
        for one in waiting:
            is_coming = self._experts.loading == one.model_id and one.state is SequenceState.AWAITING_EXPERT
            if is_coming and not one.has_reported_load:
                self._events.loading(one, 0.0)

    def _prepare(self, one: Sequence, runner: ExpertRunner) -> None:
        if one.has_reported_load:
            one.marks.load_s = min(runner.load_s, self._clock() - one.marks.arrived)
        one.state = SequenceState.PREPARING
        runner.n_preparing += 1
        runner.last_used = self._clock()
        self._preparing[one.order] = one
        self._prompts.submit(one.order, runner.prompts, one.request)

    def _take_out(self, one: Sequence) -> None:
        if one.state in (SequenceState.WAITING, SequenceState.RUNNING):
            runner = self._experts.runners[one.model_id]
            self._steps.settle(runner, calls_off=runner.is_in_step(one.request_id))
        if one.state in (SequenceState.WAITING, SequenceState.RUNNING):  # its last token may just have come
            self._experts.runners[one.model_id].remove(one)

    def _forget(self, one: Sequence) -> None:
        self._moe.flush(one.request_id)
        if self._open.get(one.request_id) is one:
            del self._open[one.request_id]

    def _n_waiting(self) -> int:
        return sum(one.state is not SequenceState.RUNNING for one in self._open.values())

    def _has_free_slot(self, model_id: str) -> bool:
        runner = self._experts.usable(model_id)
        return runner is not None and runner.scheduler.has_free_slot

    def _calls_off(self, runner: ExpertRunner) -> bool:
        """Whether something has arrived that makes the step of an expert pointless."""
        if self._inbox.empty():
            return False
        n_seen = len(self._arrived)
        self._drain()
        return any(map(runner.is_called_off_by, list(self._arrived)[n_seen:]))

    def _stop(self) -> bool:
        is_quiet = self._steps.stop(STOP_S)
        for one in list(self._open.values()):
            if is_quiet:
                self._take_out(one)
            self._events.finished(one, FinishReason.CANCELLED)
        is_quiet &= self._loader.stop(STOP_S) & self._prompts.stop(STOP_S)
        self._drain()
        for message in self._arrived:
            if isinstance(message, LoadEnded) and message.expert is not None:
                message.expert.close()
        if is_quiet:
            self._experts.close_all()
        if self._keeper is not None:
            is_quiet &= self._keeper.stop(STOP_S)
        log.info("engine loop ended after %d steps", self._steps.n_steps)
        return is_quiet
