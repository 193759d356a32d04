"""What a client wants answered, and what it hears: the words that all who ask for answers share."""

from collections.abc import Sequence
from dataclasses import dataclass

from layadesk.domain.context_budget import estimate_tokens
from layadesk.domain.follow_up import is_follow_up, slash_word
from layadesk.domain.inference import PromptMessage, Role, SamplingParams, ThinkingParams, ToolUse
from layadesk.domain.routing import Route, Turn
from layadesk.protocol.events import RequestEvent
from layadesk.usecases.second_opinion import DraftEvent


@dataclass(frozen=True, slots=True)
class RouteChosen:
    """The route of a request; comes before every engine event, and not at all when no expert can be chosen."""

    request_id: str
    route: Route


@dataclass(frozen=True, slots=True)
class FailedOver:
    """A remote expert failed, and another one begins anew: all text and thinking so far are void.

    They are kept as the last of the route's drafts, with the error.
    """

    request_id: str
    route: Route


AnswerEvent = RouteChosen | FailedOver | RequestEvent | DraftEvent


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
    `thinking` None is what the user has chosen for the expert. `may_restart` is false for a client that cannot take
    back text it was given: a remote expert that fails in mid-answer is then an error for it. `begun`: the last of
    `messages` is an answer to go on with, by the expert that began it; nothing is routed. With `keeps_all` nothing
    may be left out to fit; `is_raw` and `tools` as in Generate.
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
    may_restart: bool = True
    keeps_all: bool = False
    is_raw: bool = False
    tools: ToolUse | None = None

    @property
    def questions(self) -> list[str]:
        """What the user has said, the newest last."""
        return [message.text for message in self.messages if message.role is Role.USER]


def turn_of(order: AnswerOrder) -> Turn:
    """What the policy weighs of an order beside the router's answer; token counts are estimates."""
    said = order.questions
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
