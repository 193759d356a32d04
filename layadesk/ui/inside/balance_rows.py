"""How evenly each layer's MoE experts work: a row a layer, painted."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.domain.moe_experts import LayerBalance
from layadesk.ui.texts import words
from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.palette import current_colours
from layadesk.ui.theme.tokens import GAP_S

ROW_PX = 18
_WIDTHS = (0.10, 0.15, 0.18, 0.14, 0.23, 0.20)


class BalanceRows(QWidget):
    """Layer, tokens, coefficient of variation, entropy, the busiest, how many idle."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._head: tuple[str, ...] = ("",) * len(_WIDTHS)
        self._rows: list[tuple[str, ...]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_balance(self, head: tuple[str, ...], balance: Sequence[LayerBalance]) -> None:
        """`head` names the columns."""
        self._head = head
        self._rows = [
            (
                str(one.layer),
                f"{one.n_tokens:,}",
                words.unknown() if one.variation is None else f"{one.variation:.2f}",
                words.unknown() if one.entropy is None else f"{one.entropy:.3f}",
                ", ".join(map(str, one.busiest)) or "–",
                words.unknown() if one.variation is None else str(len(one.idle)),
            )
            for one in balance
        ]
        said = (" ".join(f"{name} {text}" for name, text in zip(head, row, strict=True)) for row in self._rows)
        self.setAccessibleDescription("; ".join(said))
        self.setFixedHeight((len(self._rows) + 1) * ROW_PX)
        self.update()

    def rows(self) -> list[tuple[str, ...]]:
        """As they stand on screen."""
        return list(self._rows)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = current_colours()
        painter = QPainter(self)
        painter.setFont(small_font())
        for number, row in enumerate([self._head, *self._rows]):
            painter.setPen(QColor(colours.text if number else colours.muted))
            left = 0.0
            for text, share in zip(row, _WIDTHS, strict=True):
                width = self.width() * share
                box = QRectF(left, number * ROW_PX, width - GAP_S, ROW_PX)
                fitted = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(box.width()))
                painter.drawText(box, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), fitted)
                left += width
        painter.end()
