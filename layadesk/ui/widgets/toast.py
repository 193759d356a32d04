"""A short message at the lower edge of the window, with one way back. It never takes the focus."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XL
from layadesk.ui.widgets.roles import set_role

SHOWN_MS = 8000


class Toast(QFrame):
    """One for the window; a new message replaces the old one. It stays while the pointer or the focus is on it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._page = parent
        self.setObjectName("toast")
        set_role(self, "toast")
        self._undo: Callable[[], None] | None = None
        self._label = QLabel()
        self.button = QPushButton()
        self.button.setObjectName("toast-button")
        self.button.clicked.connect(self._on_button)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_S, GAP_S, GAP_S)
        layout.setSpacing(GAP_M)
        layout.addWidget(self._label)
        layout.addWidget(self.button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SHOWN_MS)
        self._timer.timeout.connect(self._on_time_up)
        parent.installEventFilter(self)
        self.hide()

    def show_message(self, text: str, button: str = "", *, undo: Callable[[], None] | None = None) -> None:
        """Show `text` for a while; `button` calls `undo` and closes."""
        self._undo = undo
        self._label.setText(text)
        self.setAccessibleName(text)
        self.button.setText(button)
        self.button.setAccessibleName(button)
        self.button.setVisible(undo is not None)
        self._place()
        self.show()
        self.raise_()
        self._timer.start()

    def offers(self, undo: Callable[[], None]) -> bool:
        """Whether `undo` is what its button would call now."""
        return self._undo == undo

    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def close_now(self) -> None:
        """Take it away; nothing is undone."""
        self._timer.stop()
        self._undo = None
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        page = self._page
        self.setMaximumWidth(max(page.width() - 2 * GAP_XL, 0))
        self.adjustSize()
        self.move((page.width() - self.width()) // 2, page.height() - self.height() - 5 * GAP_XL)

    @Slot()
    def _on_button(self) -> None:
        undo = self._undo
        self.close_now()
        if undo is not None:
            undo()

    @Slot()
    def _on_time_up(self) -> None:
        if self.underMouse() or self.button.hasFocus():
            self._timer.start()
        else:
            self.close_now()
