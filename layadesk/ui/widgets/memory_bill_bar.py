"""A memory bill as a stacked bar on the scale of its device. Each part has a colour and a pattern of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.domain.memory_fit.bill import BillItem, DeviceBill
from layadesk.ui.theme.palette import current_colours

HEIGHT: Final = 10
LEAST_PX: Final = 2.0  # a part that is there is seen, however large the machine
TINT_ALPHA: Final = 130


@dataclass(frozen=True, slots=True)
class PartLook:
    """How a part is drawn: a colour of `Colours`, a pattern over a tint of it, and a sign like it for its label."""

    token: str
    pattern: Qt.BrushStyle
    sign: str


LOOKS: Final = {
    BillItem.WEIGHTS: PartLook("weights", Qt.BrushStyle.SolidPattern, "■"),
    BillItem.KV: PartLook("kv", Qt.BrushStyle.FDiagPattern, "▧"),
    BillItem.COMPUTE: PartLook("warn", Qt.BrushStyle.VerPattern, "▥"),
    BillItem.OUTPUT: PartLook("warn", Qt.BrushStyle.HorPattern, "▤"),
    BillItem.MMPROJ: PartLook("weights", Qt.BrushStyle.Dense4Pattern, "▦"),
    BillItem.OVERHEAD: PartLook("muted", Qt.BrushStyle.DiagCrossPattern, "▩"),
    BillItem.MARGIN: PartLook("muted", Qt.BrushStyle.BDiagPattern, "▨"),
}
MEASURED: Final = PartLook("accent", Qt.BrushStyle.SolidPattern, "■")
OTHERS: Final = PartLook("others", Qt.BrushStyle.SolidPattern, "■")

Part = tuple[PartLook, int]


def parts_of(bill: DeviceBill) -> tuple[Part, ...]:
    """What of a bill takes memory at all, in the order in which it is drawn."""
    return tuple((LOOKS[item], n_bytes) for item, n_bytes in bill.items if n_bytes > 0)


class MemoryBillBar(QWidget):
    """Parts from the left in bytes; what is left of `scale_bytes` is free, drawn empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[Part, ...] = ()
        self._scale = 1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_parts(self, parts: Sequence[Part], *, scale_bytes: int) -> None:
        """Draws anew only what would look different."""
        new = tuple(parts), max(1, scale_bytes)
        if new != (self._parts, self._scale):
            self._parts, self._scale = new
            self.update()

    def parts(self) -> tuple[Part, ...]:
        """What is drawn."""
        return self._parts

    def widths(self) -> tuple[float, ...]:
        """In pixels, as drawn: together never more than the bar."""
        left, widths = float(self.width()), []
        for _, n_bytes in self._parts:
            width = min(left, max(LEAST_PX, n_bytes / self._scale * self.width()))
            widths.append(width)
            left -= width
        return tuple(widths)

    def sizeHint(self) -> QSize:
        return QSize(80, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = current_colours()
        painter = QPainter(self)
        x = 0.0
        for (look, _), width in zip(self._parts, self.widths(), strict=True):
            colour = QColor(str(getattr(colours, look.token)))
            place = QRectF(x, 0.0, width, self.height())
            if look.pattern != Qt.BrushStyle.SolidPattern:
                tint = QColor(colour)
                tint.setAlpha(TINT_ALPHA)
                painter.fillRect(place, tint)
            painter.fillRect(place, QBrush(colour, look.pattern))
            x += width
            painter.fillRect(QRectF(x - 0.5, 0.0, 1.0, self.height()), QColor(colours.surface))
        painter.setPen(QColor(colours.border))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()
