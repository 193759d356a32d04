"""The engine as the rest of the app sees it: alive or not, every request it is given ends exactly once."""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.inference import FinishReason, Timings
from layadesk.domain.models import ExpertSpec, LoadedModel
from layadesk.domain.worker_state import ExitKind, WorkerExit, WorkerKind, WorkerState, WorkerStatus
from layadesk.protocol.commands import (
    Cancel,
    Configure,
    CountTokens,
    EngineCommand,
    ForgetConversation,
    Generate,
    LoadModel,
    UnloadModel,
)
from layadesk.protocol.events import (
    EngineEvent,
    EngineReady,
    EngineStats,
    ExpertProfiled,
    Failed,
    Finished,
    Loading,
    ModelLoaded,
    ModelLoading,
    ModelUnloaded,
    MoeExpertsChosen,
    Pong,
    RequestEvent,
    TokensCounted,
)
from layadesk.protocol.feed import Feed
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.death_report import death_report
from layadesk.workers.inside import Inside
from layadesk.workers.liveness import Timing
from layadesk.workers.load_watch import LoadWatch
from layadesk.workers.open_requests import OpenRequest, OpenRequests, deliver_to
from layadesk.workers.supervisor import Supervisor
from layadesk.workers.token_counts import OnCounted, OpenCounts, tell

log = logging.getLogger(__name__)


