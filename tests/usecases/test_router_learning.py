"""Corrections are kept, fitted, shown before and after, taken back and exported."""

import json
from pathlib import Path
from typing import cast

import pytest

from layadesk.domain.corrections import CorrectionKind
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import FinishReason
from layadesk.domain.routing import RouterAnswer, RouteReason
from layadesk.domain.routing_labels import TASKS
from layadesk.router.learned_file import read_learned
from layadesk.settings import definitions
from layadesk.store.corrections_file import CorrectionsFile
from layadesk.usecases.router_learning import LearnedFiles, RouterLearning
from layadesk.usecases.watch_routes import WatchRoutes
from layadesk.workers.router_client import RouterClient
from tests.fakes.answering import PATIENCE_S, PlayedDesk

UNSURE = {**dict.fromkeys(TASKS, 0.0), "knowledge": 0.55, "advise": 0.45}
ANSWER = RouterAnswer("played", 0.1, UNSURE, {"general": 1.0}, 2, "en")


class Learning:
    """Real files over played workers."""

    def __init__(self, desk: PlayedDesk) -> None:
        desk.router.answer = ANSWER
        self.desk = desk
        self.files = LearnedFiles(desk.paths.router_learned)
        self.learning = RouterLearning(
            CorrectionsFile(desk.paths.corrections),
            self.files,
            cast("RouterClient", desk.router),
            desk.pool,
            lambda: 5.0,
        )
        desk.turns.subscribe(self.learning.on_turn)
        self.routes = WatchRoutes(desk.store, desk.regenerate, self.learning)

    def wrong(self, text: str, task: str | None) -> None:
        answer = self.desk.whole_turn(text, "an answer").answer
        self.routes.wrong(answer.conversation_id, answer.message_id, task=task).result(PATIENCE_S)


@pytest.fixture
def lab(desk: PlayedDesk) -> Learning:
    return Learning(desk)


def test_a_wrong_route_is_kept_with_what_it_should_have_been(lab: Learning) -> None:
    lab.wrong("where should we eat", "advise")
    (kept,) = lab.learning.corrections()
    assert (kept.kind, kept.task_was, kept.task, kept.expert_was) == (
        CorrectionKind.WRONG_ROUTE, "knowledge", "advise", "alpha",
    )  # fmt: skip
    assert (kept.text, kept.language, kept.at) == ("where should we eat", "en", 5.0)


def test_answer_with_asks_that_expert_beside_the_old_answer_and_is_a_correction(lab: Learning) -> None:
    lab.desk.install("star-coder")
    lab.desk.settings.set(definitions.DEFAULT_EXPERT, "alpha")
    lab.desk.router.answer = RouterAnswer("played", 0.1, {**UNSURE, "knowledge": 0.4, "code": 0.15}, {}, 2, "en")
    first = lab.desk.whole_turn("sort it", "alpha's answer").answer
    started = lab.routes.answer_with(first.conversation_id, first.message_id, "star-coder").result(PATIENCE_S)
    lab.desk.engine.say("the coder's answer", number=1, end=FinishReason.STOP)
    message = lab.desk.log.ended(started.answer.message_id).message
    assert message.parent_id == first.parent_id
    assert message.route is not None
    assert (message.route.expert, message.route.reason) == ("star-coder", RouteReason.PICKED)
    (kept,) = lab.learning.corrections()
    assert (kept.kind, kept.expert, kept.task) == (CorrectionKind.ANSWER_WITH, "star-coder", "code")


def test_calibration_is_better_on_corrections_it_did_not_see_and_can_be_undone(lab: Learning) -> None:
    for k in range(12):
        lab.wrong(f"where should we eat {k}", "advise")
    done = lab.learning.calibrate()
    assert (done.report.n, done.report.right_before, done.report.right_after) == (12, 0.0, 1.0)
    learned = read_learned(lab.desk.paths.router_learned)
    assert learned.offsets["advise"] > 0 > learned.offsets["knowledge"]
    assert lab.desk.router.n_restarts == 1
    lab.learning.undo()
    assert not read_learned(lab.desk.paths.router_learned).offsets
    lab.learning.undo()
    assert read_learned(lab.desk.paths.router_learned) == learned, "an undo can be undone"


