"""The router's answer and the pure policy that turns it into a route: which expert answers, and why.

A route is the kept result of one decision; it is shown on the message at once and stored with it for good.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from layadesk.domain.errors import ErrorCode, fail


class RouteReason(StrEnum):
    """Why the chosen expert was chosen; `ui/texts.py` has the sentence."""

    PINNED = "pinned"
    ONLY_EXPERT = "only_expert"
    ROUTER = "router"
    NO_OPINION = "no_opinion"
    ROUTER_AWAY = "router_away"


class OutReason(StrEnum):
    """Why a candidate was not considered."""

    NOT_PINNED = "not_pinned"
    FILE_MISSING = "file_missing"
    SUSPECT = "suspect"


@dataclass(frozen=True, slots=True)
class RouterAnswer:
    """What the decision model said about one request; an empty distribution is "no opinion".

    `task_probs` and `domain_probs` sum to 1 where they are not empty; `complexity` is 1–5; `route_ms` is the time
    in the router process.
    """

    router_id: str
    route_ms: float
    task_probs: Mapping[str, float] = field(default_factory=dict)
    domain_probs: Mapping[str, float] = field(default_factory=dict)
    complexity: int | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class PoolExpert:
    """An expert as the policy sees it. `out` says why it cannot answer now; None means it can."""

    model_id: str
    is_default: bool = False
    is_loaded: bool = False
    out: OutReason | None = None


@dataclass(frozen=True, slots=True)
class RankedExpert:
    """One line of the ranking kept in a route; `utility` is None where nothing was weighed."""

    model_id: str
    utility: float | None
    out: OutReason | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """The kept result of one decision. Unknown is None, never a made-up value."""

    expert: str
    reason: RouteReason
    ranking: tuple[RankedExpert, ...] = ()
    router_id: str | None = None
    task: str | None = None
    task_probs: Mapping[str, float] = field(default_factory=dict)
    complexity: int | None = None
    domain: str | None = None
    domain_probs: Mapping[str, float] = field(default_factory=dict)
    language: str | None = None
    confidence: float | None = None
    route_ms: float | None = None


def choose(answer: RouterAnswer | None, pool: Sequence[PoolExpert], *, pinned: str | None = None) -> Route:
    """The route for one request. `answer` None means that the router is away.

    Precedence: the pin, then the only usable expert, then the default (the first of `pool` where none is marked).
    Raises NO_EXPERT_INSTALLED for an empty pool, UNKNOWN_EXPERT for a pin that is not in it, and the pin's or the
    first expert's own obstacle where nothing is usable.
    """
    if not pool:
        raise fail(ErrorCode.NO_EXPERT_INSTALLED)
    if pinned is not None:
        return _build(answer, pool, _pinned(pool, pinned), RouteReason.PINNED)
    usable = [expert for expert in pool if expert.out is None]
    if not usable:
        raise _obstacle(pool[0])
    if len(usable) == 1:
        return _build(answer, pool, usable[0], RouteReason.ONLY_EXPERT)
    chosen = next((expert for expert in usable if expert.is_default), usable[0])
    reason = RouteReason.ROUTER_AWAY if answer is None else RouteReason.NO_OPINION
    return _build(answer, pool, chosen, reason)


def _pinned(pool: Sequence[PoolExpert], pinned: str) -> PoolExpert:
    for expert in pool:
        if expert.model_id == pinned:
            if expert.out is not None:
                raise _obstacle(expert)
            return expert
    raise fail(ErrorCode.UNKNOWN_EXPERT, expert=pinned, known=", ".join(expert.model_id for expert in pool))


def _obstacle(expert: PoolExpert) -> Exception:
    if expert.out is OutReason.SUSPECT:
        return fail(ErrorCode.MODEL_SUSPECT, expert=expert.model_id)
    return fail(ErrorCode.MODEL_FILE_MISSING, expert=expert.model_id)


def _build(answer: RouterAnswer | None, pool: Sequence[PoolExpert], chosen: PoolExpert, reason: RouteReason) -> Route:
    pinned = reason is RouteReason.PINNED
    others = [
        RankedExpert(e.model_id, None, e.out or (OutReason.NOT_PINNED if pinned else None))
        for e in pool
        if e is not chosen
    ]
    ranking = (RankedExpert(chosen.model_id, None), *others)
    if answer is None:
        return Route(chosen.model_id, reason, ranking)
    return Route(
        chosen.model_id,
        reason,
        ranking,
        router_id=answer.router_id,
        task=_most_likely(answer.task_probs),
        task_probs=answer.task_probs,
        complexity=answer.complexity,
        domain=_most_likely(answer.domain_probs),
        domain_probs=answer.domain_probs,
        language=answer.language,
        confidence=max(answer.task_probs.values(), default=None),
        route_ms=answer.route_ms,
    )


def _most_likely(probs: Mapping[str, float]) -> str | None:
    return max(probs, key=lambda label: probs[label]) if probs else None
