"""What the router learns here: corrections are kept, fitted when the user asks for it, and the fit can be undone."""

import json
import logging
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from layadesk.domain.chat import Message
from layadesk.domain.corrections import Correction, CorrectionKind, effort_raises, is_looping, task_behind
from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import FinishReason, Role
from layadesk.domain.laya_questions import QUESTIONS, TASKS_OF, laya_label
from layadesk.domain.route_calibration import FEWEST, Fit, Labelled, Report, fit_corrections, report
from layadesk.domain.routing import RouterAnswer
from layadesk.domain.routing_labels import TASKS
from layadesk.domain.strengths import Strengths
from layadesk.model_library.disk import write_atomically
from layadesk.store.corrections_file import CorrectionsFile
from layadesk.store.store import Store
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.futures import then
from layadesk.usecases.stored_conversation import StoredConversation, load_stored
from layadesk.usecases.turns import TurnEnded, TurnEvent
from layadesk.workers.router_client import RouterClient

log = logging.getLogger(__name__)

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
    """`calibrate`, `undo` and `export` block; the others return at once. Any thread."""

    def __init__(
        self,
        corrections: CorrectionsFile,
        learned: LearnedFiles,
        router: RouterClient,
        pool: ExpertPool,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._corrections = corrections
        self._learned = learned
        self._router = router
        self._pool = pool
        self._now = now

    def wrong_route(
        self, store: Store, conversation_id: str, answer_id: str, *, task: str | None = None, expert: str | None = None
    ) -> Future[None]:
        """The user says that an answer went to the wrong expert; `task` and `expert` are what it should have been.

        Fails with UNKNOWN_CONVERSATION for foreign ids and answers without a route, BAD_PARAMETER for a task unknown.
        """
        if task is not None and task not in TASKS:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="task", value=task)
        return then(load_stored(store, conversation_id), lambda stored: self._correct(stored, answer_id, task, expert))

    def _correct(self, stored: StoredConversation, answer_id: str, task: str | None, expert: str | None) -> None:
        answer = stored.messages.get(answer_id)
        question = None if answer is None else stored.messages.get(answer.parent_id or "")
        if answer is None or answer.route is None or question is None:
            raise fail(ErrorCode.UNKNOWN_CONVERSATION, message=answer_id)
        route = answer.route
        if task is None and expert is not None:
            strengths = {one.model_id: one.strengths for one in self._pool.candidates()}
            plain = Strengths()
            task = task_behind(route.task_probs, strengths.get(expert, plain), strengths.get(route.expert, plain))
        self._corrections.add(
            Correction(
                self._now(),
                CorrectionKind.WRONG_ROUTE if expert is None else CorrectionKind.ANSWER_WITH,
                route.task,
                route.expert,
                task,
                expert,
                question.text,
                _previous(stored, question),
                route.language,
            )
        )

    def on_turn(self, event: TurnEvent) -> None:
        """Evidence about the effort: an answer was cut off or went round in circles. A listener of the turns."""
        if not isinstance(event, TurnEnded) or event.message.route is None:
            return
        if event.message.finish_reason is FinishReason.LENGTH:
            self._evidence(CorrectionKind.CUT_OFF, event.message)
        elif event.message.finish_reason is FinishReason.LOOP or is_looping(event.message.text):
            self._evidence(CorrectionKind.LOOPING, event.message)

    def regenerated(self, answer: Message) -> None:
        """The user wanted another answer to the same question."""
        if answer.route is not None:
            self._evidence(CorrectionKind.REGENERATED, answer)

    def _evidence(self, kind: CorrectionKind, answer: Message) -> None:
        assert answer.route is not None
        try:
            self._corrections.add(Correction(self._now(), kind, answer.route.task, answer.route.expert))
        except LayaDeskError as error:  # an answer is worth more than what can be learned from it
            log.warning("evidence about an answer was not kept: %s", error.code)

    def corrections(self) -> tuple[Correction, ...]:
        """All that were kept."""
        return self._corrections.read()

    def forget(self) -> None:
        """Remove all corrections and all that was learned from them."""
        self._corrections.forget()
        self._learned.write({})
        self._router.restart()

    def calibrate(self) -> Calibrated:
        """Fit to the corrections and put the fit in use; the router starts anew.

        Raises TOO_FEW_CORRECTIONS, ROUTER_AWAY. A fit that is no better on corrections it did not see is not put in
        use; the raised efforts are in any case.
        """
        corrections = self._corrections.read()
        labelled = self._labelled(corrections)
        if len(labelled) < FEWEST:
            raise fail(ErrorCode.TOO_FEW_CORRECTIONS, n=len(labelled), needed=FEWEST)
        fields = self._learned.read()
        current = Fit(fields.get("offsets", {}), fields.get("factors", {}).get("task", 1.0), fields.get("confidence"))
        found = report(labelled, current)
        fit = fit_corrections(labelled) if found.loss_after < found.loss_before else current
        raises = effort_raises(corrections)
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

    def undo(self) -> None:
        """Take the last calibration back; a second undo brings it again. Raises NOTHING_TO_UNDO."""
        self._learned.undo()
        self._router.restart()

    def export(self, file: Path) -> int:
        """Write the corrections with a task in Laya's fine-tuning format, one object a line; returns how many.

        Raises DISK_FULL, DISK_ERROR.
        """
        rows = []
        for one in self._corrections.read():
            label = laya_label(one.task, TASKS_OF) if one.task is not None else None
            if label is not None and one.text.strip():
                state = {"request": one.text, "previous": one.previous[:200]}
                rows.append({"state": state, "questions": {"task": QUESTIONS["task"]}, "expected": {"task": label}})
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_atomically(file, text.encode("utf-8", "replace"))
        return len(rows)

    def _labelled(self, corrections: Sequence[Correction]) -> list[Labelled]:
        """What the router says of each corrected text now, without what it has learned."""
        found = []
        for one in corrections:
            if one.task is None or not one.text.strip():
                continue
            answered: queue.SimpleQueue[RouterAnswer | None] = queue.SimpleQueue()
            self._router.route(one.text, (one.previous,) if one.previous else (), answered.put, ASK_S)
            answer = answered.get()
            if answer is None:
                raise fail(ErrorCode.ROUTER_AWAY)
            probs = answer.plain_task_probs or answer.task_probs
            if probs:
                found.append(Labelled(probs, one.task))
        return found


def _previous(stored: StoredConversation, question: Message) -> str:
    """The user's message before a question, empty where there was none."""
    above = stored.messages.get(question.parent_id or "")
    while above is not None and above.role is not Role.USER:
        above = stored.messages.get(above.parent_id or "")
    return "" if above is None else above.text
