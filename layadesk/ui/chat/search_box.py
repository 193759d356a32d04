"""The field above the list: what is typed is looked for in everything that was said."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from layadesk.ui.widgets.roles import set_role

WAIT_MS = 150


class SearchBox(QLineEdit):
    """Signals:
    asked: what to look for, a moment after the last key; "" is nothing.
    left: the user goes down to the finds.
    """

    asked = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("search")
        set_role(self, "search")
        self.setMaxLength(200)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self._on_time_up)
        self.textChanged.connect(self._on_text_changed)
        self.installEventFilter(self)
        self._retranslate()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() == QEvent.Type.ShortcutOverride and self.text():
            event.accept()  # or the window would take it as Stop
            return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and watched is self:
            if event.key() == Qt.Key.Key_Escape and self.text():
                self.clear()
                return True
            if event.key() in {Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.text().strip():
                self.left.emit()
                return True
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        self.setPlaceholderText(self.tr("Search…"))
        self.setAccessibleName(self.tr("Search all conversations"))
        self.setToolTip(self.tr("Search all conversations") + " (Ctrl+F)")

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        if text.strip():
            self._timer.start()
        else:
            self._timer.stop()
            self.asked.emit("")

    @Slot()
    def _on_time_up(self) -> None:
        self.asked.emit(self.text().strip())
