"""A label of one line that ends in … where there is no room, and shows the whole text as its tool tip then."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from layadesk.ui.theme.palette import ink
from layadesk.ui.theme.tokens import Ink


class ElidedLabel(QFrame):
    """Shrinks to nothing rather than pushing its neighbours out."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, meaning: Ink = Ink.TEXT) -> None:
        super().__init__(parent)
        self._text = text
        self._meaning = meaning
        self._hint = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def text(self) -> str:
        """The whole text."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show `text`; line breaks become spaces."""
        line = " ".join(text.split())
        if line == self._text:
            return
        self._text = line
        self.setAccessibleName(self._text)
        self._update_tool_tip()
        self.updateGeometry()
        self.update()

    def set_hint(self, hint: str) -> None:
        """A tool tip for when all of the text is shown."""
        self._hint = hint
        self._update_tool_tip()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._text) + 2, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        shown = QFontMetrics(self.font()).elidedText(self._text, Qt.TextElideMode.ElideRight, self.width())
        painter.setPen(ink(self._meaning))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_tool_tip()

    def _update_tool_tip(self) -> None:
        fits = QFontMetrics(self.font()).horizontalAdvance(self._text) <= self.width()
        self.setToolTip(self._hint if fits else self._text)
