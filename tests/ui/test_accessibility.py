"""Names for those who do not see, a path for those without a mouse (reported faults J15, J16, J17)."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QGraphicsView,
    QWidget,
)

from layadesk.domain.chat import MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.hardware import GpuSample, HardwareSample
from layadesk.domain.storage import StorageKind, StorageStatus
from layadesk.domain.worker_state import ExitKind, WorkerExit, WorkerKind, WorkerState, WorkerStatus
from layadesk.ui.chat.question_view import QuestionView
from tests.ui.conftest import Stage
from tests.ui.hands import press
from tests.ui.looks import controls, named, nameless


def busy_window(stage: Stage) -> QWidget:
    """The window with everything in it that it can show."""
    stage.house.converse("old", "older", age_s=90_000)
    answer_id = stage.send("Hello")
    stage.house.prompt(answer_id, n_dropped=2)
    stage.house.say(answer_id, "half")
    stage.house.finish(answer_id, MessageStatus.FAILED, ErrorReport(ErrorCode.DECODE_FAILED))
    stage.settle()
    stage.answer(answer_id).again_button.click()
    stage.qtbot.waitUntil(lambda: bool(stage.house.books.running))
    stage.house.finish(stage.house.running_id())
    stage.settle()
    ended = WorkerExit(ExitKind.KILLED, "SIGKILL", ("a line",))
    for status in (
        WorkerStatus(WorkerKind.ENGINE, WorkerState.GIVEN_UP, ended),
        WorkerStatus(WorkerKind.ROUTER, WorkerState.WAITING, ended, retry_in_s=1.0),
    ):
        stage.house.workers.feed.publish(status)
    stage.house.storage.feed.publish(StorageStatus(StorageKind.MEMORY_ONLY, ErrorReport(ErrorCode.DISK_FULL), 2))
    gpu = GpuSample("g", "GPU", 2**34, 2**33, 2**32)
    stage.house.resources.feed.publish(HardwareSample(1.0, 2**36, 2**35, 2**30, 2**28, 2**33, 0, gpus=(gpu,)))
    stage.settle()
    question = stage.window.page.transcript.shown_views()[0]
    assert isinstance(question, QuestionView)
    question.begin_edit()
    stage.window.toast.show_message("Gone.", "Undo", undo=lambda: None)
    stage.settle()
    return stage.window


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_control_has_a_name(stage: Stage, language: str) -> None:
    window = busy_window(stage)
    stage.appearance.choose_language(language)
    stage.settle()
    assert len(controls(window)) > 20
    assert nameless(window) == []
    stage.appearance.choose_language("en")


def test_the_names_are_in_the_language_of_the_window(stage: Stage) -> None:
    window = busy_window(stage)
    stage.appearance.choose_language("zh_CN")
    stage.settle()
    english = [
        f"{named(control)}: {control.accessibleName()}"
        for control in controls(window)
        if control.accessibleName().isascii() and control.objectName() != "toast-button"
    ]
    stage.appearance.choose_language("en")
    assert english == []


def test_tab_reaches_every_control_and_comes_back(stage: Stage) -> None:
    window = busy_window(stage)
    wanted = {c for c in controls(window) if c.isEnabled() and not isinstance(c, QGraphicsView)}
    wanted -= set(stage.window.page.transcript.findChildren(QAbstractItemView))
    start = stage.window.list.new_button
    start.setFocus()
    reached: list[QWidget] = []
    focus: QWidget | None = start
    for _ in range(200):
        assert focus is not None
        reached.append(focus)
        press(focus, Qt.Key.Key_Tab)
        focus = QApplication.focusWidget()
        if focus is start:
            break
    assert focus is start, "Tab does not come back to where it began"
    assert sorted(named(c) for c in wanted - set(reached)) == []


def test_the_focus_goes_from_left_to_right(stage: Stage) -> None:
    stage.open(stage.house.converse("Hello", "Good day."))
    start = stage.window.list.new_button
    start.setFocus()
    names: list[str] = []
    focus: QWidget | None = start
    for _ in range(60):
        assert focus is not None
        names.append(focus.objectName())
        press(focus, Qt.Key.Key_Tab)
        focus = QApplication.focusWidget()
        if focus is start:
            break
    order = [
        "new-chat",
        "conversations",
        "options",
        "expert-picker",
        "panel-toggle",
        "edit",
        "regenerate",
        "composer-text",
    ]
    assert [name for name in names if name in order] == order


def test_a_finished_answer_is_announced_to_a_screen_reader(stage: Stage) -> None:
    said: list[str] = []
    stage.window.page.announced.connect(said.append)
    answer_id = stage.send("Hello")
    stage.house.say(answer_id, "Good day.")
    stage.house.finish(answer_id)
    stage.settle()
    assert said == ["The answer is complete."]
    answer_id = stage.send("And now?")
    stage.house.finish(answer_id, MessageStatus.FAILED, ErrorReport(ErrorCode.OUT_OF_MEMORY))
    stage.settle()
    assert said[1:] == ["This answer could not be completed."]
