"""Scores become probabilities: a temperature per head and language, and what this installation has learned."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

OTHER: Final = "en"  # a language that was never measured is treated like this one
UNMEASURED: Final = 1.5  # and less surely by this factor


@dataclass(frozen=True, slots=True)
class Learned:
    """Of this installation's corrections: p' ∝ exp((log p + offset) / factor), see `domain/route_calibration.py`.

    `offsets` task → score; `factors` head → factor; `raises` task → added complexity.
    """

    offsets: Mapping[str, float] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)
    raises: Mapping[str, float] = field(default_factory=dict)


NOTHING_LEARNED: Final = Learned()


def temperature(temperatures: Mapping[str, float], language: str | None) -> float:
    """The temperature for a language; a softer one where it was never measured."""
    if language is not None and language in temperatures:
        return temperatures[language]
    return temperatures.get(OTHER, 1.0) * UNMEASURED


def softmax(scores: NDArray[np.float32], temperature_: float) -> NDArray[np.float64]:
    """Probabilities that sum to 1."""
    shifted = (scores - scores.max()).astype(np.float64) / temperature_
    exps = np.exp(shifted)
    found: NDArray[np.float64] = exps / exps.sum()
    return found
