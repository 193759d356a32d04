"""Route one request, then have the chosen expert answer it: what the window, `ask` and the HTTP server share."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from layadesk.domain.context_budget import estimate_tokens
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.follow_up import is_follow_up, slash_word
from layadesk.domain.inference import FinishReason, PromptMessage, Role, SamplingParams, ThinkingParams, Timings
from layadesk.domain.route_policy import choose
from layadesk.domain.routing import Route, RouterAnswer, Turn
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import Failed, Finished, Queued, RequestEvent
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.load_gate import LoadGate
from layadesk.usecases.second_opinion import DraftEvent, Opinions, SecondOpinion
from layadesk.workers.engine_client import EngineClient
from layadesk.workers.router_client import RouterClient

log = logging.getLogger(__name__)

HISTORY_FOR_ROUTER = 4


@dataclass(frozen=True, slots=True)
class RouteChosen:
    """The route of a request; comes before every engine event, and not at all when no expert can be chosen."""

    request_id: str
    route: Route


AnswerEvent = RouteChosen | RequestEvent | DraftEvent


@dataclass(frozen=True, slots=True)
class Begun:
    """Who began an answer that is to be gone on with, and what was thought before it."""

    expert: str
    thought: str = ""


@dataclass(frozen=True, slots=True)
class AnswerOrder:
    """What a client wants answered, as a turn of `conversation_id` where there is one.

    `picked` is the user's choice for this message, `pinned` that for the conversation; without either the router
    chooses, in at most `route_deadline_s` (None: as the settings say). `current` answered the message before.
    `thinking` None is what the user has chosen for the expert. `begun`: the last of `messages` is an answer to go on
    with, by the expert that began it; nothing is routed.
    """

    request_id: str
    messages: tuple[PromptMessage, ...]
    sampling: SamplingParams
    pinned: str | None = None
    picked: str | None = None
    current: str | None = None
    second_opinion: bool | None = None
    route_deadline_s: float | None = None
    conversation_id: str = ""
    client: str = ""
    thinking: ThinkingParams | None = None
    begun: Begun | None = None


class AnswerRequest:
    """Starts and cancels answers. Any thread; `on_event` is called on the worker threads.

    Every started request ends in exactly one Finished or Failed, also when it is cancelled while it is routed.
    """

    def __init__(
        self, pool: ExpertPool, router: RouterClient, engine: EngineClient, gate: LoadGate | None = None
    ) -> None:
        self._gate = gate
        self._pool = pool
        self._router = router
        self._engine = engine
        self._opinions = SecondOpinion(engine)
        self._lock = threading.Lock()
        self._routing: dict[str, bool] = {}  # request id → cancelled meanwhile
        self._asking: dict[str, Callable[[AnswerEvent], None]] = {}  # those that wait for the router
        self._is_paused = False
        self._held: dict[str, tuple[AnswerOrder, Callable[[AnswerEvent], None]]] = {}

    def start(self, order: AnswerOrder, on_event: Callable[[AnswerEvent], None]) -> None:
        """Begin; returns at once. Raises EMPTY_PROMPT; every other obstacle comes as Failed."""
        questions = [m.text for m in order.messages if m.role is Role.USER]
        if not questions or not questions[-1].strip():
            raise fail(ErrorCode.EMPTY_PROMPT)
        with self._lock:
            position, is_held = len(self._held), self._is_paused
            if is_held:
                self._held[order.request_id] = (order, on_event)
            else:
                self._routing[order.request_id] = False
                self._asking[order.request_id] = on_event
        if is_held:
            on_event(Queued(order.request_id, position))
        elif order.begun is not None:
            self._go_on(order, None, on_event)
        else:
            self._route(order, questions, on_event)

    def pause(self) -> None:
        """Hold what is asked from now on; it waits as queued."""
        with self._lock:
            self._is_paused = True

    def resume(self) -> None:
        """Begin what was held, in the order in which it was asked."""
        with self._lock:
            held, self._held = self._held, {}
            self._is_paused = False
        for order, on_event in held.values():
            self.start(order, on_event)

    def _route(self, order: AnswerOrder, questions: list[str], on_event: Callable[[AnswerEvent], None]) -> None:
        history = tuple(questions[-1 - HISTORY_FOR_ROUTER : -1])

        def on_answer(answer: RouterAnswer | None) -> None:
            self._go_on(order, answer, on_event)

        deadline_s = order.route_deadline_s or self._pool.route_deadline_s()
        self._router.route(questions[-1], history, on_answer, deadline_s)

    def cancel(self, request_id: str) -> None:
        """End a request wherever it is; silent for unknown ids."""
        with self._lock:
            held = self._held.pop(request_id, None)
            on_event = self._asking.pop(request_id, None) if held is None else held[1]
            if on_event is not None:
                self._routing.pop(request_id, None)
            elif request_id in self._routing:
                self._routing[request_id] = True
                return
        if on_event is not None:  # the router's answer is not waited for
            on_event(Finished(request_id, "", FinishReason.CANCELLED, Timings()))
            return
        if not self._opinions.cancel(request_id):
            self._engine.cancel(request_id)

    def _go_on(self, order: AnswerOrder, answer: RouterAnswer | None, on_event: Callable[[AnswerEvent], None]) -> None:
        request_id = order.request_id
        with self._lock:
            if self._asking.pop(request_id, None) is None:
                return  # cancelled
        self._pool.configure_engine()  # first, because whether an expert is suspect depends on how it would be loaded
        try:
            route = choose(answer, self._pool.candidates(), turn=turn_of(order), policy=self._pool.policy())
        except LayaDeskError as error:
            self._leave_routing(request_id)
            on_event(Failed(request_id, error.report))
            return
        if order.begun is None:
            log.info("route_decision %s", decision_line(route))
            on_event(RouteChosen(request_id, route))
        else:
            route = replace(route, second=None)
        with self._lock:
            is_cancelled = self._routing[request_id]
        if is_cancelled:
            self._leave_routing(request_id)
            on_event(Finished(request_id, "", FinishReason.CANCELLED, Timings()))
            return
        if self._gate is None:
            self._hand_over(order, route, on_event)
        else:
            self._gate.admit(route.expert, lambda refusal: self._admitted(order, route, on_event, refusal))

    def _admitted(
        self, order: AnswerOrder, route: Route, on_event: Callable[[AnswerEvent], None], refusal: ErrorReport | None
    ) -> None:
        """The check before a load is over; it may have taken a while."""
        with self._lock:
            is_cancelled = self._routing[order.request_id]
        if is_cancelled:
            self._leave_routing(order.request_id)
            on_event(Finished(order.request_id, "", FinishReason.CANCELLED, Timings()))
        elif refusal is not None:
            self._leave_routing(order.request_id)
            on_event(Failed(order.request_id, refusal))
        elif route.second is not None and self._gate is not None:
            self._gate.admit(route.second, lambda no: self._hand_over(order, route, on_event, has_second=no is None))
        else:
            self._hand_over(order, route, on_event)

    def _hand_over(
        self, order: AnswerOrder, route: Route, on_event: Callable[[AnswerEvent], None], *, has_second: bool = True
    ) -> None:
        """To the engine. A second expert that does not fit into memory is left out."""
        request_id = order.request_id
        if route.second is not None and has_second:
            opinions = Opinions(request_id, order.messages, order.sampling, route, order.conversation_id, order.client)
            self._opinions.start(opinions, on_event)
            if self._leave_routing(request_id):
                self._opinions.cancel(request_id)
            return
        request = Generate(
            request_id,
            route.expert,
            order.messages,
            order.sampling,
            order.thinking or (ThinkingParams(enabled=True) if route.thinks else self._pool.thinking(route.expert)),
            conversation_id=order.conversation_id,
            client=order.client,
            continues=order.begun is not None,
            thought="" if order.begun is None else order.begun.thought,
        )
        self._engine.generate(request, on_event)
        if self._leave_routing(request_id):  # cancelled while it was handed over: the engine did not know the id yet
            self._engine.cancel(request_id)

    def _leave_routing(self, request_id: str) -> bool:
        """Forget the request here; true when it was cancelled meanwhile."""
        with self._lock:
            return self._routing.pop(request_id, False)


def turn_of(order: AnswerOrder) -> Turn:
    """What the policy weighs of an order beside the router's answer; token counts are estimates."""
    said = [message.text for message in order.messages if message.role is Role.USER]
    counts = [estimate_tokens(message.text) for message in order.messages]
    n_last = 1 if order.begun is None else 2
    must = sum(counts[-n_last:]) + (counts[0] if order.messages[0].role is Role.SYSTEM else 0)
    return Turn(
        picked=order.picked if order.begun is None else order.begun.expert,
        pinned=order.pinned,
        current=order.current,
        is_follow_up=is_follow_up(said[-1], has_history=len(said) > 1),
        slash=slash_word(said[-1]),
        n_prompt=sum(counts),
        n_least=must,
        n_history=sum(counts[:-1]),
        second_opinion=order.second_opinion,
    )


def decision_line(route: Route) -> str:
    """A route for the log: names and numbers, never what was asked."""
    facts = {
        "expert": route.expert,
        "reason": route.reason,
        "task": route.task,
        "confidence": None if route.confidence is None else round(route.confidence, 3),
        "complexity": route.complexity,
        "domain": route.domain,
        "language": route.language,
        "router": route.router_id,
        "lack": route.wanted_lack,
        "route_ms": None if route.route_ms is None else round(route.route_ms, 3),
        "instead_of": route.instead_of,
        "second": route.second,
        "n_reprefill": route.n_reprefill or None,
    }
    return " ".join(f"{name}={value}" for name, value in facts.items() if value is not None)


def clean_text(text: str) -> str:
    """`text` without what no UTF-8 file or pipe can hold: a lone surrogate becomes U+FFFD, NUL goes."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "")


def as_prompt(system_prompt: str, turns: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """The messages of a prompt, with the system prompt in front where there is one."""
    system = [PromptMessage(Role.SYSTEM, system_prompt)] if system_prompt.strip() else []
    return (*system, *turns)
