"""Going from page to page, by mouse and by keys, and the page that says what is wrong."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from layadesk.domain.diagnosis import Diagnosis, Symptom
from layadesk.domain.errors import ErrorCode, fail
from layadesk.ui.health.health_page import HealthPage
from layadesk.ui.shell.navigation_rail import Destination, NavigationRail
from layadesk.ui.texts.diagnoses import diagnosis_remedy, diagnosis_words
from layadesk.usecases.check_installation import Check, Finding, Level
from tests.fakes.examples import DIAGNOSES
from tests.ui.conftest import Stage
from tests.ui.hands import press
from tests.ui.looks import cut_texts, overlaps


def button(stage: Stage, destination: Destination) -> QToolButton:
    found = stage.window.findChild(QToolButton, f"go-{destination}")
    assert isinstance(found, QToolButton)
    return found


def health(stage: Stage) -> HealthPage:
    page = stage.window.findChild(HealthPage)
    assert isinstance(page, HealthPage)
    return page


def shown(stage: Stage) -> str:
    return stage.window.pages.current.value


def test_the_window_begins_with_the_chat(stage: Stage) -> None:
    assert shown(stage) == Destination.CHAT
    assert button(stage, Destination.CHAT).isChecked()


def test_only_pages_that_are_there_are_offered_in_the_order_of_the_design(qtbot: QtBot) -> None:
    rail = NavigationRail()
    qtbot.addWidget(rail)
    for destination in (Destination.SETTINGS, Destination.CHAT, Destination.HEALTH):
        rail.offer(destination)
    assert rail.destinations() == (Destination.CHAT, Destination.HEALTH, Destination.SETTINGS)
    assert [one.toolTip() for one in rail.focus_chain()] == [
        "Chat (Ctrl+1)",
        "Health (Ctrl+2)",
        "Settings (Ctrl+3)",
    ]


def test_a_click_and_a_key_go_to_a_page_and_mark_it(stage: Stage) -> None:
    button(stage, Destination.HEALTH).click()
    assert shown(stage) == Destination.HEALTH
    assert button(stage, Destination.HEALTH).isChecked()
    press(stage.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert shown(stage) == Destination.CHAT
    assert button(stage, Destination.CHAT).isChecked()
    press(stage.window, Qt.Key.Key_9, Qt.KeyboardModifier.ControlModifier)
    assert shown(stage) == Destination.CHAT


def test_whatever_is_said_or_chosen_leads_back_to_the_chat(stage: Stage) -> None:
    conversation_id = stage.house.converse("Hello", "Good day.")
    stage.open(conversation_id)
    stage.window.show_page(Destination.HEALTH)
    row = stage.window.list.model.index_of(conversation_id)
    place = stage.window.list.view.visualRect(row).center()
    QTest.mouseClick(stage.window.list.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shown(stage) == Destination.CHAT  # the conversation was marked already
    stage.window.show_page(Destination.HEALTH)
    stage.window.list.new_button.click()
    assert shown(stage) == Destination.CHAT
    stage.window.show_page(Destination.HEALTH)
    press(stage.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert shown(stage) == Destination.CHAT
    assert QApplication.focusWidget() is stage.window.page.composer.text_box


def test_the_panel_can_be_folded_on_every_page(stage: Stage) -> None:
    stage.window.show_page(Destination.HEALTH)
    QApplication.processEvents()
    assert stage.window.panel_button.isVisible()
    stage.window.panel_button.click()
    assert stage.window.panel.isHidden()


def test_the_tab_key_goes_through_the_page_that_is_shown(stage: Stage) -> None:
    stage.window.show_page(Destination.HEALTH)
    stage.settle()
    start = button(stage, Destination.CHAT)
    start.setFocus()
    names: list[str] = []
    focus = QApplication.focusWidget()
    while focus is not None and focus.objectName() not in names and len(names) < 30:
        names.append(focus.objectName())
        press(focus, Qt.Key.Key_Tab)
        focus = QApplication.focusWidget()
    assert focus is start
    assert names.index("go-chat") < names.index("new-chat") < names.index("check-again") < names.index("panel-toggle")
    assert "composer-text" not in names


def test_what_stands_in_the_way_comes_first_and_is_counted(stage: Stage) -> None:
    stage.house.diagnose.findings = (
        Finding(Check.STARTER, Level.OK, {"path": "/x"}),
        Finding(Check.DISK, Level.WARN, {"free_bytes": 2**30}),
        Finding(Check.ENGINE, Level.FAIL, {"exit": "killed", "detail": "SIGKILL", "state": "given_up"}),
    )
    stage.window.show_page(Destination.HEALTH)
    stage.settle()
    page = health(stage)
    assert page.summary() == "1 thing stands in the way of an answer."
    found = [row.finding for row in page.rows()]
    assert [one.check for one in found if isinstance(one, Finding)] == [Check.ENGINE, Check.DISK, Check.STARTER]
    assert page.rows()[1].text() == (
        "could be better Only 1.0 GiB are free on the disk of the data folder. "
        "Free some space: a model takes several GiB."
    )
    assert cut_texts(stage.window) == []
    assert overlaps(stage.window) == []


def test_the_checks_run_when_the_page_is_shown_and_when_asked_for(stage: Stage) -> None:
    assert stage.house.diagnose.n_checks == 0
    stage.window.show_page(Destination.HEALTH)
    stage.settle()
    page = health(stage)
    assert page.summary() == "Everything is as it should be."
    page.again.click()
    stage.settle()
    assert stage.house.diagnose.n_checks == 2
    assert len(page.rows()) == 1


def test_checks_that_fail_are_told_and_can_be_tried_again(stage: Stage) -> None:
    stage.house.diagnose.error = fail(ErrorCode.ENGINE_DIED, kind="killed", detail="SIGKILL")
    stage.window.show_page(Destination.HEALTH)
    stage.settle()
    page = health(stage)
    assert "engine" in page.summary()
    stage.house.diagnose.error = None
    page.again.click()
    stage.settle()
    assert page.summary() == "Everything is as it should be."


def test_findings_are_said_in_the_language_of_the_window(stage: Stage) -> None:
    stage.window.show_page(Destination.HEALTH)
    stage.settle()
    stage.appearance.choose_language("zh_CN")
    stage.settle()
    assert health(stage).summary() == "一切正常。"
    assert health(stage).rows()[0].text().startswith("良好")
    stage.appearance.choose_language("en")


def test_what_was_noticed_stands_with_the_checks_and_serious_things_come_first(stage: Stage) -> None:
    stage.house.diagnose.diagnoses = DIAGNOSES
    stage.window.show_page(Destination.HEALTH)
    stage.settle()
    page = health(stage)
    assert page.summary() == "1 thing stands in the way of an answer."
    texts = [row.text() for row in page.rows()]
    assert texts[0] == (
        "in the way The graphics driver was updated while the machine was running. Restart the machine."
    )
    assert "The largest expert takes 9.0 GiB of 16.0 GiB of RAM, and there is little swap (0.0 GiB)." in texts[1]
    assert texts[2] == "good smol writes 50 tokens/s, 50 % of the 100 that memory allows."


def test_the_report_is_copied_and_that_is_said(stage: Stage) -> None:
    stage.window.show_page(Destination.HEALTH)
    stage.settle()
    page = health(stage)
    page.copy.click()
    stage.settle()
    assert QApplication.clipboard().text() == "the report of 1 finding"
    assert page.copy.text() == "Copied"
    page.again.click()
    stage.settle()
    assert page.copy.text() == "Copy report"


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("symptom", list(Symptom))
def test_every_symptom_has_words_and_a_remedy(stage: Stage, symptom: Symptom, language: str) -> None:
    stage.appearance.choose_language(language)
    diagnosis = Diagnosis(symptom)
    texts = [diagnosis_words(diagnosis), diagnosis_remedy(diagnosis)]
    stage.appearance.choose_language("en")
    for text in texts:
        assert len(text) > 5
        assert "{" not in text
        assert text.isascii() == (language == "en")
