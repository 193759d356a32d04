"""What an expert is good at, as the route policy weighs it: from `models.json`, the user, or guessed from its name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from layadesk.domain.routing_labels import Effort

MIDDLING: Final = 0.5
_SPECIALIST_OTHERWISE: Final = 0.3  # made for one thing, it has become worse at the rest

# Words of model names, and the tasks such a model is made for.
_NAMED: Final[tuple[tuple[re.Pattern[str], dict[str, float], dict[str, float]], ...]] = (
    (re.compile(r"cod(?:er|e|estral)|starcoder|devstral|stable-?code", re.I), {"code": 0.95}, {"programming": 0.8}),
    (re.compile(r"math|numina|prover", re.I), {"math": 0.95, "reasoning": 0.7}, {"math": 0.9, "science": 0.6}),
    (
        re.compile(r"(?:^|[^a-z])(?:r1|qwq|o1)(?:[^a-z0-9]|$)|reason|think|magistral|phi-?4-mini-r", re.I),
        {"math": 0.85, "reasoning": 0.9},
        {"science": 0.6},
    ),
    (re.compile(r"med(?:gemma|itron|alpaca|lm)|clinic|biomed|huatuo", re.I), {}, {"medicine": 0.9}),
    (re.compile(r"law(?:yer)?(?:[^a-z]|$)|legal|saul", re.I), {}, {"law": 0.9}),
    (re.compile(r"fin(?:ance|gpt|ma)(?:[^a-z]|$)", re.I), {}, {"finance": 0.9}),
    (re.compile(r"transl|tower|madlad|hunyuan-?mt|seed-?x", re.I), {"translate": 0.95}, {"humanities": 0.6}),
    (re.compile(r"role-?play|rp(?:[^a-z]|$)|mytho|nous-capy|stheno", re.I), {"roleplay": 0.9, "chat": 0.8}, {}),
    (re.compile(r"writ(?:er|ing)|novel|story|gutenberg", re.I), {"writing": 0.9, "rewrite": 0.8}, {"humanities": 0.7}),
)
_SIZE: Final = re.compile(r"(?<![a-z0-9.])(\d{1,4}(?:\.\d+)?)b(?![a-z0-9])", re.I)
_DEAR: Final = 0.8
_THINKS: Final = re.compile(
    r"qwen-?3(?!.*instruct-2507)|(?:^|[^a-z])r1(?:[^a-z]|$)|qwq|think|magistral|gpt-oss|smollm3", re.I
)
_CHINESE: Final = re.compile(r"qwen|yi-|glm|baichuan|internlm|deepseek|minicpm|hunyuan|huatuo|ernie|chinese", re.I)
_ENGLISH_ONLY: Final = re.compile(r"smollm|phi-[12]|tinyllama|pythia|olmo", re.I)


@dataclass(frozen=True, slots=True)
class Strengths:
    """0 is useless, 0.5 middling, 1 the best there is; for a task that is not named `otherwise`, for a domain middling.

    `languages` empty: any. `effort_ceiling` is the heaviest work it can be trusted with. `cost` 0–1 is what an answer
    of it costs beside the others: it decides between equals, and keeps light requests off heavy models.
    """

    tasks: Mapping[str, float] = field(default_factory=dict)
    domains: Mapping[str, float] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    effort_ceiling: Effort = Effort.MEDIUM
    cost: float = MIDDLING
    can_think: bool = False
    otherwise: float = MIDDLING

    def at(self, task: str) -> float:
        """How good it is at a task."""
        return self.tasks.get(task, self.otherwise)


def guess_strengths(name: str, *, n_parameters: float | None, languages: tuple[str, ...] = ()) -> Strengths:
    """What a model's name and its number of parameters say; a start that the user corrects."""
    tasks: dict[str, float] = {}
    domains: dict[str, float] = {}
    for pattern, its_tasks, its_domains in _NAMED:
        if pattern.search(name):
            tasks |= its_tasks
            domains |= its_domains
    if not languages:
        languages = ("en", "zh") if _CHINESE.search(name) else ("en",) if _ENGLISH_ONLY.search(name) else ()
    return Strengths(
        tasks,
        domains,
        languages,
        _ceiling(n_parameters),
        _cost(n_parameters),
        bool(_THINKS.search(name)),
        _SPECIALIST_OTHERWISE if tasks else MIDDLING,
    )


def guess_remote(name: str) -> Strengths:
    """As `guess_strengths`, for a model elsewhere: large and dear where its name does not say how large."""
    size = _SIZE.search(name)
    if size is not None:
        return guess_strengths(name, n_parameters=float(size[1]) * 1e9)
    return replace(guess_strengths(name, n_parameters=None), effort_ceiling=Effort.HEAVY, cost=_DEAR)


def _ceiling(n_parameters: float | None) -> Effort:
    if n_parameters is None:
        return Effort.MEDIUM
    if n_parameters < 2e9:
        return Effort.LIGHT
    return Effort.MEDIUM if n_parameters < 6e9 else Effort.HEAVY


def _cost(n_parameters: float | None) -> float:
    """Grows with the size: 0 below a billion, 1 from seventy."""
    if n_parameters is None:
        return MIDDLING
    steps = (1e9, 3e9, 6e9, 10e9, 20e9, 40e9, 70e9)
    return sum(n_parameters >= step for step in steps) / len(steps)
