"""Layers by MoE experts as a field of colour: how much each got against the even share. One picture, scaled."""

from collections.abc import Collection, Mapping

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.domain.moe_experts import MoeCounts, against_even
from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.palette import current_colours, ink
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, Ink

FULL_AT = 3.0  # times the even share; more looks the same
ROW_PX, LEAST_ROW_PX, MAX_HEIGHT = 20, 4, 460
_STEPS = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}


class HeatMap(QWidget):
    """Arrow keys move a cursor over the cells.

    Signals:
        cell_chosen: row and number of the MoE expert under the cursor.
    """

    cell_chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None, *, is_small: bool = False) -> None:
        super().__init__(parent)
        self._is_small = is_small
        self._layers: tuple[int, ...] = ()
        self._n_expert = 0
        self._shares: list[tuple[float | None, ...]] = []
        self._marked: Mapping[int, Collection[int]] = {}
        self.cursor_cell = (0, 0)
        if not is_small:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_counts(self, layers: tuple[int, ...], n_expert: int, counts: MoeCounts) -> None:
        """What was counted; layers that computed nothing stay empty."""
        self._layers, self._n_expert = layers, n_expert
        is_known = len(counts.n_tokens) == len(layers)
        self._shares = [against_even(counts, row) if is_known else (None,) * n_expert for row in range(len(layers))]
        row, column = self.cursor_cell
        self.cursor_cell = (min(row, max(0, len(layers) - 1)), min(column, max(0, n_expert - 1)))
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def mark(self, by_row: Mapping[int, Collection[int]]) -> None:
        """Outline the MoE experts that computed one token, by row."""
        self._marked = by_row
        self.update()

    def share(self, row: int, expert: int) -> float | None:
        """Times the even share; None where nothing was computed."""
        return self._shares[row][expert] if row < len(self._shares) and expert < self._n_expert else None

    def sizeHint(self) -> QSize:
        n = max(1, len(self._layers))
        if self._is_small:
            return QSize(200, min(96, max(24, 3 * n)))
        return QSize(480, n * max(LEAST_ROW_PX, min(ROW_PX, MAX_HEIGHT // n)) + self._foot)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._layers or not self._n_expert:
            return
        painter = QPainter(self)
        painter.setFont(small_font())
        field = self._field()
        painter.drawImage(field, self._picture())
        if not self._is_small:
            self._paint_axes(painter, field)
            self._paint_marks(painter, field)
        painter.end()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        if cell is not None:
            self._move_to(cell)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or self._is_small or not self._layers:
            super().keyPressEvent(event)
            return
        row, column = self.cursor_cell[0] + step[0], self.cursor_cell[1] + step[1]
        self._move_to((min(max(row, 0), len(self._layers) - 1), min(max(column, 0), self._n_expert - 1)))

    @property
    def _foot(self) -> int:
        return 0 if self._is_small else self.fontMetrics().height() + GAP_XS

    def _field(self) -> QRect:
        left = 0 if self._is_small else self.fontMetrics().horizontalAdvance("0000")
        return QRect(left, 0, self.width() - left, self.height() - self._foot)

    def _cell_at(self, place: QPointF) -> tuple[int, int] | None:
        field = self._field()
        if not self._layers or not field.contains(place.toPoint()):
            return None
        row = int((place.y() - field.top()) * len(self._layers) / field.height())
        column = int((place.x() - field.left()) * self._n_expert / field.width())
        return (min(row, len(self._layers) - 1), min(column, self._n_expert - 1))

    def _move_to(self, cell: tuple[int, int]) -> None:
        if cell != self.cursor_cell:
            self.cursor_cell = cell
            self.update()
        self.cell_chosen.emit(*cell)

    def _picture(self) -> QImage:
        """A pixel a cell."""
        low, high = QColor(current_colours().raised), ink(Ink.ACCENT)
        shades = [_between(low, high, step / 63).rgb() for step in range(64)]
        empty = QColor(current_colours().surface).rgb()
        image = QImage(self._n_expert, len(self._layers), QImage.Format.Format_RGB32)
        for row, shares in enumerate(self._shares):
            for column, share in enumerate(shares):
                shade = empty if share is None else shades[round(63 * min(1.0, share / FULL_AT))]
                image.setPixel(column, row, shade)
        return image

    def _paint_axes(self, painter: QPainter, field: QRect) -> None:
        painter.setPen(QColor(current_colours().muted))
        height = field.height() / len(self._layers)
        every = max(1, -(-painter.fontMetrics().height() // max(1, int(height))))
        middle = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for row in range(0, len(self._layers), every):
            box = QRectF(0, row * height, field.left() - GAP_S, max(height, painter.fontMetrics().height()))
            painter.drawText(box, middle, str(self._layers[row]))
        below = QRectF(field.left(), field.bottom() + GAP_XS, field.width(), self._foot)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignLeft), "0")
        painter.drawText(below, int(Qt.AlignmentFlag.AlignRight), str(self._n_expert - 1))
        painter.setPen(QColor(current_colours().border))
        painter.drawRect(field.adjusted(0, 0, -1, -1))

    def _paint_marks(self, painter: QPainter, field: QRect) -> None:
        width, height = field.width() / self._n_expert, field.height() / len(self._layers)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(ink(Ink.WARN), 2))
        for row, experts in self._marked.items():
            for expert in experts:
                painter.drawRect(QRectF(field.left() + expert * width + 1, row * height + 1, width - 2, height - 2))
        if self.hasFocus() or self.underMouse():
            row, column = self.cursor_cell
            painter.setPen(QPen(ink(Ink.TEXT), 1))
            painter.drawRect(QRectF(field.left() + column * width, row * height, width, height))


def _between(low: QColor, high: QColor, share: float) -> QColor:
    return QColor(
        *(round(a + (b - a) * share) for a, b in zip(low.getRgb()[:3], high.getRgb()[:3], strict=True))  # type: ignore[index]  # a tuple
    )
