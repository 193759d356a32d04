"""What an eye would find: text that is cut, parts that lie on each other."""

import re
from collections.abc import Collection

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QGraphicsView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTableView,
    QTextEdit,
    QWidget,
)

from layadesk.ui.widgets.figure_text import FigureText
from tests.ui.pseudo import MARK

SLACK_PX = 1
Controls = (
    QAbstractButton
    | QAbstractItemView
    | QAbstractSpinBox
    | QComboBox
    | QGraphicsView
    | QLineEdit
    | QPlainTextEdit
    | QTextEdit
)
Texts = QLabel | QAbstractButton | FigureText


def cut_texts(window: QWidget) -> list[str]:
    """Labels and buttons on screen that have less room than their text needs. Elided labels say so by a tool tip."""
    found = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, Texts) or not widget.text():
            continue
        needed = widget.sizeHint()
        if widget.hasHeightForWidth():
            is_cut = widget.height() + SLACK_PX < widget.heightForWidth(widget.width())
        else:
            is_cut = widget.width() + SLACK_PX < needed.width() or widget.height() + SLACK_PX < needed.height()
        if is_cut:
            found.append(f"{type(widget).__name__} “{widget.text()}” has {widget.size()}, needs {needed}")
    return found


def overlaps(window: QWidget) -> list[str]:
    """Pairs of buttons and labels on screen that lie on each other. What floats over the page is left out."""
    parts = [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible() and isinstance(widget, Texts) and widget.objectName() not in FLOATING
    ]
    places = [(part, QRect(part.mapTo(window, QPoint(0, 0)), part.size())) for part in parts]
    return [
        f"{_named(one)} and {_named(other)}"
        for index, (one, place) in enumerate(places)
        for other, other_place in places[index + 1 :]
        if place.intersects(other_place) and _clipped_alike(one, other)
    ]


FLOATING = {"to-end", "toast-button", "qt_toolbar_ext_button"}


def _clipped_alike(one: QWidget, other: QWidget) -> bool:
    """Of two parts in different scroll areas one may be scrolled out of sight below the other."""
    return one.parentWidget() is other.parentWidget()


def _named(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, Texts) else ""
    return f"{type(widget).__name__} “{text}” {widget.objectName()}"


def controls(window: QWidget) -> list[QWidget]:
    """What can be pressed, chosen or read on screen; not the inner parts of a control."""
    found = [one for one in window.findChildren(QWidget) if isinstance(one, Controls) and one.isVisible()]
    return [one for one in found if not _is_inner(one)]


def _is_inner(widget: QWidget) -> bool:
    is_picture = widget.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    return is_picture or isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox | QTableView)


def nameless(window: QWidget) -> list[str]:
    """Controls of which a screen reader could say nothing, or "[object Object]" (reported faults J15, J16)."""
    found = []
    for control in controls(window):
        name = QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name).strip()
        if not name or "object" in name:
            found.append(f"{named(control)} is called “{name}”")
    return found


def named(widget: QWidget) -> str:
    """For the message of a failed test."""
    return f"{type(widget).__name__} {widget.objectName()}"


def untranslated(window: QWidget, known: Collection[str]) -> list[str]:
    """Texts on screen, in the pseudo-language, without its mark: words that no translator will see.

    `known` are words of names, units and keys; a text made of these, of figures and of single letters is no language.
    """
    found = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, Texts) or MARK in widget.text():
            continue
        words = re.findall(r"[^\W\d_]{2,}", widget.text())
        if any(word not in known for word in words):
            found.append(f"{type(widget).__name__} “{widget.text()}” is not translated")
    return found
