"""What an eye would find: text that is cut, parts that lie on each other."""

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from layadesk.ui.widgets.figure_text import FigureText

SLACK_PX = 1
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
