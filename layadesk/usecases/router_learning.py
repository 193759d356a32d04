"""What the router learns here: a fit to what was said about its routes, when the user asks for it; it can be undone."""

import json
import queue
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from layadesk.domain.corrections import JudgedAnswer, effort_raises, right_task
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.laya_questions import QUESTIONS, TASKS_OF, laya_label
from layadesk.domain.route_calibration import FEWEST, Fit, Labelled, Report, fit_corrections, report
from layadesk.domain.routing import RouterAnswer
from layadesk.model_library.disk import write_atomically
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.workers.router_client import RouterClient

ASK_S: Final = 20.0
FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What a calibration did: figures on corrections it did not see, and how many tasks need more effort."""

    report: Report
    fit: Fit
    raises: dict[str, float]


class LearnedFiles:
    """`learned.json` for the router process, and the state before it. See `router/learned_file.py` for the format."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._previous = path.with_name("learned.previous.json")

    def read(self) -> dict[str, Any]:
        """The fields in use; empty where nothing was learned."""
        try:
            fields = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return fields if isinstance(fields, dict) else {}

    def write(self, fields: dict[str, Any]) -> None:
        """Put these in use and keep those before. Raises DISK_FULL, DISK_ERROR."""
        before = self.read()
        write_atomically(self._previous, json.dumps(before).encode())
        write_atomically(self.path, json.dumps({"format": FORMAT, **fields}, indent=1).encode())

    def undo(self) -> None:
        """Change places with the state before. Raises NOTHING_TO_UNDO."""
        try:
            before = json.loads(self._previous.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise fail(ErrorCode.NOTHING_TO_UNDO) from error
        self.write(before if isinstance(before, dict) else {})

    def confidence(self) -> float | None:
        """The threshold that was fitted; None: the setting's."""
        value = self.read().get("confidence")
        return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


class RouterLearning:
    """All methods block. `judged` gives the kept answers with their routes and what was said about them."""

    def __init__(
        self,
        judged: Callable[[], Sequence[JudgedAnswer]],
        learned: LearnedFiles,
        router: RouterClient,
        pool: ExpertPool,
    ) -> None:
        self._judged = judged
        self._learned = learned
        self._router = router
        self._pool = pool

    def calibrate(self) -> Calibrated:
        """Fit to the corrections and put the fit in use; the router starts anew.

        Raises TOO_FEW_CORRECTIONS, ROUTER_AWAY. A fit that is no better on corrections it did not see is not put in
        use; the raised efforts are in any case.
        """
        answers = self._judged()
        labelled = self._labelled(answers)
        if len(labelled) < FEWEST:
            raise fail(ErrorCode.TOO_FEW_CORRECTIONS, n=len(labelled), needed=FEWEST)
        fields = self._learned.read()
        current = Fit(fields.get("offsets", {}), fields.get("factors", {}).get("task", 1.0), fields.get("confidence"))
        found = report(labelled, current)
        fit = fit_corrections(labelled) if found.loss_after < found.loss_before else current
        raises = effort_raises(answers)
        self._learned.write(
            {
                "offsets": dict(fit.offsets),
                "factors": {"task": fit.factor},
                "raises": raises,
                "confidence": fit.confidence,
                "n_corrections": len(labelled),
            }
        )
        self._router.restart()
        return Calibrated(found, fit, raises)

    def right_now(self) -> tuple[int, int]:
        """Of the corrections with a task, how many the router in use gets right, and how many there are."""
        labelled = self._labelled(self._judged())
        right = sum(max(one.task_probs, key=lambda task: one.task_probs[task]) == one.task for one in labelled)
        return right, len(labelled)

    def undo(self) -> None:
        """Take the last calibration back; a second undo brings it again. Raises NOTHING_TO_UNDO."""
        self._learned.undo()
        self._router.restart()

    def export(self, file: Path) -> int:
        """Write the corrections with a task in Laya's fine-tuning format, one object a line; returns how many.

        Raises DISK_FULL, DISK_ERROR.
        """
        rows = []
        for one, task in self._with_task(self._judged()):
            label = laya_label(task, TASKS_OF)
            if label is not None:
                state = {"request": one.question, "previous": one.previous[:200]}
                rows.append({"state": state, "questions": {"task": QUESTIONS["task"]}, "expected": {"task": label}})
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_atomically(file, text.encode("utf-8", "replace"))
        return len(rows)

    def _with_task(self, answers: Sequence[JudgedAnswer]) -> list[tuple[JudgedAnswer, str]]:
        strengths = {one.model_id: one.strengths for one in self._pool.candidates()}
        found = [(one, right_task(one, strengths)) for one in answers if one.question.strip()]
        return [(one, task) for one, task in found if task is not None]

    def _labelled(self, answers: Sequence[JudgedAnswer]) -> list[Labelled]:
        """What the router says of each corrected text now, without what it has learned."""
        found = []
        for one, task in self._with_task(answers):
            answered: queue.SimpleQueue[RouterAnswer | None] = queue.SimpleQueue()
            self._router.route(one.question, (one.previous,) if one.previous else (), answered.put, ASK_S)
            answer = answered.get()
            if answer is None:
                raise fail(ErrorCode.ROUTER_AWAY)
            probs = answer.plain_task_probs or answer.task_probs
            if probs:
                found.append(Labelled(probs, task))
        return found
