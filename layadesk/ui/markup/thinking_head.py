"""The line above an expert's thinking: it says that there is some, and unfolds it."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.icons import set_icon
from layadesk.ui.theme.tokens import ICON_PX, Ink


class ThinkingHead(QToolButton):
    """Checked is unfolded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("thinking")
        self._is_running = False
        self._n_chars = 0
        self.setCheckable(True)
        self.setFont(small_font())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.toggled.connect(self._retranslate)
        self.show_state(is_running=False, n_chars=0)

    def show_state(self, *, is_running: bool, n_chars: int) -> None:
        """Whether it still thinks, and how much there is."""
        self._is_running, self._n_chars = is_running, n_chars
        self._retranslate()

    def needed_height(self) -> int:
        """One line."""
        return self.sizeHint().height()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        set_icon(self, "chevron-down" if self.isChecked() else "chevron-right", Ink.MUTED)
        text = self.tr("Thinking…") if self._is_running else self.tr("Thinking (%n character(s))", "", self._n_chars)
        self.setText(text)
        self.setAccessibleName(text)
        self.setToolTip(self.tr("Fold") if self.isChecked() else self.tr("Unfold"))
        self.adjustSize()  # no layout does it, and the count grows
