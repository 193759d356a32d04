"""Model files and folders that are dragged onto the window, anywhere on it."""

from PySide6.QtCore import QEvent, QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from layadesk.ui.theme.fonts import title_font
from layadesk.ui.theme.tokens import GAP_XL
from layadesk.ui.widgets.roles import set_role


class FileDrop(QObject):
    """Says what will happen while something is held over the window. Other files belong to the field of the message.

    Signals:
        dropped: paths of files and folders.
    """

    dropped = Signal(list)

    def __init__(self, window: QWidget, covered: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._covered = covered
        self.hint = _DropHint(covered)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event:
            case QDragEnterEvent():
                if _paths(event.mimeData().urls()):
                    self.hint.cover(self._covered)
                    event.acceptProposedAction()
                    return True
            case QDropEvent() if event.type() == QEvent.Type.Drop:
                self.hint.hide()
                paths = _paths(event.mimeData().urls())
                event.acceptProposedAction()
                self.dropped.emit(paths)
                return True
            case _ if event.type() == QEvent.Type.DragLeave:
                self.hint.hide()
        return super().eventFilter(watched, event)


class _DropHint(QFrame):
    """Lies over the pages and lets the drag through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        set_role(self, "drop")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAcceptDrops(False)
        self._label = QLabel()
        self._label.setFont(title_font())
        self._label.setWordWrap(True)
        self._label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_XL, GAP_XL, GAP_XL, GAP_XL)
        layout.addWidget(self._label)
        self.hide()

    def cover(self, place: QWidget) -> None:
        """Show it over all of `place`."""
        self._label.setText(self.tr("Drop model files (GGUF) or a folder here. They stay where they are."))
        self.setGeometry(place.rect())
        self.show()
        self.raise_()


def _paths(urls: list[QUrl]) -> list[str]:
    return [url.toLocalFile() for url in urls if url.isLocalFile()]
