"""One question, one answer, nothing stored: the command line's way in."""

import queue
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from layadesk.domain.errors import ErrorReport
from layadesk.domain.inference import (
    FinishReason,
    MemoryUse,
    PromptMessage,
    Role,
    SamplingParams,
    ThinkingParams,
    Timings,
)
from layadesk.domain.routing import Route
from layadesk.protocol.events import Failed, Finished, PromptBuilt, TextDelta, ThinkingDelta
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.answer_order import (
    AnswerEvent,
    AnswerOrder,
    FailedOver,
    RouteChosen,
    as_prompt,
    clean_text,
)
from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.second_opinion import DraftEnded

ROUTER_START_S = 5.0  # here the router has just been started and is worth waiting for


@dataclass(frozen=True, slots=True)
class Answered:
    """A whole answer. `error` is set when it could not be made; `text` and `thinking` then hold what came before."""

    text: str
    expert: str | None
    route: Route | None
    finish_reason: FinishReason
    timings: Timings | None
    memory: MemoryUse | None
    error: ErrorReport | None = None
    thinking: str = ""


class Ask:
    """Blocks the caller until the answer is whole; for command lines and checks, never for the window."""

    def __init__(self, answers: AnswerRequest, settings: Settings) -> None:
        self._answers = answers
        self._settings = settings

    def __call__(
        self,
        text: str,
        sampling: SamplingParams,
        *,
        expert: str | None = None,
        thinking: ThinkingParams | None = None,
        on_event: Callable[[AnswerEvent], None] = lambda _: None,
    ) -> Answered:
        """Answer `text`; `on_event` is called on this thread. A KeyboardInterrupt cancels and gives what there is.

        `thinking` None is what the user has chosen for the expert.

        Raises EMPTY_PROMPT. Every other failure is in the result.
        """
        events: queue.SimpleQueue[AnswerEvent] = queue.SimpleQueue()
        system = self._settings.get(definitions.SYSTEM_PROMPT)
        prompt = as_prompt(system, [PromptMessage(Role.USER, clean_text(text))])
        order = AnswerOrder(
            uuid.uuid4().hex, prompt, sampling, expert, route_deadline_s=ROUTER_START_S, thinking=thinking
        )
        self._answers.start(order, events.put)
        gathered = _Gathered()
        while True:
            try:
                event = events.get()
            except KeyboardInterrupt:
                self._answers.cancel(order.request_id)
                continue
            on_event(event)
            if isinstance(event, Finished | Failed):
                return gathered.ended(event)
            gathered.take(event)


class _Gathered:
    """What was heard of an answer so far."""

    def __init__(self) -> None:
        self._answered = Answered("", None, None, FinishReason.ERROR, None, None)
        self._parts: list[str] = []
        self._thoughts: list[str] = []

    def take(self, event: AnswerEvent) -> None:
        """The next event but the last."""
        match event:
            case RouteChosen(route=route):
                self._answered = replace(self._answered, route=route, expert=route.expert)
            case FailedOver(route=route):
                self._answered = replace(self._answered, route=route, expert=route.expert, memory=None)
                self._parts.clear()
                self._thoughts.clear()
            case DraftEnded(draft=draft) if self._answered.route is not None:
                route = replace(self._answered.route, drafts=(*self._answered.route.drafts, draft))
                self._answered = replace(self._answered, route=route)
            case PromptBuilt(memory=memory):
                self._answered = replace(self._answered, memory=memory)
            case ThinkingDelta(text=delta):
                self._thoughts.append(delta)
            case TextDelta(text=delta):
                self._parts.append(delta)
            case _:
                pass

    def ended(self, event: Finished | Failed) -> Answered:
        """The whole."""
        if isinstance(event, Failed):
            text, thinking = "".join(self._parts), "".join(self._thoughts)
            return replace(self._answered, text=text, thinking=thinking, error=event.error)
        return replace(
            self._answered,
            text=event.text,
            thinking=event.thinking,
            finish_reason=event.finish_reason,
            timings=event.timings,
        )
