"""The bundled router: reads a request, runs the network over it, and answers with calibrated probabilities."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from layadesk.domain.route_calibration import NO_FIT, Fit, applied
from layadesk.domain.routing import RouterAnswer
from layadesk.domain.routing_labels import DOMAINS, TASKS
from layadesk.router.calibration import NOTHING_LEARNED, Learned, softmax, temperature
from layadesk.router.effort import guess_effort
from layadesk.router.language import detect
from layadesk.router.network import HEADS, load_network
from layadesk.router.pieces import cut
from layadesk.router.reading import Fold, Reading, read

BUNDLED: Final = "bundled"
_MOST_FOLDS: Final = 6


class BundledRouter:
    """No download, no network, no torch. One thread."""

    router_id = BUNDLED

    def __init__(self, directory: Path, learned: Learned = NOTHING_LEARNED) -> None:
        """Load the weights. Raises ROUTER_MODEL_MISSING and ROUTER_MODEL_DAMAGED."""
        self.network = load_network(directory)
        self.learned = learned
        self._fit = Fit(learned.offsets, learned.factors.get("task", 1.0))

    def answer(self, text: str, history: Sequence[str]) -> RouterAnswer:  # follow-ups are the policy's
        """What it makes of `text`. Any string is read; what has no words gets even probabilities."""
        start = time.perf_counter()
        reading = read(text)
        pieces = cut(reading)
        before = time.perf_counter()
        scores = self.network.forward(pieces)
        forward_ms = (time.perf_counter() - before) * 1000.0
        language = detect(reading)
        n = len(TASKS)
        temperatures = self.network.facts.temperatures
        task_t, domain_t = (temperature(temperatures[head], language) for head in HEADS)
        if is_wordless(reading):
            task_t = domain_t = 100.0
        task_probs = dict(zip(TASKS, softmax(scores[:n], task_t).tolist(), strict=True))
        domain_probs = dict(zip(DOMAINS, softmax(scores[n:], domain_t).tolist(), strict=True))
        plain_probs: dict[str, float] = {}
        if self._fit != NO_FIT:
            plain_probs, task_probs = task_probs, applied(self._fit, task_probs)
        effort = guess_effort(reading, task_probs, self.learned.raises)
        return RouterAnswer(
            self.router_id,
            (time.perf_counter() - start) * 1000.0,
            task_probs,
            domain_probs,
            effort.complexity,
            language,
            forward_ms,
            effort.signs,
            tuple(_told(fold) for fold in reading.folds[:_MOST_FOLDS]),
            plain_task_probs=plain_probs,
        )


def is_wordless(reading: Reading) -> bool:
    """Whether there is nothing to go by: no letter, digit or fold at all."""
    return not reading.folds and not any(char.isalnum() for char in reading.text)


def _told(fold: Fold) -> str:
    named = f"{fold.kind} {fold.language}" if fold.language else fold.kind
    return f"{named}, {fold.n_lines} lines, {fold.n_chars} characters"
