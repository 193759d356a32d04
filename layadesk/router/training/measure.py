"""Figures of a router on labelled rows: accuracy, macro-F1, recall by class, calibration error, groups, domains."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from layadesk.domain.routing_labels import DOMAINS, GROUP_OF, GROUPS, TASKS
from layadesk.router.calibration import softmax
from layadesk.router.training.rows import Row

ENOUGH: Final = 20  # a class with fewer examples gets no recall
_BINS: Final = 10
_GROUP_NUMBER: Final = np.array([list(GROUPS).index(GROUP_OF[task]) for task in TASKS])


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one language. `recall` holds the classes with at least ENOUGH examples; shares are 0–1."""

    n: int
    accuracy: float
    macro_f1: float
    recall: dict[str, float]
    calibration_error: float
    group: float
    domain: float
    n_domain: int
    domain_f1: float
    domain_recall: dict[str, float]


def figures(rows: Sequence[Row], scores: NDArray[np.float32], lang: str, temperatures: dict[str, float]) -> Figures:
    """Figures over the rows of `lang`; `temperatures` by head."""
    with_task = [k for k, row in enumerate(rows) if row.lang == lang and row.task]
    wanted = np.array([TASKS.index(rows[k].task or "") for k in with_task])
    probs = probabilities(scores[with_task, : len(TASKS)], temperatures["task"])
    found = probs.argmax(1)
    group_probs = np.stack([probs[:, number == _GROUP_NUMBER].sum(1) for number in range(len(GROUPS))], 1)
    with_domain = [k for k, row in enumerate(rows) if row.lang == lang and row.domain]
    domain_wanted = np.array([DOMAINS.index(rows[k].domain or "") for k in with_domain], dtype=np.int64)
    domain_found = scores[with_domain, len(TASKS) :].argmax(1)
    return Figures(
        len(with_task),
        float((found == wanted).mean()),
        macro_f1(wanted, found),
        recall(wanted, found, TASKS),
        calibration_error(probs.max(1), found == wanted),
        float((group_probs.argmax(1) == _GROUP_NUMBER[wanted]).mean()),
        float((domain_found == domain_wanted).mean()),
        len(with_domain),
        macro_f1(domain_wanted, domain_found),
        recall(domain_wanted, domain_found, DOMAINS),
    )


def probabilities(scores: NDArray[np.float32], temperature: float) -> NDArray[np.float64]:
    """Row by row."""
    return np.stack([softmax(row, temperature) for row in scores])


def recall(wanted: NDArray[np.int64], found: NDArray[np.int64], names: Sequence[str]) -> dict[str, float]:
    """Of each class with at least ENOUGH examples, the share that was found."""
    return {
        name: float((found[wanted == k] == k).mean()) for k, name in enumerate(names) if (wanted == k).sum() >= ENOUGH
    }


def macro_f1(wanted: NDArray[np.int64], found: NDArray[np.int64]) -> float:
    """Mean F1 over the classes with at least ENOUGH examples."""
    each = []
    for k in np.unique(wanted):
        if (wanted == k).sum() >= ENOUGH:
            hits = ((wanted == k) & (found == k)).sum()
            each.append(2 * hits / ((wanted == k).sum() + (found == k).sum()))
    return float(np.mean(each)) if each else float("nan")


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Expected calibration error over ten bins of equal width."""
    bins = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    return float(
        sum(
            abs(confidence[bins == k].mean() - right[bins == k].mean()) * (bins == k).mean()
            for k in range(_BINS)
            if (bins == k).any()
        )
    )


def best_temperature(scores: NDArray[np.float32], wanted: NDArray[np.int64]) -> float:
    """The temperature under which the labels are most likely, by golden-section search on its logarithm."""
    low, high = np.log(0.2), np.log(6.0)
    ratio = (np.sqrt(5) - 1) / 2

    def loss(log_t: float) -> float:
        probs = probabilities(scores, float(np.exp(log_t)))
        return float(-np.log(probs[np.arange(len(wanted)), wanted] + 1e-12).mean())

    a, b = high - ratio * (high - low), low + ratio * (high - low)
    for _ in range(24):
        if loss(a) < loss(b):
            high, b = b, a
            a = high - ratio * (high - low)
        else:
            low, a = a, b
            b = low + ratio * (high - low)
    return round(float(np.exp((low + high) / 2)), 3)
