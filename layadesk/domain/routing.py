"""What goes into the choice of an expert and what comes out: the router's answer, the pool, the turn, the route.

A route is the kept result of one decision; it is shown on the message at once and stored with it for good. The choice
itself is `route_policy.choose`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from layadesk.domain.errors import ErrorReport, Fact
from layadesk.domain.route_utility import UtilityTerms
from layadesk.domain.routing_labels import Effort, effort_of
from layadesk.domain.strengths import Strengths


class RouteReason(StrEnum):
    """Why the chosen expert was chosen; `ui/texts` has the sentence."""

    PICKED = "picked"  # for this message
    PINNED = "pinned"  # for the conversation
    RULE = "rule"  # one of the user's, `Route.rule` says which
    ONLY_EXPERT = "only_expert"
    ROUTER = "router"
    FOLLOW_UP = "follow_up"  # a message that goes on with the last one stays with its expert
    KEPT = "kept"  # another expert would be better, but not by what a change costs
    UNSURE = "unsure"  # below the confidence at which the router acts alone: the generalist
    RUNNER_UP = "runner_up"  # the best cannot answer now; `Route.instead_of` is that one
    FAILED_OVER = "failed_over"  # the one chosen first, `Route.instead_of`, failed while it answered
    NO_OPINION = "no_opinion"
    ROUTER_AWAY = "router_away"


class OutReason(StrEnum):
    """Why a candidate was not considered."""

    NOT_PINNED = "not_pinned"
    FILE_MISSING = "file_missing"
    SUSPECT = "suspect"
    DOES_NOT_FIT = "does_not_fit"  # facts needs_bytes, free_bytes
    CONTEXT_TOO_SMALL = "context_too_small"  # facts n_prompt, n_ctx
    REMOTE_DOWN = "remote_down"  # facts host, detail
    REMOTE_NOT_ALLOWED = "remote_not_allowed"  # Auto may not send anything away


@dataclass(frozen=True, slots=True)
class RouterAnswer:
    """What the decision model said about one request; an empty distribution is "no opinion".

    `task_probs` and `domain_probs` sum to 1 where they are not empty; `complexity` is 1–5; `route_ms` is the time
    in the router process, `forward_ms` that of the network alone. `effort_signs` are why it is light or heavy, `folds`
    what was not read as prose ("code python, 40 lines"). `wanted` names a router that was asked first and did not
    answer, `wanted_lack` why (`late`, `broken`, `loading`). `plain_task_probs` are without what was learned here, empty
    where that is nothing.
    """

    router_id: str
    route_ms: float
    task_probs: Mapping[str, float] = field(default_factory=dict)
    domain_probs: Mapping[str, float] = field(default_factory=dict)
    complexity: int | None = None
    language: str | None = None
    forward_ms: float | None = None
    effort_signs: tuple[str, ...] = ()
    folds: tuple[str, ...] = ()
    wanted: str | None = None
    wanted_lack: str | None = None
    plain_task_probs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PoolExpert:
    """An expert as the policy sees it. `out` says why it cannot answer now; None means it can.

    `load_s` is what bringing it into memory takes, `prefill_tps` how fast it reads; None is not known. `n_ctx` is the
    longest context it can be loaded with. `out_facts` are what is known of the obstacle. `host` gets the words of a
    remote expert; None: it runs in the engine here.
    """

    model_id: str
    is_default: bool = False
    is_loaded: bool = False
    out: OutReason | None = None
    strengths: Strengths = field(default_factory=Strengths)
    n_ctx: int | None = None
    load_s: float | None = None
    prefill_tps: float | None = None
    out_facts: Mapping[str, Fact] = field(default_factory=dict)
    host: str | None = None


@dataclass(frozen=True, slots=True)
class RankedExpert:
    """One line of the ranking kept in a route; `utility` and `terms` are None where nothing was weighed.

    `host` as in PoolExpert.
    """

    model_id: str
    utility: float | None
    out: OutReason | None = None
    terms: UtilityTerms | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the user: `when` is a task, a domain as `domain:law`, a group, or a slash word as `/sql`."""

    when: str
    expert: str


@dataclass(frozen=True, slots=True)
class Policy:
    """What the user and the calibration set. `topk` 2 asks a second expert, `heavy_topk` for heavy math and code.

    `allows_remote`: remote experts may be chosen without being named for the message or the conversation.
    """

    confidence: float = 0.6
    margin: float = 0.15
    rules: tuple[Rule, ...] = ()
    topk: int = 1
    heavy_topk: bool = False
    enhance: bool = False
    allows_remote: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What is known of the request beside the router's answer.

    `current` answered the message before. `n_prompt` is the tokens of the assembled prompt, `n_least` of what cannot be
    left out of it (None: nothing can); `max_tokens` is a ceiling and counts for nothing here. `n_history` tokens would
    have to be read again by another expert.
    """

    picked: str | None = None
    pinned: str | None = None
    current: str | None = None
    is_follow_up: bool = False
    slash: str | None = None
    n_prompt: int = 0
    n_least: int | None = None
    n_history: int = 0
    second_opinion: bool | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What an expert wrote before the final answer: one of two, or one that failed (`error`) and was replaced."""

    expert: str
    text: str
    error: ErrorReport | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """The kept result of one decision. Unknown is None, never a made-up value.

    `confidence` is the probability of the likeliest task; `sureness` that of all tasks which the chosen expert is best
    at, and what decides whether the router acts alone. `second` is asked too where the user wants a second opinion;
    `thinks` says that the expert was told to think first. `n_reprefill` tokens of history must be read anew. `host`
    got the words where the expert is remote; None: they stayed here.
    """

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
    sureness: float | None = None
    forward_ms: float | None = None
    effort_signs: tuple[str, ...] = ()
    folds: tuple[str, ...] = ()
    rule: str | None = None
    instead_of: str | None = None
    previous: str | None = None
    n_reprefill: int = 0
    second: str | None = None
    thinks: bool = False
    wanted_router: str | None = None
    wanted_lack: str | None = None
    drafts: tuple[Draft, ...] = ()
    host: str | None = None

    @property
    def effort(self) -> Effort | None:
        """The complexity in a word; None where nobody said."""
        return effort_of(self.complexity)
