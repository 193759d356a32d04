"""What a hand does: keys and clicks, with types (pytest-qt's own have none)."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

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
