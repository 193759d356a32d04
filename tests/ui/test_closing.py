"""Closing while an answer is written asks once; a long answer that is done is told to who looks elsewhere."""

from dataclasses import replace

import pytest

from layadesk.domain.chat import MessageStatus
from layadesk.ui.shell.closing import ENDING
from tests.ui.conftest import Stage


def test_closing_while_an_answer_is_written_asks_once(stage: Stage) -> None:
    stage.send("a long story")
    stage.window.close()
    box = stage.window.closing.box
    assert stage.window.isVisible()
    assert box is not None
    assert box.text() == "1 answer is still being written."
    stage.window.close()
    assert stage.window.closing.box is box
    next(button for button in box.buttons() if button.text() == "Stay").click()
    assert stage.window.isVisible()
    stage.window.close()
    box = stage.window.closing.box
    assert box is not None
    next(button for button in box.buttons() if button.text() == "Stop and close").click()
    assert not stage.window.isVisible()
    stage.house.finish(stage.house.running_id())


def test_nothing_is_asked_without_an_answer(stage: Stage) -> None:
    stage.window.close()
    assert not stage.window.isVisible()


def test_nothing_is_asked_at_the_end_of_the_session(stage: Stage) -> None:
    from PySide6.QtWidgets import QApplication

    answer_id = stage.send("a long story")
    app = QApplication.instance()
    assert app is not None
    app.setProperty(ENDING, True)
    stage.window.close()
    app.setProperty(ENDING, False)
    assert not stage.window.isVisible()
    stage.house.finish(answer_id)


@pytest.mark.parametrize(
    ("is_on", "took_s", "status", "told"),
    [
        (True, 30.0, MessageStatus.COMPLETE, ["The answer is complete."]),
        (True, 30.0, MessageStatus.FAILED, ["The answer has ended early."]),
        (True, 5.0, MessageStatus.COMPLETE, []),
        (False, 30.0, MessageStatus.COMPLETE, []),
    ],
)
def test_a_long_answer_is_told_where_that_is_wanted(
    stage: Stage, is_on: bool, took_s: float, status: MessageStatus, told: list[str]
) -> None:
    stage.open(stage.house.converse("a", "b"))
    answer = stage.window.page.transcript.branch[-1]
    stage.house.settings.set("ui.notice", is_on)
    notices = stage.window.notices
    notices._now = lambda: answer.created_at + took_s
    stage.window.isActiveWindow = lambda: False  # type: ignore[method-assign] # no other window can be had here
    stage.window.page.answer_ended.emit(replace(answer, status=status))
    assert notices.shown == told
    stage.house.settings.set("ui.notice", False)
