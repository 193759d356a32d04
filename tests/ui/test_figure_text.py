"""Words that change several times a second: they take the room that they need and leave their neighbours alone."""

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.tokens import DARK, LIGHT
from layadesk.ui.widgets.figure_text import FigureText, unbroken
from tests.ui.conftest import Stage
from tests.ui.test_timeline import colours_in


class LayoutCount(QObject):
    """How often a widget was asked to lay its children out anew."""

    n = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        self.n += event.type() == QEvent.Type.LayoutRequest
        return False


@pytest.fixture
def column(qtbot: QtBot) -> QWidget:
    column = QWidget()
    QVBoxLayout(column)
    qtbot.addWidget(column)
    column.resize(220, 200)
    return column


def placed(column: QWidget, *, wraps: bool = True) -> FigureText:
    text = FigureText(small_font(), wraps=wraps)
    layout = column.layout()
    assert layout is not None
    layout.addWidget(text)
    return text


@pytest.mark.parametrize("wraps", [True, False])
def test_other_figures_in_the_same_room_lay_nothing_out_anew(column: QWidget, qtbot: QtBot, *, wraps: bool) -> None:
    text = placed(column, wraps=wraps)
    text.set_text("GPU 97 % · 312 / 450 W")
    column.show()
    qtbot.wait(20)
    count = LayoutCount()
    column.installEventFilter(count)
    before = column.grab().toImage()
    text.set_text("GPU 41 % · 208 / 450 W")
    qtbot.wait(20)
    assert count.n == 0
    assert column.grab().toImage() != before
    text.set_text("GPU 41 % · 208 / 450 W · memory busy 88 % · slowed by the hardware")
    qtbot.wait(20)
    assert count.n == 1


def test_it_is_as_high_as_its_lines_and_no_word_is_cut(column: QWidget, qtbot: QtBot) -> None:
    text = placed(column)
    column.show()
    text.set_text("ours 1.0")
    qtbot.wait(20)
    one_line = text.heightForWidth(text.width())
    text.set_text("n/a, because the driver was updated and the computer has not been started again since")
    qtbot.wait(20)
    assert text.heightForWidth(text.width()) > one_line
    assert text.height() >= text.heightForWidth(text.width())
    assert text.heightForWidth(60) > text.heightForWidth(200)


def test_it_takes_the_room_that_a_label_takes(column: QWidget) -> None:
    words = "ours 16.0  others 2.0  free 6.0 GiB  weights in RAM 11.2 / 14.0 GiB"
    text, label = placed(column), QLabel(words)
    text.set_text(words)
    label.setFont(small_font())
    label.setWordWrap(True)
    for width in (90, 140, 200, 400):
        assert abs(text.heightForWidth(width) - label.heightForWidth(width)) <= 1


@pytest.mark.parametrize("item", ["ours 16.0 GiB", "312 / 450 W", "内存 我们的 12 %", "读取 0.0 tok/s（最高 119）"])
def test_what_belongs_together_stays_on_one_line(qtbot: QtBot, item: str) -> None:
    alone, after_another = FigureText(small_font()), FigureText(small_font())
    alone.set_pieces(((unbroken(item), ""),))
    after_another.set_pieces((("one", ""), (" ", ""), (unbroken(item), "")))
    assert after_another.text() == f"one {item}"
    width = alone.fontMetrics().horizontalAdvance(item) + 6  # all of it has room, but not beside the other
    line = alone.fontMetrics().height()
    for text, n_lines in ((alone, 1), (after_another, 2)):
        qtbot.addWidget(text)
        text.resize(width, text.heightForWidth(width))
        assert text.height() < (n_lines + 0.9) * line
    first, second = alone.grab().toImage(), after_another.grab().toImage()
    assert second.copy(0, second.height() - first.height(), width, first.height()) == first


def test_its_words_are_its_name_for_those_who_do_not_see(column: QWidget) -> None:
    text = placed(column)
    text.set_pieces((("■", "accent"), (" ours 1.0", "")))
    interface = QAccessible.queryAccessibleInterface(text)
    assert interface.text(QAccessible.Text.Name) == "■ ours 1.0" == text.text()


def test_the_colours_of_its_pieces_follow_the_theme(stage: Stage) -> None:
    text = FigureText(small_font())
    stage.qtbot.addWidget(text)
    text.set_pieces((("■■■", "accent"), (" ours 1.0", "")))
    text.resize(120, 20)
    text.show()
    for choice, wanted, other in (("dark", DARK, LIGHT), ("light", LIGHT, DARK)):
        stage.house.settings.set("ui.theme", choice)
        stage.appearance.apply()
        found = colours_in(text)
        assert wanted.accent.lower() in found
        assert other.accent.lower() not in found
