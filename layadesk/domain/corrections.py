"""What the user says of a route afterwards, and what answers that went wrong say about the effort."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from layadesk.domain.chat import Correction, Rating
from layadesk.domain.inference import FinishReason
from layadesk.domain.routing import Route
from layadesk.domain.routing_labels import TASKS
from layadesk.domain.strengths import Strengths

_MOST_RAISE: Final = 1.5
_RAISE_STEP: Final = 0.25
_RAISE_FROM: Final = 3  # one bad answer is no evidence
_BAD_ENDS: Final = (FinishReason.LENGTH, FinishReason.LOOP)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A kept answer with its route. `question` is the user's message, `previous` the one before, empty for none.

    `n_answers` counts the answers to the same question: more than one, and an earlier one was not wanted.
    """

    question: str
    previous: str
    route: Route
    correction: Correction | None
    finish_reason: FinishReason | None
    n_answers: int = 1


def right_task(judged: JudgedAnswer, strengths: Mapping[str, Strengths]) -> str | None:
    """The task that the request really was: as the user says, or as the expert of the user's choice tells; else None.

    A route that was called right confirms its task.
    """
    said, route = judged.correction, judged.route
    if said is None:
        return None
    if said.task is not None:
        return said.task if said.task in TASKS else None
    if said.rating is Rating.GOOD:
        return route.task
    if said.expert is None or said.expert == route.expert:
        return None
    plain = Strengths()
    return task_behind(route.task_probs, strengths.get(said.expert, plain), strengths.get(route.expert, plain))


def task_behind(task_probs: Mapping[str, float], wanted: Strengths, was: Strengths) -> str | None:
    """The task that choosing `wanted` in place of `was` speaks for: likely, and better done by it. None for no task."""
    gains = {task: p * (wanted.at(task) - was.at(task)) for task, p in task_probs.items()}
    best = max(gains, key=lambda task: gains[task], default=None)
    return best if best is not None and gains[best] > 0 else None


def is_wrong(judged: JudgedAnswer) -> bool:
    """Whether the user called the route wrong."""
    return judged.correction is not None and judged.correction.rating is Rating.WRONG


def effort_raises(answers: Iterable[JudgedAnswer]) -> dict[str, float]:
    """By how much each task's complexity is to be raised: cut off, going in circles, asked for again, wrong route."""
    counts = dict.fromkeys(TASKS, 0)
    for one in answers:
        went_wrong = one.finish_reason in _BAD_ENDS or one.n_answers > 1 or is_wrong(one)
        if went_wrong and one.route.task in counts:
            counts[one.route.task] += 1
    return {task: min(_MOST_RAISE, _RAISE_STEP * n) for task, n in counts.items() if n >= _RAISE_FROM}
