"""What a hand does: keys and clicks, with types (pytest-qt's own have none)."""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

NO_MODIFIER = Qt.KeyboardModifier.NoModifier


def press(widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier = NO_MODIFIER) -> None:
    """Press and release one key."""
    QTest.keyClick(widget, key, modifiers)


def type_text(widget: QWidget, text: str) -> None:
    """Press the keys of `text`."""
    QTest.keyClicks(widget, text)


def click(widget: QWidget) -> None:
    """Click into the middle."""
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def double_click(widget: QWidget, place: QPoint) -> None:
    """As one opens a field in a list: the second click of a pair counts."""
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, NO_MODIFIER, place)
    QTest.mouseDClick(widget, Qt.MouseButton.LeftButton, NO_MODIFIER, place)


def turn_wheel(widget: QWidget) -> None:
    """One notch away from the hand, over the middle; what the widget does not take goes to those around it."""
    place = QPointF(widget.rect().center())
    turned = QWheelEvent(
        place,
        QPointF(widget.mapToGlobal(place)),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        NO_MODIFIER,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, turned)
