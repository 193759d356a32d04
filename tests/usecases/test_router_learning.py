"""The router is fitted to what was said about its routes; shown before and after, taken back, exported."""

import json
from pathlib import Path
from typing import cast

import pytest

from layadesk.domain.chat import Correction, Rating
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import FinishReason
from layadesk.domain.routing import RouterAnswer
from layadesk.domain.routing_labels import TASKS
from layadesk.router.learned_file import read_learned
from layadesk.usecases.count_routes import CountRoutes
from layadesk.usecases.router_learning import LearnedFiles, RouterLearning
from layadesk.workers.router_client import RouterClient
from tests.fakes.answering import PATIENCE_S, PlayedDesk

UNSURE = {**dict.fromkeys(TASKS, 0.0), "knowledge": 0.55, "advise": 0.45}
ANSWER = RouterAnswer("played", 0.1, UNSURE, {"general": 1.0}, 2, "en")


class Learning:
    """The real store and files over played workers."""

    def __init__(self, desk: PlayedDesk) -> None:
        desk.router.answer = ANSWER
        self.desk = desk
        self.files = LearnedFiles(desk.paths.router_learned)
        self.learning = RouterLearning(
            lambda: desk.store.judged_answers().result(PATIENCE_S),
            self.files,
            cast("RouterClient", desk.router),
            desk.pool,
        )

    def say(self, text: str, correction: Correction) -> None:
        """Ask, and judge the route of the answer."""
        answer = self.desk.whole_turn(text, "an answer").answer
        self.desk.store.save_correction(answer.message_id, correction).result(PATIENCE_S)

    def wrong(self, text: str, task: str | None) -> None:
        self.say(text, Correction(Rating.WRONG, task=task))


@pytest.fixture
def lab(desk: PlayedDesk) -> Learning:
    return Learning(desk)


def test_calibration_is_better_on_corrections_it_did_not_see_and_can_be_undone(lab: Learning) -> None:
    for k in range(12):
        lab.wrong(f"where should we eat {k}", "advise")
    done = lab.learning.calibrate()
    assert (done.report.n, done.report.right_before, done.report.right_after) == (12, 0.0, 1.0)
    assert done.raises == {"knowledge": 1.5}
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
        lab.wrong(f"what one half teaches is wrong for the other {k}", ("knowledge", "advise")[k % 2])
    done = lab.learning.calibrate()
    assert done.report.loss_after >= done.report.loss_before
    assert not read_learned(lab.desk.paths.router_learned).offsets


def test_the_expert_of_the_users_choice_tells_the_task(lab: Learning) -> None:
    lab.desk.install("star-coder")
    lab.desk.router.answer = RouterAnswer("played", 0.1, {**UNSURE, "knowledge": 0.4, "code": 0.15}, {}, 2, "en")
    answer = lab.desk.whole_turn("sort it", "alpha's answer").answer
    other = "star-coder" if lab.desk.engine.request(0).model_id == "alpha" else "alpha"
    lab.desk.result(lab.desk.regenerate(answer.conversation_id, answer.message_id, expert=other))
    lab.desk.engine.say("another", number=1, end=FinishReason.STOP)
    first, *_ = lab.desk.store.judged_answers().result(PATIENCE_S)
    assert (first.question, first.n_answers) == ("sort it", 2)
    assert first.correction == Correction(Rating.WRONG, other)


def test_corrections_are_exported_in_layas_format_with_the_message_before(lab: Learning, tmp_path: Path) -> None:
    first = lab.desk.whole_turn("we are in Lisbon", "nice").answer
    conversation = lab.desk.result(lab.desk.conversations.open(first.conversation_id)).conversation
    second = lab.desk.whole_turn("where should we eat", "there", conversation).answer
    lab.desk.store.save_correction(second.message_id, Correction(Rating.WRONG, task="advise")).result(PATIENCE_S)
    lab.wrong("nobody said what it was", None)
    assert lab.learning.export(tmp_path / "out.jsonl") == 1
    (row,) = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert row["state"] == {"request": "where should we eat", "previous": "we are in Lisbon"}
    assert row["expected"] == {"task": "explain"}
    assert row["expected"]["task"] in row["questions"]["task"]["criteria"]


def test_the_kept_routes_are_summed_up_with_what_was_said_about_them(lab: Learning) -> None:
    lab.wrong("hello there", "chat")
    lab.say("and another", Correction(Rating.GOOD))
    found = CountRoutes(lab.desk.store)().result(PATIENCE_S)
    assert (found.n_routes, found.n_wrong, found.n_good, found.experts) == (2, 1, 1, (("alpha", 2),))


def test_a_fitted_threshold_comes_before_that_of_the_settings(lab: Learning) -> None:
    lab.files.write({"confidence": 0.75})
    assert lab.files.confidence() == 0.75
    lab.files.write({"confidence": "high"})
    assert lab.files.confidence() is None
