"""The pure policy that turns the router's answer into a route: which expert answers, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from layadesk.domain.errors import ErrorCode, Fact, fail
from layadesk.domain.follow_up import command_task
from layadesk.domain.route_utility import UtilityTerms, utility
from layadesk.domain.routing import (
    OutReason,
    Policy,
    PoolExpert,
    RankedExpert,
    Route,
    RouterAnswer,
    RouteReason,
    Turn,
)
from layadesk.domain.routing_labels import GROUP_OF, Effort, effort_of
from layadesk.domain.strengths import Strengths

_HEAVY_TOPK = ("math", "code")
_DEFAULT_LEAD = 0.02
_AS_GOOD = 0.05


@dataclass(frozen=True, slots=True)
class _Weighed:
    expert: PoolExpert
    terms: UtilityTerms | None
    total: float


def choose(
    answer: RouterAnswer | None,
    pool: Sequence[PoolExpert],
    *,
    pinned: str | None = None,
    turn: Turn | None = None,
    policy: Policy | None = None,
) -> Route:
    """The route for one request. `answer` None means that the router is away. `pinned` is short for a turn with a pin.

    Precedence: the pick for this message, the pin of the conversation, the user's rules, the router, the default.
    A remote expert that Auto may not use has no say at all: it is only named in the ranking. One that is wished is
    tried even if its server did not answer lately, because the last look may be old.

    Raises NO_EXPERT_INSTALLED for an empty pool, UNKNOWN_EXPERT for a pick or pin that is not in it, and the obstacle
    of the pick, the pin or, where nothing is usable, of the best expert.
    """
    turn, policy = turn or Turn(pinned=pinned), policy or Policy()
    if not pool:
        raise fail(ErrorCode.NO_EXPERT_INSTALLED)
    wish = turn.picked or turn.pinned
    everyone = _weigh(answer, _gated(pool, turn), turn)
    weighed = [one for one in everyone if _has_a_say(one.expert, wish, policy)]
    barred = [_barred(one) for one in everyone if not _has_a_say(one.expert, wish, policy)]
    if wish is not None:
        reason = RouteReason.PICKED if turn.picked else RouteReason.PINNED
        chosen = _wished(weighed, wish)
        others = [_without_a_say(one) for one in weighed if one.expert.model_id != wish]
        return _extras(_route(answer, turn, [chosen, *others], reason, barred), weighed, turn, policy)
    if not weighed:
        raise _obstacle(barred[0].expert)
    usable = [one for one in weighed if one.expert.out is None]
    if not usable:
        raise _obstacle(_best(weighed).expert)
    chosen, reason, facts = _decide(answer, weighed, usable, turn, policy)
    ranked = sorted(
        (one for one in weighed if one is not chosen), key=lambda one: (one.expert.out is not None, -one.total)
    )
    return _extras(replace(_route(answer, turn, [chosen, *ranked], reason, barred), **facts), weighed, turn, policy)


def _has_a_say(expert: PoolExpert, wish: str | None, policy: Policy) -> bool:
    return expert.host is None or policy.allows_remote or expert.model_id == wish


def _barred(one: _Weighed) -> _Weighed:
    return replace(one, expert=replace(one.expert, out=OutReason.REMOTE_NOT_ALLOWED, out_facts={}))


def _gated(pool: Sequence[PoolExpert], turn: Turn) -> list[PoolExpert]:
    """Those whose context cannot hold the prompt are out; where that would be all, only what must be in it counts."""
    whole = [_held(expert, turn.n_prompt) for expert in pool]
    n_least = turn.n_prompt if turn.n_least is None else turn.n_least
    wish = turn.picked or turn.pinned
    if any(one.out is None for one in whole if wish is None or one.model_id == wish):
        return whole
    return [_held(expert, n_least) for expert in pool]


def _held(expert: PoolExpert, n_prompt: int) -> PoolExpert:
    if expert.out is None and expert.n_ctx is not None and n_prompt >= expert.n_ctx:
        facts: dict[str, Fact] = {"n_prompt": n_prompt, "n_ctx": expert.n_ctx}
        return replace(expert, out=OutReason.CONTEXT_TOO_SMALL, out_facts=facts)
    return expert


def _weigh(answer: RouterAnswer | None, pool: Sequence[PoolExpert], turn: Turn) -> list[_Weighed]:
    if answer is None or not (answer.task_probs or answer.domain_probs):
        return [_Weighed(expert, None, 1.0 if expert.is_default else 0.0) for expert in pool]
    weighed = []
    for expert in pool:
        terms = utility(
            expert.strengths,
            task_probs=answer.task_probs,
            domain_probs=answer.domain_probs,
            language=answer.language,
            effort=effort_of(answer.complexity),
            switch_s=_switch_s(expert, turn),
        )
        weighed.append(_Weighed(expert, terms, terms.total))
    return weighed


def _switch_s(expert: PoolExpert, turn: Turn) -> float:
    """Seconds until it could begin: loading, and reading the history where another expert has it in its cache."""
    load = 0.0 if expert.is_loaded else expert.load_s or 0.0
    read = 0.0
    if turn.n_history and expert.model_id != turn.current and expert.prefill_tps:
        read = turn.n_history / expert.prefill_tps
    return load + read


def _decide(
    answer: RouterAnswer | None, weighed: Sequence[_Weighed], usable: Sequence[_Weighed], turn: Turn, policy: Policy
) -> tuple[_Weighed, RouteReason, dict[str, Any]]:
    current = next((one for one in usable if one.expert.model_id == turn.current), None)
    if current is not None and turn.is_follow_up and turn.slash is None:
        return current, RouteReason.FOLLOW_UP, {}
    ruled = _ruled(answer, usable, turn, policy)
    if ruled is not None:
        return ruled[0], RouteReason.RULE, {"rule": ruled[1]}
    best, overall = _best(usable), _best(weighed)
    in_place_of = {"instead_of": overall.expert.model_id}
    if len(usable) == 1:
        blocked = overall.terms is not None and overall is not best
        return best, RouteReason.RUNNER_UP if blocked else RouteReason.ONLY_EXPERT, in_place_of if blocked else {}
    doubt = _doubt(answer, best, usable, policy)
    if doubt is not None or answer is None:
        return current or generalist(usable), doubt or RouteReason.ROUTER_AWAY, {}
    if current is not None and current is not best and best.total - current.total < policy.margin:
        return current, RouteReason.KEPT, {"instead_of": best.expert.model_id}
    return (
        best,
        RouteReason.ROUTER if overall is best else RouteReason.RUNNER_UP,
        {} if overall is best else in_place_of,
    )


def _doubt(
    answer: RouterAnswer | None, best: _Weighed, usable: Sequence[_Weighed], policy: Policy
) -> RouteReason | None:
    """Why the router does not act alone; None where it does."""
    if answer is None:
        return RouteReason.ROUTER_AWAY
    if best.terms is None:
        return RouteReason.NO_OPINION
    is_sure = sureness(answer, best.expert, [one.expert for one in usable]) >= policy.confidence
    return None if is_sure else RouteReason.UNSURE


def sureness(answer: RouterAnswer, chosen: PoolExpert, pool: Sequence[PoolExpert]) -> float:
    """The probability of the tasks that nobody in `pool` is clearly better at than `chosen`."""
    total = 0.0
    for task, p in answer.task_probs.items():
        best = max(expert.strengths.at(task) for expert in pool)
        if chosen.strengths.at(task) >= best - _AS_GOOD:
            total += p
    return total


def generalist(usable: Sequence[_Weighed]) -> _Weighed:
    """The default expert, or the first of those that are least bad at anything."""
    marked = next((one for one in usable if one.expert.is_default), None)
    if marked is not None:
        return marked
    if all(one.terms is None for one in usable):
        return usable[0]
    return max(usable, key=lambda one: (_worst(one.expert.strengths), -one.expert.strengths.cost))


def _worst(strengths: Strengths) -> float:
    return min((*strengths.tasks.values(), strengths.otherwise))


def _ruled(
    answer: RouterAnswer | None, usable: Sequence[_Weighed], turn: Turn, policy: Policy
) -> tuple[_Weighed, str] | None:
    """The first rule that applies to an expert that can answer; a slash word comes before what the router thinks."""
    said = {f"/{turn.slash}"} if turn.slash else set()
    task = command_task(turn.slash) if turn.slash else None
    if task is None and answer is not None and max(answer.task_probs.values(), default=0.0) >= policy.confidence:
        task = _most_likely(answer.task_probs)
    if task is not None:
        said |= {task, GROUP_OF[task]} if task in GROUP_OF else {task}
    if answer is not None and max(answer.domain_probs.values(), default=0.0) >= policy.confidence:
        said.add(f"domain:{_most_likely(answer.domain_probs)}")
    for rule in sorted(policy.rules, key=lambda rule: not rule.when.startswith("/")):
        if rule.when in said:
            for one in usable:
                if one.expert.model_id == rule.expert:
                    return one, rule.when
    return None


def _wished(weighed: Sequence[_Weighed], wish: str) -> _Weighed:
    for one in weighed:
        if one.expert.model_id == wish:
            if one.expert.out is OutReason.REMOTE_DOWN:
                return replace(one, expert=replace(one.expert, out=None, out_facts={}))
            if one.expert.out is not None:
                raise _obstacle(one.expert)
            return one
    raise fail(ErrorCode.UNKNOWN_EXPERT, expert=wish, known=", ".join(one.expert.model_id for one in weighed))


def _without_a_say(one: _Weighed) -> _Weighed:
    return one if one.expert.out else replace(one, expert=replace(one.expert, out=OutReason.NOT_PINNED))


_OBSTACLES: dict[OutReason, ErrorCode] = {
    OutReason.SUSPECT: ErrorCode.MODEL_SUSPECT,
    OutReason.FILE_MISSING: ErrorCode.MODEL_FILE_MISSING,
    OutReason.CONTEXT_TOO_SMALL: ErrorCode.CONTEXT_LENGTH_EXCEEDED,
    OutReason.DOES_NOT_FIT: ErrorCode.OUT_OF_MEMORY,
    OutReason.REMOTE_DOWN: ErrorCode.REMOTE_UNREACHABLE,
    OutReason.REMOTE_NOT_ALLOWED: ErrorCode.REMOTE_NOT_ALLOWED,
}


def _obstacle(expert: PoolExpert) -> Exception:
    code = _OBSTACLES.get(expert.out or OutReason.FILE_MISSING, ErrorCode.MODEL_FILE_MISSING)
    return fail(code, expert=expert.model_id, **expert.out_facts)


def _route(
    answer: RouterAnswer | None,
    turn: Turn,
    ranked: Sequence[_Weighed],
    reason: RouteReason,
    barred: Sequence[_Weighed] = (),
) -> Route:
    """`barred` are named at the end of the ranking and count for nothing."""
    chosen = ranked[0].expert
    ranking = tuple(
        RankedExpert(
            one.expert.model_id,
            None if one.terms is None else one.total,
            one.expert.out,
            one.terms,
            one.expert.out_facts,
            one.expert.host,
        )
        for one in (*ranked, *barred)
    )
    switched = turn.current is not None and turn.current != chosen.model_id
    bare = Route(
        chosen.model_id,
        reason,
        ranking,
        previous=turn.current if switched else None,
        n_reprefill=turn.n_history if switched else 0,
        host=chosen.host,
    )
    if answer is None:
        return bare
    return replace(
        bare,
        router_id=answer.router_id,
        task=_most_likely(answer.task_probs),
        task_probs=answer.task_probs,
        complexity=answer.complexity,
        domain=_most_likely(answer.domain_probs),
        domain_probs=answer.domain_probs,
        language=answer.language,
        confidence=max(answer.task_probs.values(), default=None),
        route_ms=answer.route_ms,
        sureness=sureness(answer, chosen, [one.expert for one in ranked]) if answer.task_probs else None,
        forward_ms=answer.forward_ms,
        effort_signs=answer.effort_signs,
        folds=answer.folds,
        wanted_router=answer.wanted,
        wanted_lack=answer.wanted_lack,
    )


def _extras(route: Route, weighed: Sequence[_Weighed], turn: Turn, policy: Policy) -> Route:
    """With the second expert and the thinking that the user wants for such a request."""
    is_heavy = route.effort is Effort.HEAVY
    wants_two = policy.topk > 1 or (policy.heavy_topk and is_heavy and route.task in _HEAVY_TOPK)
    if turn.second_opinion is not None:
        wants_two = turn.second_opinion
    second = None
    if wants_two:
        others = [one for one in weighed if one.expert.out is None and one.expert.model_id != route.expert]
        second = _best(others).expert.model_id if others else None
    chosen = next(one.expert for one in weighed if one.expert.model_id == route.expert)
    return replace(route, second=second, thinks=policy.enhance and is_heavy and chosen.strengths.can_think)


def _best(weighed: Sequence[_Weighed]) -> _Weighed:
    """The most useful; between equals the default expert."""
    return max(weighed, key=lambda one: one.total + (_DEFAULT_LEAD if one.expert.is_default else 0.0))


def _most_likely(probs: Mapping[str, float]) -> str | None:
    return max(probs, key=lambda label: probs[label]) if probs else None
