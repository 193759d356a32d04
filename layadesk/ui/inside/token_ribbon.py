"""The tokens of an answer in lines, each with a place to point at: painted, since thousands of labels would be dear."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.ui.theme.fonts import control_font
from layadesk.ui.theme.palette import current_colours, ink
from layadesk.ui.theme.tokens import GAP_XS, Ink

MAX_SHOWN = 1500
_PAD = 2
_SIGNS = {"\n": "⏎", "\t": "⇥", "\r": "", "\u0000": ""}


class TokenRibbon(QWidget):
    """Left and right arrow keys go from token to token.

    Signals:
        token_chosen: the number of the token pointed at.
    """

    token_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._texts: list[str] = []
        self._boxes: list[QRectF] = []
        self.current = -1
        self.setFont(control_font())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_tokens(self, texts: Sequence[str]) -> None:
        """The last MAX_SHOWN of an answer's tokens; the numbers told are those of the whole."""
        shown = [_shown(text) for text in texts[:MAX_SHOWN]]
        if shown == self._texts:
            return
        self._texts = shown
        self.current = min(self.current, len(shown) - 1)
        self._place()

    def choose(self, number: int) -> None:
        """Point at a token."""
        if 0 <= number < len(self._texts):
            self.current = number
            self.setAccessibleDescription(self._texts[number])
            self.update()
            self.token_chosen.emit(number)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._place()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        number = self._at(event.position())
        if number is not None and number != self.current:
            self.choose(number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.choose(min(max(self.current + step, 0), len(self._texts) - 1))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self.font())
        shade = QColor(current_colours().raised)
        for number, (text, box) in enumerate(zip(self._texts, self._boxes, strict=True)):
            if not box.intersects(QRectF(event.rect())):
                continue
            if number == self.current:
                painter.fillRect(box, ink(Ink.ACCENT))
            elif number % 2:
                painter.fillRect(box, shade)  # where one ends and the next begins
            painter.setPen(ink(Ink.ON_ACCENT if number == self.current else Ink.TEXT))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
        painter.end()

    def _at(self, place: QPointF) -> int | None:
        return next((number for number, box in enumerate(self._boxes) if box.contains(place)), None)

    def _place(self) -> None:
        metrics = self.fontMetrics()
        height, left, top = metrics.height() + GAP_XS, 0.0, 0.0
        self._boxes = []
        for text in self._texts:
            width = metrics.horizontalAdvance(text) + 2 * _PAD
            if left and left + width > self.width():
                left, top = 0.0, top + height
            self._boxes.append(QRectF(left, top, width, height))
            left += width
            if text.endswith("⏎"):
                left, top = 0.0, top + height
        bottom = self._boxes[-1].bottom() if self._boxes else 0.0
        self.setFixedHeight(int(bottom) + 1)
        self.update()


def _shown(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in text) or " "