class EngineClient:
    """All methods may be called from any thread and return at once, `stop` excepted.

    Listeners and feeds are called on the thread "engine-client" and must not block; only after `stop`, when that thread
    has ended, `generate` calls its listener itself. A client that was stopped stays so.

    `model_feed` tells what is in memory, `failure_feed` of commands without a request (a `load`) that failed.
    """

    def __init__(
        self,
        start: Callable[[], ChildProcess],
        *,
        log_dir: Path,
        run_dir: Path,
        timing: Timing | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model_feed: Feed[ModelLoading | ModelLoaded | ModelUnloaded] = Feed()
        self.stats_feed: Feed[EngineStats] = Feed()
        self.failure_feed: Feed[Failed] = Feed()
        self.ready: EngineReady | None = None
        self._open = OpenRequests()
        self._loads = LoadWatch()
        self._experts: tuple[ExpertSpec, ...] | None = None
        self._load_next: list[str] = []  # asked for while no engine was ready
        self._forget_next: list[str] = []  # the same
        self._supervisor: Supervisor[EngineCommand, EngineEvent] = Supervisor(
            WorkerKind.ENGINE,
            start,
            owner=self,
            event_type=EngineEvent,
            log_dir=log_dir,
            run_dir=run_dir,
            timing=timing,
            clock=clock,
        )
        self.inside = Inside(self._supervisor)
        self._counts = OpenCounts(self._supervisor.send)
        self.status_feed: Feed[WorkerStatus] = self._supervisor.status_feed

    @property
    def status(self) -> WorkerStatus:
        """Where the engine stands now."""
        return self._supervisor.status

    @property
    def loaded(self) -> Mapping[str, LoadedModel]:
        """The experts in memory by model id; empty from the engine's death on."""
        return self._loads.loaded

    @property
    def is_loading(self) -> bool:
        """Whether an expert is on its way into memory."""
        return self._loads.is_loading

    def spec(self, model_id: str) -> ExpertSpec | None:
        """With which file and parameters the engine was told to load an expert; None for an unknown one."""
        return self._loads.spec(model_id)

    def start(self) -> None:
        """Start the engine in the background."""
        self._supervisor.start()

    def restart(self) -> None:
        """Start it again after it was given up; a running engine is replaced, and its requests fail."""
        self._supervisor.restart()

    def stop(self, timeout_s: float = 3.0) -> None:
        """End the engine: asked first, then forced; blocks until nothing is left of it. Open requests end."""
        self._supervisor.stop(timeout_s)

    def configure(self, experts: tuple[ExpertSpec, ...]) -> None:
        """The experts the engine may load, from now on and after each restart. `is_suspect` is about these at once."""
        self._loads.want(experts)
        self._supervisor.call(lambda: self._do_configure(experts))

    def generate(self, request: Generate, on_event: Callable[[RequestEvent], None]) -> None:
        """Have a request answered; `on_event` gets its events, the last of which is one Finished or Failed.

        While the engine starts or waits for its next start the request is held; it fails when the engine is given up.
        """
        if not self._supervisor.call(lambda: self._do_generate(request, on_event)):
            deliver_to(on_event, Failed(request.request_id, self._why_not()))

    def cancel(self, request_id: str) -> None:
        """End a request early; its Finished says `cancelled`. Silent for ids that are unknown or have ended."""
        self._supervisor.call(lambda: self._do_cancel(request_id))

    def count_tokens(self, command: CountTokens, on_counted: OnCounted) -> None:
        """Have the tokens of a prompt counted; `on_counted` hears once, without a number where nobody can count."""
        if not self._supervisor.call(
            lambda: self._counts.ask(command, on_counted, is_here=command.model_id in self.loaded)
        ):
            tell(on_counted, TokensCounted(command.count_id))

    def load(self, model_id: str) -> None:
        """Load an expert before its first request; ends in ModelLoaded on `model_feed`, or Failed on `failure_feed`."""
        self._supervisor.call(lambda: self._do_load(model_id))

    def unload(self, model_id: str) -> None:
        """Free an expert's memory."""
        self._supervisor.call(lambda: self._do_unload(model_id))

    def forget_conversation(self, conversation_id: str) -> None:
        """Let the engine keep nothing of a conversation; with no engine running, when it next runs."""
        self._supervisor.call(lambda: self._do_forget(conversation_id))

    def is_suspect(self, model_id: str) -> bool:
        """Whether the engine died while it loaded this expert, whose file and parameters are still the same."""
        return self._loads.is_suspect(model_id)

    def clear_suspect(self, model_id: str) -> None:
        """Let it be loaded again."""
        self._supervisor.call(lambda: self._loads.clear_suspect(model_id))

    # Called by the supervisor, on the client thread

    def worker_ready(self, event: EngineEvent) -> None:
        """Tell a new engine everything it has to know, in the order in which it was asked for."""
        assert isinstance(event, EngineReady)
        self.ready = event
        if self._experts is not None:
            self._send_experts(self._experts)
        self.inside.begin()
        forgotten, self._forget_next = self._forget_next, []
        for conversation_id in forgotten:
            self._supervisor.send(ForgetConversation(conversation_id))
        wanted, self._load_next = self._load_next, []
        for model_id in wanted:
            self._do_load(model_id, is_ready=True)
        for opened in self._open:
            self._send(opened)

    def worker_said(self, event: EngineEvent) -> None:
        """Pass an event on to whom it concerns."""
        match event:
            case ModelLoading() | ModelLoaded() | ModelUnloaded():
                self._loads.take(event)
                self.model_feed.publish(event)
            case EngineStats():
                self.stats_feed.publish(event)
            case MoeExpertsChosen() | ExpertProfiled():
                self.inside.take(event)
            case Failed(request_id=None):
                self._loads.take_failure(event, event.model_id)
                self.failure_feed.publish(event)
            case TokensCounted():
                self._counts.take(event)
            case EngineReady() | Pong():  # the supervisor's own
                pass
            case _:
                self._take_request_event(event)

    def worker_ended(self, ended: WorkerExit, state: WorkerState) -> None:
        """End what the engine took with it; what it had not been given yet waits for the next one, if there is one."""
        self.ready = None
        self._counts.lose_all()
        error = death_report(ended, state)
        self.inside.end(error)
        if ended.kind is ExitKind.NATIVE_CRASH:
            self._loads.assume_load(*self._open.only_beginner())
        lost, dropped = self._loads.engine_died(by_itself=ended.kind is not ExitKind.STOPPED_BY_US)
        for model_id in lost:
            self.model_feed.publish(ModelUnloaded(model_id))
        is_final = state in (WorkerState.GIVEN_UP, WorkerState.STOPPED)
        if is_final:
            dropped, self._load_next = (*dropped, *self._load_next), []
        for model_id in dropped:
            self.failure_feed.publish(Failed(None, error, model_id))
        for opened in self._open:
            if opened.is_sent or is_final:
                self._open.fail(opened.request.request_id, error if opened.is_sent else self._why_not())

    def next_due(self) -> float | None:
        """Nothing here has a time limit."""
        return None

    def due(self, now: float) -> None:
        """Nothing here has a time limit."""

    # On the client thread

    def _do_configure(self, experts: tuple[ExpertSpec, ...]) -> None:
        if experts == self._experts:
            return  # asked before every request, since it is cheap
        self._experts = experts
        if self._is_ready:
            self._send_experts(experts)

    def _send_experts(self, experts: tuple[ExpertSpec, ...]) -> None:
        sendable = tuple(spec for spec in experts if _is_sendable(spec))
        self._supervisor.send(Configure(sendable))
        self._loads.sent(sendable)

    def _do_generate(self, request: Generate, on_event: Callable[[RequestEvent], None]) -> None:
        refusal = self._why_not() if self._is_away else None
        if refusal is None and self._loads.is_suspect(request.model_id):
            refusal = ErrorReport(ErrorCode.MODEL_SUSPECT, {"expert": request.model_id})
        if refusal is not None:
            deliver_to(on_event, Failed(request.request_id, refusal))
            return
        opened = self._open.add(request, on_event)  # open before it is sent: if the engine dies in between, it fails
        if opened is None:
            duplicate = ErrorReport(ErrorCode.DUPLICATE_REQUEST, {"request": request.request_id})
            deliver_to(on_event, Failed(request.request_id, duplicate))
        elif self._is_ready:
            self._send(opened)

    def _send(self, opened: OpenRequest) -> None:
        request = opened.request
        if self._loads.is_suspect(request.model_id):  # since the engine died, while this request was held
            self._open.fail(request.request_id, ErrorReport(ErrorCode.MODEL_SUSPECT, {"expert": request.model_id}))
            return
        opened.is_sent = True
        try:
            self._supervisor.send(request)
        except LayaDeskError as error:
            self._open.fail(request.request_id, error.report)

    def _do_cancel(self, request_id: str) -> None:
        opened = self._open.get(request_id)
        if opened is None:
            return
        if opened.is_sent:
            self._supervisor.send(Cancel(request_id))
        else:
            self._open.deliver(Finished(request_id, "", FinishReason.CANCELLED, Timings()))

    def _do_load(self, model_id: str, *, is_ready: bool | None = None) -> None:
        if self._is_away:
            self.failure_feed.publish(Failed(None, self._why_not(), model_id))
        elif self._loads.is_suspect(model_id):
            self.failure_feed.publish(
                Failed(None, ErrorReport(ErrorCode.MODEL_SUSPECT, {"expert": model_id}), model_id)
            )
        elif self._is_ready or is_ready:
            self._send_about(model_id, LoadModel(model_id))
        else:
            self._load_next.append(model_id)

    def _do_unload(self, model_id: str) -> None:
        self._load_next = [one for one in self._load_next if one != model_id]
        if self._is_ready:
            self._send_about(model_id, UnloadModel(model_id))

    def _do_forget(self, conversation_id: str) -> None:
        if self._is_ready:
            self._supervisor.send(ForgetConversation(conversation_id))
        else:
            self._forget_next.append(conversation_id)

    def _send_about(self, model_id: str, command: LoadModel | UnloadModel) -> None:
        try:
            self._supervisor.send(command)
        except LayaDeskError as error:
            self.failure_feed.publish(Failed(None, error.report, model_id))

    def _take_request_event(self, event: RequestEvent) -> None:
        if isinstance(event, Loading):
            self._loads.take(event)
        elif isinstance(event, Failed):
            opened = self._open.get(event.request_id or "")
            self._loads.take_failure(event, None if opened is None else opened.request.model_id)
        self._open.deliver(event)

    @property
    def _is_ready(self) -> bool:
        return self.status.state is WorkerState.READY

    @property
    def _is_away(self) -> bool:
        return self._supervisor.is_over or self.status.state is WorkerState.GIVEN_UP

    def _why_not(self) -> ErrorReport:
        """Why nothing is sent: what a request hears after the engine was given up or stopped."""
        state, ended = self.status.state, self.status.exit or WorkerExit(ExitKind.STOPPED_BY_US, "not running")
        code = ErrorCode.ENGINE_GAVE_UP if state is WorkerState.GIVEN_UP else ErrorCode.ENGINE_DIED
        return death_report(ended, state, code)


def _is_sendable(spec: ExpertSpec) -> bool:
    """Whether the file's name is text; one that is not must not keep the other experts from the engine."""
    try:
        (spec.path + spec.model_id).encode()
    except UnicodeEncodeError:
        log.warning("the file name of an expert is no valid text; the engine does not get it")
        return False
    return True
