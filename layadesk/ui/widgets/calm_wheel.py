"""The wheel scrolls the page and does not change a value that happens to lie below it."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget


def leave_wheel_to_page(editor: QWidget) -> None:
    """For fields of numbers and choices in a page that scrolls: the wheel is theirs while they have the focus."""
    editor.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the wheel alone gives none
    editor.installEventFilter(_CalmWheel(editor))


class _CalmWheel(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()  # then the widget below gets it
            return True
        return False
