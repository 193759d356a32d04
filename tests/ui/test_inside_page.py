"""The Inside page: nothing of MoE experts without them, the field and its cursor, tokens, time, ceiling, profile."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from layadesk.domain.chat import Message
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import LoadParams, Role, Timings
from layadesk.domain.memory_fit.bill import Basis, DeviceBill, MemoryBill
from layadesk.domain.memory_fit.moe_placement import MoePlacement
from layadesk.domain.memory_fit.plans import Plan, PlanKind
from layadesk.domain.memory_fit.speed import SpeedClass
from layadesk.domain.memory_fit.verdict import Judgement, Verdict
from layadesk.ui.inside.inside_page import InsidePage
from layadesk.ui.language import CHINESE, ENGLISH
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.ui.theme.palette import make_palette
from layadesk.ui.theme.tokens import DARK, LIGHT, Colours
from tests.fakes.inside import RECORD, SHAPE
from tests.ui.conftest import Stage
from tests.ui.hands import press
from tests.ui.looks import cut_texts

TIMINGS = Timings(
    queue_ms=1.0, prefill_ms=50.0, decode_ms=200.0, sample_ms=10.0, detokenize_ms=2.0, n_prompt=20, n_decoded=9
)
ANSWER = Message("m", "c", None, Role.ASSISTANT, "Hello there", 0.0, expert_id="moe", timings=TIMINGS)


def shown(stage: Stage, answer: Message | None = ANSWER) -> InsidePage:
    page = stage.window.inside_page
    stage.window.show_page(Destination.INSIDE)
    page.show_answer(answer)
    stage.settle()
    return page


def test_without_an_answer_and_without_moe_experts_there_is_one_sentence(stage: Stage) -> None:
    page = shown(stage, None)
    assert page.empty.isVisible()
    assert not page.watch.isVisible()
    assert not page.to_csv.isVisible()


def test_a_model_without_moe_experts_shows_its_time_and_nothing_of_them(stage: Stage) -> None:
    page = shown(stage)
    assert page.time.isVisible()
    assert not page.moe.isVisible()
    assert not page.hint.isVisible()
    assert not page.watch.isVisible()
    assert not stage.window.panel.inside.isVisible()


def test_the_time_is_told_by_part_with_what_is_unknown_as_unknown(stage: Stage) -> None:
    page = shown(stage)
    said = page.time.bar.text()
    assert "Writing 0.2 s" in said
    assert "Choosing tokens 10 ms" in said
    assert "Loading the expert n/a" in said
    assert "On screen n/a" in said
    assert "at best 100 tok/s" in page.time.ceiling.text()
    assert "40 %" in page.time.ceiling.text()


def test_an_unknown_bandwidth_is_told_and_no_share_of_it(stage: Stage) -> None:
    assert stage.house.time.ceiling is not None
    stage.house.time.ceiling = replace(stage.house.time.ceiling, bandwidths={})
    page = shown(stage)
    assert "n/a, so the best possible speed is not known" in page.time.ceiling.text()
    assert "%" not in page.time.ceiling.text()


def test_a_profile_comes_when_asked_for_and_a_refusal_is_told(stage: Stage) -> None:
    page = shown(stage)
    assert not page.time.profile_bar.isVisible()
    page.time.measure.click()
    stage.settle()
    assert "MoE experts 3.0 ms · 60 %" in page.time.profile_bar.text()
    assert "2.0 times as slow" in page.time.profile_note.text()
    stage.house.time.refusal = fail(ErrorCode.EXPERT_BUSY, expert="moe")
    page.time.measure.click()
    stage.settle()
    assert page.time.measure.isEnabled()
    assert "2.0 times as slow" not in page.time.profile_note.text()
    assert page.time.profile_note.text()


def test_watching_is_offered_for_a_model_with_moe_experts_and_switched(stage: Stage) -> None:
    stage.house.inside.in_memory = {"moe": SHAPE}
    page = shown(stage)
    assert page.hint.isVisible()
    page.watch.click()
    stage.settle()
    assert stage.house.inside.is_on
    stage.house.inside.watched()
    stage.settle()
    assert page.moe.isVisible()
    assert not page.hint.isVisible()
    assert stage.window.panel.inside.isVisibleTo(stage.window.panel)
    assert "5 %" in page.moe.cost.text()


def test_the_field_follows_period_phase_and_task(stage: Stage) -> None:
    stage.house.inside.watched()
    page = shown(stage)
    assert page.moe.map.share(0, 0) == pytest.approx(4 * 4 / 10)
    page.moe.phase.setCurrentIndex(2)
    assert page.moe.map.share(0, 0) == 1.0
    assert page.moe.map.share(1, 0) == 0.0
    assert page.moe.balance.rows()[1] == ("1", "2", "1.00", "0.500", "1, 2", "2")
    page.moe.phase.setCurrentIndex(0)
    page.moe.period.setCurrentIndex(1)
    stage.settle()
    assert page.moe.record == RECORD + RECORD + RECORD
    page.moe.period.setCurrentIndex(2)
    stage.settle()
    assert page.moe.record == RECORD + RECORD
    page.moe.task.setCurrentIndex(1)
    assert page.moe.task.currentText() == "code"
    assert page.moe.record == RECORD


def test_a_token_tells_its_moe_experts_in_the_layer_of_the_cursor(stage: Stage) -> None:
    stage.house.inside.watched()
    page = shown(stage)
    page.moe.ribbon.choose(1)
    assert "in layer 0: MoE experts 2, 3" in page.moe.token.text()
    press(page.moe.map, Qt.Key.Key_Down)
    assert "in layer 1: MoE experts 2, 1" in page.moe.token.text()
    press(page.moe.map, Qt.Key.Key_Right)
    assert page.moe.map.cursor_cell == (1, 1)
    assert "Layer 1, MoE expert 1" in page.moe.map.accessibleDescription()
    press(page.moe.ribbon, Qt.Key.Key_Left)
    assert page.moe.ribbon.current == 0


def test_what_is_shown_can_be_taken_away(stage: Stage, tmp_path: Path) -> None:
    stage.house.inside.watched()
    page = shown(stage)
    csv, png = f"{tmp_path}/a.csv", f"{tmp_path}/a.png"
    page.export_csv(csv)
    page.export_png(png)
    stage.settle()
    assert [str(path) for path, _ in stage.house.inside.exported] == [csv]
    assert QImage(png).width() > 100


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_the_field_has_the_colours_of_the_theme(stage: Stage, colours: Colours) -> None:
    stage.house.inside.watched()
    page = shown(stage)
    before = QApplication.palette()
    QApplication.setPalette(make_palette(colours))
    image = page.moe.map.grab().toImage()
    shades = {image.pixelColor(x, image.height() // 4).name() for x in range(60, image.width() - 10, 7)}
    QApplication.setPalette(before)
    assert len(shades) > 1
    assert colours.background.lower() not in shades


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_nothing_is_cut_in_either_language(stage: Stage, language: str) -> None:
    stage.house.inside.watched()
    page = shown(stage)
    page.time.measure.click()
    stage.appearance.choose_language(language)
    stage.settle()
    found = cut_texts(page)
    stage.appearance.choose_language(ENGLISH)
    assert found == []


def test_hot_layers_are_offered_with_their_bill_and_taken_once(stage: Stage) -> None:
    devices = (DeviceBill("CUDA0", weights_bytes=3 * 2**30), DeviceBill("CPU", weights_bytes=2**30))
    bill = MemoryBill(devices, 5, 5, Basis.DRY_RUN)
    judgement = Judgement(Verdict.FITS, ())
    plan = Plan(PlanKind.HOT_MOE_ON_GPU, LoadParams(), bill, judgement, SpeedClass.FAST, 30.0, ("moe",))
    stage.house.time.placing.found = MoePlacement(plan, (1, 5), 2**29, 4.0)
    stage.house.inside.watched()
    page = shown(stage)
    assert page.place.isVisible()
    for words in ("layers 1, 5", "512 MiB", "3.0 GiB there", "4.0 ms faster"):
        assert words in page.place.said.text()
    page.place.load.click()
    assert stage.house.time.placing.taken == [("moe", plan)]
    assert not page.place.isVisible()
