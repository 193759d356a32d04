"""What the user, or an answer that went wrong, says about a route afterwards."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from layadesk.domain.routing_labels import TASKS
from layadesk.domain.strengths import Strengths

LOOP_TAIL: Final = 400
_MOST_RAISE: Final = 1.5
_RAISE_STEP: Final = 0.25
_RAISE_FROM: Final = 3  # one bad answer is no evidence


class CorrectionKind(StrEnum):
    """Who said it: the first two are the user's words about the route, the others are evidence about the effort."""

    WRONG_ROUTE = "wrong_route"
    ANSWER_WITH = "answer_with"
    REGENERATED = "regenerated"
    CUT_OFF = "cut_off"
    LOOPING = "looping"


EVIDENCE: Final = frozenset({CorrectionKind.REGENERATED, CorrectionKind.CUT_OFF, CorrectionKind.LOOPING})


@dataclass(frozen=True, slots=True)
class Correction:
    """`at` is seconds since the epoch. `task` is what it really was, None where the user did not say. `text` is kept
    only for what the user said; `previous` is the user message before.
    """

    at: float
    kind: CorrectionKind
    task_was: str | None
    expert_was: str
    task: str | None = None
    expert: str | None = None
    text: str = ""
    previous: str = ""
    language: str | None = None


def task_behind(task_probs: Mapping[str, float], wanted: Strengths, was: Strengths) -> str | None:
    """The task that choosing `wanted` in place of `was` speaks for: likely, and better done by it. None for no task."""
    gains = {task: p * (wanted.at(task) - was.at(task)) for task, p in task_probs.items()}
    best = max(gains, key=lambda task: gains[task], default=None)
    return best if best is not None and gains[best] > 0 else None


def effort_raises(corrections: Iterable[Correction]) -> dict[str, float]:
    """By how much each task's complexity is to be raised, after the answers that went wrong."""
    counts = dict.fromkeys(TASKS, 0)
    for one in corrections:
        if one.kind in EVIDENCE and one.task_was in counts:
            counts[one.task_was] += 1
    return {task: min(_MOST_RAISE, _RAISE_STEP * n) for task, n in counts.items() if n >= _RAISE_FROM}


def is_looping(text: str) -> bool:
    """Whether an answer ends by saying the same thing again and again."""
    tail = text[-LOOP_TAIL:]
    if len(tail) < LOOP_TAIL:
        return False
    return any(
        tail.endswith(tail[-length:] * (LOOP_TAIL // length))
        for length in range(1, LOOP_TAIL // 4 + 1)
        if not tail[-length:].isspace()
    )
