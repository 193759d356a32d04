"""Fit the router to this installation's corrections: an offset per task and one temperature factor, held near none.

p' ∝ exp((log p + offset) / factor). Figures before and after are taken on corrections that the fit did not see.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from layadesk.domain.routing_labels import TASKS

FEWEST: Final = 8  # corrections; with fewer nothing is fitted
_STEPS: Final = 150
_RATE: Final = 0.4
_PULL: Final = 1.5  # towards no change, as that many corrections would
_TINY: Final = 1e-6
_THRESHOLDS: Final = tuple(k / 20 for k in range(6, 19))
_WANTED_RIGHT: Final = 0.8
_FEWEST_FOR_THRESHOLD: Final = 20


@dataclass(frozen=True, slots=True)
class Labelled:
    """What the router says without anything learned, and what it should have said."""

    task_probs: Mapping[str, float]
    task: str


@dataclass(frozen=True, slots=True)
class Fit:
    """`confidence` is the least at which four of five were right; None where there were too few to tell."""

    offsets: Mapping[str, float] = field(default_factory=dict)
    factor: float = 1.0
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Shares of the corrections that were right, and the mean negative log-probability of the right task."""

    n: int
    right_before: float
    right_after: float
    loss_before: float
    loss_after: float


NO_FIT: Final = Fit()


def applied(fit: Fit, task_probs: Mapping[str, float]) -> dict[str, float]:
    """The probabilities after the fit; they sum to 1."""
    scores = {task: (math.log(p + _TINY) + fit.offsets.get(task, 0.0)) / fit.factor for task, p in task_probs.items()}
    top = max(scores.values(), default=0.0)
    exps = {task: math.exp(score - top) for task, score in scores.items()}
    total = sum(exps.values()) or 1.0
    return {task: value / total for task, value in exps.items()}


def fit_corrections(labelled: Sequence[Labelled]) -> Fit:
    """Gradient descent on offsets and the logarithm of the factor; deterministic."""
    offsets, log_factor, n = dict.fromkeys(TASKS, 0.0), 0.0, len(labelled)
    for _ in range(_STEPS if n else 0):
        gradients, factor_gradient = (
            {task: _PULL * value / n for task, value in offsets.items()},
            _PULL * log_factor / n,
        )
        fit = Fit(offsets, math.exp(log_factor))
        for one in labelled:
            probs = applied(fit, one.task_probs)
            for task, p in probs.items():
                error = p - (task == one.task)
                gradients[task] += error / fit.factor / n
                score = (math.log(one.task_probs[task] + _TINY) + offsets[task]) / fit.factor
                factor_gradient -= error * score / n
        offsets = {task: value - _RATE * gradients[task] for task, value in offsets.items()}
        log_factor = max(-0.7, min(0.7, log_factor - 0.2 * _RATE * factor_gradient))
    fit = Fit({task: round(value, 3) for task, value in offsets.items() if abs(value) > 0.01}, math.exp(log_factor))
    return Fit(
        fit.offsets, round(fit.factor, 3), _threshold([applied(fit, one.task_probs) for one in labelled], labelled)
    )


def report(labelled: Sequence[Labelled], current: Fit) -> Report:
    """Two halves, each judged by a fit on the other one; `current` is what is in use now."""
    before = [applied(current, one.task_probs) for one in labelled]
    after: list[dict[str, float]] = []
    fits = [fit_corrections(labelled[1::2]), fit_corrections(labelled[0::2])]
    for k, one in enumerate(labelled):
        after.append(applied(fits[k % 2], one.task_probs))
    return Report(
        len(labelled),
        _right(before, labelled),
        _right(after, labelled),
        _loss(before, labelled),
        _loss(after, labelled),
    )


def _right(probs: Sequence[Mapping[str, float]], labelled: Sequence[Labelled]) -> float:
    hits = [max(p, key=lambda task: p[task]) == one.task for p, one in zip(probs, labelled, strict=True)]
    return sum(hits) / max(1, len(hits))


def _loss(probs: Sequence[Mapping[str, float]], labelled: Sequence[Labelled]) -> float:
    losses = [-math.log(p.get(one.task, 0.0) + _TINY) for p, one in zip(probs, labelled, strict=True)]
    return sum(losses) / max(1, len(losses))


def _threshold(probs: Sequence[Mapping[str, float]], labelled: Sequence[Labelled]) -> float | None:
    if len(labelled) < _FEWEST_FOR_THRESHOLD:
        return None
    for threshold in _THRESHOLDS:
        sure = [
            max(p, key=lambda task: p[task]) == one.task
            for p, one in zip(probs, labelled, strict=True)
            if max(p.values()) >= threshold
        ]
        if sure and sum(sure) / len(sure) >= _WANTED_RIGHT:
            return threshold
    return _THRESHOLDS[-1]
