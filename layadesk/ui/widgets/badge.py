"""A judgement in a word or two: an icon, the words, and a colour, which is never alone."""

from typing import Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.icons import icon_pixmap
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.roles import set_look, set_role

_ICONS: Final = {Ink.OK: "check", Ink.WARN: "alert", Ink.DANGER: "close", Ink.ACCENT: "info", Ink.MUTED: "info"}


class Badge(QFrame):
    """Its height never changes, so that a row that waits for its judgement does not jump when it comes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "badge")
        self._ink = Ink.MUTED
        self._symbol = QLabel()
        self._label = QLabel()
        self._label.setFont(small_font())
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_XS, 1, GAP_S, 1)
        row.setSpacing(GAP_XS)
        row.addWidget(self._symbol, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._label)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.show_words("")

    def show_words(self, text: str, ink: Ink = Ink.MUTED, *, more: str = "") -> None:
        """Say `text`; `more` is its tool tip."""
        self._ink = ink
        self._label.setText(text or "…")
        set_look(self._label, "ink", ink.value)
        set_look(self, "severity", ink.value)
        self.setToolTip(more)
        self.setAccessibleName(text)
        self.setAccessibleDescription(more)
        self._draw()

    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_label"):
            self._draw()
        super().changeEvent(event)

    def _draw(self) -> None:
        self._symbol.setPixmap(icon_pixmap(_ICONS.get(self._ink, "info"), self._ink, ratio=self.devicePixelRatioF()))