def test_with_too_few_corrections_nothing_is_fitted_and_there_is_nothing_to_undo(lab: Learning) -> None:
    lab.wrong("where should we eat", "advise")
    lab.wrong("and this?", None)
    with pytest.raises(LayaDeskError) as caught:
        lab.learning.calibrate()
    assert (caught.value.code, caught.value.facts["n"]) == (ErrorCode.TOO_FEW_CORRECTIONS, 1)
    with pytest.raises(LayaDeskError) as caught:
        lab.learning.undo()
    assert caught.value.code is ErrorCode.NOTHING_TO_UNDO


def test_a_fit_that_helps_nothing_is_not_put_in_use(lab: Learning) -> None:
    for k in range(10):
        lab.wrong(f"contradicting {k}", TASKS[k % 5])
    done = lab.learning.calibrate()
    if done.report.loss_after >= done.report.loss_before:
        assert not read_learned(lab.desk.paths.router_learned).offsets


def test_answers_that_were_cut_off_looped_or_not_wanted_are_evidence_without_any_text(lab: Learning) -> None:
    desk = lab.desk
    cut = desk.ask("a long one")
    desk.engine.say("never ending", number=0, end=FinishReason.LENGTH)
    desk.log.ended(cut.answer.message_id)
    looped = desk.whole_turn("another", "again and again " * 60).answer
    again = lab.routes.answer_again(looped.conversation_id, looped.message_id).result(PATIENCE_S)
    desk.engine.say("better", number=2, end=FinishReason.STOP)
    desk.log.ended(again.answer.message_id)
    kept = lab.learning.corrections()
    assert [one.kind for one in kept] == [
        CorrectionKind.CUT_OFF, CorrectionKind.LOOPING, CorrectionKind.REGENERATED,
    ]  # fmt: skip
    assert {one.text for one in kept} == {""}
    assert {one.task_was for one in kept} == {"knowledge"}


def test_corrections_are_exported_in_layas_format(lab: Learning, tmp_path: Path) -> None:
    lab.wrong("where should we eat", "advise")
    lab.wrong("nobody said what it was", None)
    assert lab.learning.export(tmp_path / "out.jsonl") == 1
    (row,) = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert (row["state"]["request"], row["expected"]) == ("where should we eat", {"task": "explain"})
    assert row["expected"]["task"] in row["questions"]["task"]["criteria"]


def test_foreign_ids_and_tasks_are_refused(lab: Learning) -> None:
    answer = lab.desk.whole_turn("hello", "hi").answer
    with pytest.raises(LayaDeskError) as caught:
        lab.routes.wrong(answer.conversation_id, "nobody").result(PATIENCE_S)
    assert caught.value.code is ErrorCode.UNKNOWN_CONVERSATION
    with pytest.raises(LayaDeskError) as caught:
        lab.routes.wrong(answer.conversation_id, answer.message_id, task="cooking")
    assert caught.value.code is ErrorCode.BAD_PARAMETER


@pytest.mark.logs_warnings
def test_a_damaged_line_costs_only_itself_and_all_can_be_forgotten(lab: Learning) -> None:
    lab.wrong("first", "advise")
    with lab.desk.paths.corrections.open("ab") as file:
        file.write(b'{"at": 1, "kind"\n\xff\xfe\n')
    lab.wrong("second", "advise")
    assert [one.text for one in lab.learning.corrections()] == ["first", "second"]
    lab.learning.forget()
    assert not lab.learning.corrections()


def test_the_kept_routes_are_summed_up(lab: Learning) -> None:
    lab.wrong("hello there", "chat")
    found = lab.routes.statistics().result(PATIENCE_S)
    assert (found.n, found.n_corrections, found.expert_share) == (1, 1, {"alpha": 1.0})


def test_a_fitted_threshold_comes_before_that_of_the_settings(lab: Learning) -> None:
    lab.files.write({"format": 1, "confidence": 0.75})
    assert lab.files.confidence() == 0.75
    lab.files.write({"format": 1, "confidence": "high"})
    assert lab.files.confidence() is None
