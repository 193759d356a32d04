"""Writing a message: keys, input methods, growth, Send and Stop."""

import pytest
from PySide6.QtCore import QCoreApplication, QMimeData, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from layadesk.ui.chat.composer import Composer
from layadesk.ui.widgets.text_box import MAX_LINES, TextBox
from tests.ui.hands import click, press, type_text


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    composer = Composer()
    composer.resize(700, 120)
    qtbot.addWidget(composer)
    composer.show()
    qtbot.waitExposed(composer)
    composer.focus_text()
    return composer


def preedit(box: TextBox, text: str, commit: str = "") -> None:
    """What an input method sends while a word is being composed."""
    event = QInputMethodEvent(text, [])
    event.setCommitString(commit)
    QCoreApplication.sendEvent(box, event)


def sent_by(composer: Composer) -> list[str]:
    sent: list[str] = []
    composer.submitted.connect(sent.append)
    return sent


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_sends_and_empties_the_field(composer: Composer, qtbot: QtBot, key: Qt.Key) -> None:
    sent = sent_by(composer)
    type_text(composer.text_box, "Hello")
    press(composer.text_box, key)
    assert sent == ["Hello"]
    assert composer.text() == ""


def test_shift_enter_breaks_the_line(composer: Composer, qtbot: QtBot) -> None:
    sent = sent_by(composer)
    type_text(composer.text_box, "one")
    press(composer.text_box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    type_text(composer.text_box, "two")
    assert sent == []
    assert composer.text() in {"one\ntwo", "one\u2028two"}


def test_enter_with_an_unfinished_word_of_an_input_method_only_commits_it(composer: Composer, qtbot: QtBot) -> None:
    """Reported faults J04, J06."""
    sent = sent_by(composer)
    preedit(composer.text_box, "nihao")
    press(composer.text_box, Qt.Key.Key_Return)
    assert sent == []
    preedit(composer.text_box, "", commit="你好")
    assert composer.text() == "你好"
    assert sent == []
    press(composer.text_box, Qt.Key.Key_Return)
    assert sent == ["你好"]


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_is_not_sent(composer: Composer, qtbot: QtBot, text: str) -> None:
    sent = sent_by(composer)
    composer.set_text(text)
    press(composer.text_box, Qt.Key.Key_Return)
    assert sent == []
    assert not composer.button.isEnabled()


def test_the_field_grows_to_eight_lines_and_then_scrolls(composer: Composer) -> None:
    heights = []
    for n in (1, 2, MAX_LINES, MAX_LINES + 1, 100):
        composer.set_text("\n".join("x" * n))
        QApplication.processEvents()
        heights.append(composer.text_box.height())
    one, two, eight, nine, hundred = heights
    assert one < two < eight
    assert eight == nine == hundred
    assert composer.text_box.verticalScrollBar().maximum() > 0


def test_a_long_line_grows_the_field_as_well(composer: Composer) -> None:
    before = composer.text_box.height()
    composer.set_text("word " * 100)
    QApplication.processEvents()
    assert composer.text_box.height() > before


def test_stop_stands_in_the_place_of_send_while_an_answer_runs(composer: Composer, qtbot: QtBot) -> None:
    stopped: list[bool] = []
    composer.stop_requested.connect(lambda: stopped.append(True))
    composer.set_text("the next question")
    assert composer.button.accessibleName() == "Send"
    composer.set_running(True)
    assert composer.button.accessibleName() == "Stop"
    click(composer.button)
    assert stopped == [True]
    assert composer.text() == "the next question"
    composer.set_running(False)
    assert composer.button.accessibleName() == "Send"


def test_enter_sends_nothing_while_an_answer_runs_and_keeps_what_is_written(composer: Composer, qtbot: QtBot) -> None:
    sent = sent_by(composer)
    composer.set_running(True)
    composer.set_text("too early")
    press(composer.text_box, Qt.Key.Key_Return)
    assert sent == []
    assert composer.text() == "too early"


def test_escape_stops_and_only_then(composer: Composer, qtbot: QtBot) -> None:
    stopped: list[bool] = []
    composer.stop_requested.connect(lambda: stopped.append(True))
    press(composer.text_box, Qt.Key.Key_Escape)
    assert stopped == []
    composer.set_running(True)
    press(composer.text_box, Qt.Key.Key_Escape)
    assert stopped == [True]


def test_what_is_pasted_is_plain_text(composer: Composer) -> None:
    clip = QMimeData()
    clip.setHtml("<b>bold</b><img src='file:///etc/passwd'>")
    clip.setText("bold")
    composer.text_box.insertFromMimeData(clip)
    assert composer.text() == "bold"
    assert "font-weight:700" not in composer.text_box.toHtml()
    picture = QMimeData()
    picture.setData("image/png", b"\x89PNG")
    assert not composer.text_box.canInsertFromMimeData(picture)


def test_without_an_expert_nothing_can_be_sent(composer: Composer, qtbot: QtBot) -> None:
    sent = sent_by(composer)
    composer.set_can_send(False)
    composer.set_text("Hello")
    press(composer.text_box, Qt.Key.Key_Return)
    assert sent == []
    assert not composer.button.isEnabled()
    assert composer.text() == "Hello"
