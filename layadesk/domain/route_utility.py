"""How well an expert suits a request, as a sum whose terms are kept in the route."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from layadesk.domain.routing_labels import Effort
from layadesk.domain.strengths import MIDDLING, Strengths

DOMAIN_WEIGHT: Final = 0.5
LANGUAGE_WEIGHT: Final = 0.3
EFFORT_WEIGHT: Final = 0.25  # for each step that the request is above the expert's ceiling
COST_WEIGHT: Final = 0.06  # decides between equals
SWITCH_WEIGHT: Final = 0.015  # for each second that loading and reading the history again would take
SWITCH_MOST: Final = 0.3
_LEVEL: Final = {Effort.LIGHT: 0, Effort.MEDIUM: 1, Effort.HEAVY: 2}


@dataclass(frozen=True, slots=True)
class UtilityTerms:
    """What speaks for an expert (`task`, `domain`: 0–1, weighted) and what against it (the others, ≤ 0)."""

    task: float
    domain: float
    language: float
    effort: float
    cost: float
    switch: float

    @property
    def total(self) -> float:
        """The utility; only differences between experts mean something."""
        return self.task + self.domain + self.language + self.effort + self.cost + self.switch


def utility(
    strengths: Strengths,
    *,
    task_probs: Mapping[str, float],
    domain_probs: Mapping[str, float],
    language: str | None,
    effort: Effort | None,
    switch_s: float,
) -> UtilityTerms:
    """The terms over the whole distributions; an empty distribution leaves every expert alike."""
    task = sum(p * strengths.at(label) for label, p in task_probs.items())
    domain = DOMAIN_WEIGHT * sum(p * strengths.domains.get(label, MIDDLING) for label, p in domain_probs.items())
    foreign = language is not None and bool(strengths.languages) and language not in strengths.languages
    level = _LEVEL[effort] if effort is not None else None
    above = 0 if level is None else max(0, level - _LEVEL[strengths.effort_ceiling])
    ease = 1.5 if level == 0 else 1.0 if level != 2 else 0.3
    return UtilityTerms(
        task,
        domain,
        -LANGUAGE_WEIGHT if foreign else 0.0,
        -EFFORT_WEIGHT * above,
        -COST_WEIGHT * strengths.cost * ease,
        -min(SWITCH_MOST, SWITCH_WEIGHT * switch_s),
    )
