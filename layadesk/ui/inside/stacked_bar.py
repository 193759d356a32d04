"""One bar of parts with a legend below it: name, time, share; painted."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.ui.theme.fonts import figure_font
from layadesk.ui.theme.palette import current_colours
from layadesk.ui.theme.tokens import GAP_S, GAP_XS

BAR_PX, ROW_PX, SWATCH_PX = 18, 20, 10


@dataclass(frozen=True, slots=True)
class BarPart:
    """`value` None is unknown: named in the legend, with no place in the bar. `colour` is a name in `Colours`."""

    name: str
    value: float | None
    shown: str
    colour: str


class StackedBar(QWidget):
    """Parts from left to right; two parts of the same colour are told apart by a line between them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[BarPart, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_parts(self, parts: Sequence[BarPart]) -> None:
        """In their order."""
        self._parts = tuple(parts)
        self.setAccessibleDescription(self.text())
        self.setFixedHeight(BAR_PX + GAP_S + ROW_PX * -(-len(self._parts) // 2))
        self.update()

    def text(self) -> str:
        """All that it says."""
        return "; ".join(f"{part.name} {part.shown}" for part in self._parts)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = current_colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(figure_font())
        total = sum(part.value or 0.0 for part in self._parts)
        left = 0.0
        painter.setPen(QColor(colours.surface))
        for part in self._parts:
            width = self.width() * (part.value or 0.0) / total if total else 0.0
            if width >= 0.5:
                painter.setBrush(QColor(str(getattr(colours, part.colour))))
                painter.drawRect(QRectF(left, 0, width, BAR_PX))
                left += width
        column = self.width() / 2
        for place, part in enumerate(self._parts):
            x, y = (place % 2) * column, BAR_PX + GAP_S + (place // 2) * ROW_PX
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(str(getattr(colours, part.colour))))
            painter.drawRect(QRectF(x, y + (ROW_PX - SWATCH_PX) / 2, SWATCH_PX, SWATCH_PX))
            room = QRectF(x + SWATCH_PX + GAP_XS, y, column - SWATCH_PX - GAP_XS - GAP_S, ROW_PX)
            painter.setPen(QColor(colours.text))
            painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), part.name)
            painter.setPen(QColor(colours.muted))
            painter.drawText(room, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), part.shown)
        painter.end()
