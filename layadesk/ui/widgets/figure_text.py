"""Words and figures that change several times a second without moving what stands around them."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QResizeEvent, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.ui.theme.palette import current_colours, ink
from layadesk.ui.theme.tokens import Ink

_WORD_JOINER: Final = "\N{WORD JOINER}"
_NO_BREAK_SPACE: Final = "\N{NO-BREAK SPACE}"
_NO_LIMIT: Final = 1e6
_USUAL_WIDTH: Final = 120
Piece = tuple[str, str]  # text; the token of its colour, or "" for that of the words


def unbroken(text: str) -> str:
    """`text` so that no line ends in it. Chinese may break between any two characters, so all of them are joined."""
    return _WORD_JOINER.join(text.replace(" ", _NO_BREAK_SPACE))


class FigureText(QWidget):
    """A label that asks for a new layout only when it needs other room: with tabular figures hardly ever.

    A QLabel has all of its neighbours laid out anew at each other text, and at a dozen texts twice a second that was
    half of what the monitor cost. Its text is its accessible name. With `wraps` it takes the width that it is given.
    """

    def __init__(
        self, font: QFont, *, meaning: Ink = Ink.TEXT, wraps: bool = True, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._pieces: tuple[Piece, ...] = ()
        self._meaning = meaning
        self._wraps = wraps
        self._layout: QTextLayout | None = None  # of the pieces in the width of the widget
        self._heights: dict[int, int] = {}  # of the pieces, by width
        self.setFont(font)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(wraps)
        self.setSizePolicy(policy)

    def set_text(self, text: str) -> None:
        """All of it in one colour."""
        self.set_pieces(((text, ""),))

    def set_pieces(self, pieces: Sequence[Piece]) -> None:
        """One after the other, each in its colour."""
        if tuple(pieces) == self._pieces:
            return
        room = self._room_needed()
        self._pieces = tuple(pieces)
        self._forget()
        self.setAccessibleName(self.text())
        if room != self._room_needed():
            self.updateGeometry()
        self.update()

    def text(self) -> str:
        """What it says, without what holds it together."""
        return self._written().replace(_NO_BREAK_SPACE, " ").replace(_WORD_JOINER, "")

    def sizeHint(self) -> QSize:
        if self._wraps:
            return QSize(_USUAL_WIDTH, self.heightForWidth(_USUAL_WIDTH))
        layout = self._own_layout()
        return QSize(_up(layout.maximumWidth()), _up(layout.boundingRect().height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height()) if self._wraps else self.sizeHint()

    def heightForWidth(self, width: int) -> int:
        if not self._wraps:
            return -1
        if width not in self._heights:
            layout = self._own_layout() if width == self.width() else self._laid_out(width)
            self._heights[width] = _up(layout.boundingRect().height())
        return self._heights[width]

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._layout = None
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.PaletteChange, QEvent.Type.StyleChange}:
            self._forget()
            self.updateGeometry()
            self.update()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(ink(self._meaning))
        self._own_layout().draw(painter, QPointF(0.0, 0.0))
        painter.end()

    def _written(self) -> str:
        return "".join(text for text, _ in self._pieces)

    def _room_needed(self) -> QSize:
        return QSize(0, self.heightForWidth(self.width())) if self._wraps else self.sizeHint()

    def _forget(self) -> None:
        self._layout = None
        self._heights = {}

    def _own_layout(self) -> QTextLayout:
        if self._layout is None:
            self._layout = self._laid_out(self.width() if self._wraps else _NO_LIMIT)
        return self._layout

    def _laid_out(self, width: float) -> QTextLayout:
        layout = QTextLayout(self._written(), self.font())
        layout.setCacheEnabled(True)
        option = QTextOption(Qt.AlignmentFlag.AlignLeft)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats(self._formats())
        layout.beginLayout()
        height = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0.0, height))
            height += line.height()
        layout.endLayout()
        return layout

    def _formats(self) -> list[QTextLayout.FormatRange]:
        colours = current_colours()
        formats, start = [], 0
        for text, token in self._pieces:
            if token:
                look = QTextCharFormat()
                look.setForeground(QColor(str(getattr(colours, token))))
                found = QTextLayout.FormatRange()
                found.start, found.length, found.format = start, len(text), look
                formats.append(found)
            start += len(text)
        return formats


def _up(length: float) -> int:
    return int(-(-length // 1))
