"""The life of one request: routed, admitted, handed to who runs its expert, and handed on where a remote one fails."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto

from layadesk.domain.errors import ErrorReport, LayaDeskError
from layadesk.domain.inference import FinishReason, ThinkingParams, Timings
from layadesk.domain.route_policy import choose
from layadesk.domain.routing import Draft, OutReason, PoolExpert, Route, RouterAnswer, RouteReason
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import Failed, Finished, TextDelta, ThinkingDelta
from layadesk.usecases.answer_order import AnswerEvent, AnswerOrder, FailedOver, RouteChosen, decision_line, turn_of
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.expert_runners import ExpertRunners
from layadesk.usecases.load_gate import LoadGate
from layadesk.usecases.second_opinion import Opinions, SecondOpinion
from layadesk.workers.router_client import RouterClient

log = logging.getLogger(__name__)

HISTORY_FOR_ROUTER = 4
_WISHES = (RouteReason.PICKED, RouteReason.PINNED)


class _Phase(Enum):
    ROUTING = auto()  # the router's answer is awaited, and can be done without
    DECIDING = auto()  # chosen and checked before a load; a cancel waits for that
    RUNNING = auto()
    ENDED = auto()


class OneAnswer:
    """Any thread; `on_event` is called on the worker threads, the last time with one Finished or Failed.

    `ended` is told before that.
    """

    def __init__(
        self,
        order: AnswerOrder,
        on_event: Callable[[AnswerEvent], None],
        *,
        pool: ExpertPool,
        runners: ExpertRunners,
        opinions: SecondOpinion,
        gate: LoadGate | None,
        ended: Callable[[str], None],
    ) -> None:
        self._order = order
        self._tell = on_event
        self._pool = pool
        self._runners = runners
        self._opinions = opinions
        self._gate = gate
        self._ended = ended
        self._lock = threading.Lock()
        self._phase = _Phase.ROUTING
        self._is_cancelled = False
        self._answer: RouterAnswer | None = None
        self._failed: dict[str, ErrorReport] = {}  # remote experts that were tried
        self._text: list[str] = []  # of a remote expert, in case it fails
        self._thinking: list[str] = []

    def begin(self, router: RouterClient) -> None:
        """Ask the router, or go on with an answer that was begun."""
        if self._order.begun is not None:
            self._routed(None)
            return
        questions = self._order.questions
        history = tuple(questions[-1 - HISTORY_FOR_ROUTER : -1])
        router.route(
            questions[-1], history, self._routed, self._order.route_deadline_s or self._pool.route_deadline_s()
        )

    def cancel(self) -> None:
        """End it wherever it is."""
        with self._lock:
            phase, self._is_cancelled = self._phase, True
            if phase is _Phase.ROUTING:
                self._phase = _Phase.ENDED
        if phase is _Phase.ROUTING:  # the router's answer is not waited for
            self._end_cancelled()
        elif phase is _Phase.RUNNING:
            self._cancel_runner()

    def _routed(self, answer: RouterAnswer | None) -> None:
        with self._lock:
            if self._phase is not _Phase.ROUTING:
                return  # cancelled
            self._phase = _Phase.DECIDING
        self._answer = answer
        self._pool.configure_engine()  # first, because whether an expert is suspect depends on how it would be loaded
        try:
            route = self._choose()
        except LayaDeskError as error:
            self._end(Failed(self._order.request_id, error.report))
            return
        if self._order.begun is None:
            log.info("route_decision %s", decision_line(route))
            self._tell(RouteChosen(self._order.request_id, route))
        else:
            route = replace(route, second=None)
        self._admit(route)

    def _choose(self) -> Route:
        """Among all that have not failed for this request."""
        pool = [self._after_failure(expert) for expert in self._pool.candidates()]
        return choose(self._answer, pool, turn=turn_of(self._order), policy=self._pool.policy())

    def _after_failure(self, expert: PoolExpert) -> PoolExpert:
        failed = self._failed.get(expert.model_id)
        return expert if failed is None else replace(expert, out=OutReason.REMOTE_DOWN, out_facts=failed.facts)

    def _admit(self, route: Route) -> None:
        """The check before a load; it may take a while."""
        if self._end_if_cancelled():
            return
        if self._gate is None:
            self._hand_over(route)
        else:
            self._gate.admit(route.expert, lambda refusal: self._admitted(route, refusal))

    def _admitted(self, route: Route, refusal: ErrorReport | None) -> None:
        if self._end_if_cancelled():
            return
        if refusal is not None:
            self._end(Failed(self._order.request_id, refusal))
        elif route.second is not None and self._gate is not None:
            self._gate.admit(route.second, lambda no: self._hand_over(route, has_second=no is None))
        else:
            self._hand_over(route)

    def _hand_over(self, route: Route, *, has_second: bool = True) -> None:
        """To who runs the expert. A second expert that does not fit into memory is left out."""
        order = self._order

        def on_event(event: AnswerEvent) -> None:
            self._heard(route, event)

        if route.second is not None and has_second:
            opinions = Opinions(
                order.request_id, order.messages, order.sampling, route, order.conversation_id, order.client
            )
            self._opinions.start(opinions, on_event)
        else:
            thinking = ThinkingParams(enabled=True) if route.thinks else self._pool.thinking(route.expert)
            request = Generate(
                order.request_id,
                route.expert,
                order.messages,
                order.sampling,
                order.thinking or thinking,
                conversation_id=order.conversation_id,
                client=order.client,
                continues=order.begun is not None,
                thought="" if order.begun is None else order.begun.thought,
                keeps_all=order.keeps_all,
                is_raw=order.is_raw,
                tools=order.tools,
            )
            self._runners.generate(request, on_event)
        with self._lock:
            if self._phase is _Phase.DECIDING:  # it may have ended already
                self._phase = _Phase.RUNNING
            is_cancelled = self._is_cancelled
        if is_cancelled:  # while it was handed over: nobody there knew the id yet
            self._cancel_runner()

    def _heard(self, route: Route, event: AnswerEvent) -> None:
        """On the runner's thread."""
        match event:
            case TextDelta(text=text) if route.host is not None:
                self._text.append(text)
            case ThinkingDelta(text=text) if route.host is not None:
                self._thinking.append(text)
            case Failed(error=error) if self._may_fail_over(route):
                self._fail_over(route, error)
                return
            case Finished() | Failed():
                self._end(event)
                return
            case _:
                pass
        self._tell(event)

    def _may_fail_over(self, route: Route) -> bool:
        """A wish is a wish: whoever named an expert hears why it failed, and chooses again."""
        if route.host is None or self._is_cancelled or route.reason in _WISHES:
            return False
        return self._order.may_restart or not (self._text or self._thinking)

    def _fail_over(self, route: Route, error: ErrorReport) -> None:
        with self._lock:
            self._phase = _Phase.DECIDING
        self._failed[route.expert] = error
        written = "".join(self._text) or "".join(self._thinking)
        self._text.clear()
        self._thinking.clear()
        try:
            next_route = self._choose()
        except LayaDeskError:  # nobody is left: what went wrong first is what there is to say
            self._end(Failed(self._order.request_id, error))
            return
        next_route = replace(
            next_route,
            reason=RouteReason.FAILED_OVER,
            instead_of=route.expert,
            drafts=(*route.drafts, Draft(route.expert, written, error)),
        )
        log.info("route_decision %s", decision_line(next_route))
        self._tell(FailedOver(self._order.request_id, next_route))
        self._admit(next_route)

    def _cancel_runner(self) -> None:
        if not self._opinions.cancel(self._order.request_id):
            self._runners.cancel(self._order.request_id)

    def _end_if_cancelled(self) -> bool:
        if self._is_cancelled:
            self._end_cancelled()
        return self._is_cancelled

    def _end_cancelled(self) -> None:
        self._end(Finished(self._order.request_id, "", FinishReason.CANCELLED, Timings()))

    def _end(self, event: Finished | Failed) -> None:
        with self._lock:
            self._phase = _Phase.ENDED
        self._ended(self._order.request_id)
        self._tell(event)
