"""Shares as bars with their names and figures, and the days side by side; painted, no library."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.ui.theme.fonts import figure_font, small_font
from layadesk.ui.theme.palette import current_colours, ink
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, Ink

ROW_PX = 24
NAME_SHARE = 0.34
FIGURE_PX = 84
DAY_PX = 72
LINE_PX = 18
N_LIKELIEST = 4


class ShareBars(QWidget):
    """One row for each name: its bar, its number and share of all."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[str, int]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_rows(self, rows: Sequence[tuple[str, int]]) -> None:
        """Names and numbers, the largest first."""
        self._rows = list(rows)
        self.setAccessibleDescription("; ".join(f"{name} {self._figure(n)}" for name, n in self._rows))
        self.setFixedHeight(max(len(self._rows), 1) * ROW_PX)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, max(len(self._rows), 1) * ROW_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = current_colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(figure_font())
        name_px = int(self.width() * NAME_SHARE)
        room = max(self.width() - name_px - FIGURE_PX - 2 * GAP_S, 10)
        largest = max((n for _, n in self._rows), default=1) or 1
        for index, (name, n) in enumerate(self._rows):
            top = index * ROW_PX
            painter.setPen(QColor(colours.text))
            metrics = painter.fontMetrics()
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, name_px)
            middle = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            painter.drawText(QRectF(0, top, name_px, ROW_PX), middle, shown)
            bar = QRectF(name_px + GAP_S, top + 7, room * n / largest, ROW_PX - 14)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink(Ink.ACCENT))
            painter.drawRoundedRect(bar, 3, 3)
            painter.setPen(QColor(colours.muted))
            painter.drawText(QRectF(self.width() - FIGURE_PX, top, FIGURE_PX, ROW_PX), middle, self._figure(n))
        painter.end()

    def _figure(self, n: int) -> str:
        total = sum(count for _, count in self._rows) or 1
        return f"{n:,} · {100 * n / total:.0f} %"


class ProbabilityBars(QWidget):
    """The likeliest answers to one question of the router: label, bar, probability."""

    def __init__(self, probabilities: Mapping[str, float], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = sorted(probabilities.items(), key=lambda pair: -pair[1])[:N_LIKELIEST]
        self.setAccessibleName(self.text())
        self.setFixedHeight(len(self._rows) * LINE_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """All that it says."""
        return ", ".join(f"{label} {value:.2f}" for label, value in self._rows)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(small_font())
        metrics = painter.fontMetrics()
        figure_px = metrics.horizontalAdvance("0.00") + GAP_XS
        name_px = int((self.width() - figure_px) * 0.5)
        room = max(self.width() - name_px - figure_px - GAP_S, 4)
        middle = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for index, (label, value) in enumerate(self._rows):
            top = index * LINE_PX
            painter.setPen(ink(Ink.TEXT))
            shown = metrics.elidedText(label, Qt.TextElideMode.ElideRight, name_px)
            painter.drawText(QRectF(0, top, name_px, LINE_PX), middle, shown)
            painter.drawText(QRectF(self.width() - figure_px + GAP_XS, top, figure_px, LINE_PX), middle, f"{value:.2f}")
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink(Ink.ACCENT if index == 0 else Ink.BORDER))
            painter.drawRoundedRect(QRectF(name_px, top + 6, max(room * value, 1), LINE_PX - 12), 2, 2)
        painter.end()


class DayBars(QWidget):
    """Answers of each day; the share of the most used expert is full, that of the others lighter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._days: list[tuple[int, int]] = []
        self._labels = ("", "")
        self.setFixedHeight(DAY_PX)

    def show_days(self, days: Sequence[tuple[tuple[str, int], ...]], first: str, labels: tuple[str, str]) -> None:
        """`first` is the most used expert; `labels` stand below the oldest and the newest day."""
        self._days = [(sum(n for name, n in day if name == first), sum(n for _, n in day)) for day in days]
        self._labels = labels
        self.setAccessibleDescription(", ".join(str(total) for _, total in self._days))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(small_font())
        foot = painter.fontMetrics().height() + GAP_XS
        height = self.height() - foot
        largest = max((total for _, total in self._days), default=1) or 1
        step = self.width() / max(len(self._days), 1)
        others = ink(Ink.ACCENT)
        others.setAlphaF(0.35)
        painter.setPen(Qt.PenStyle.NoPen)
        for index, (first, total) in enumerate(self._days):
            left, width = index * step + 2, max(step - 4, 2)
            whole, part = height * total / largest, height * first / largest
            painter.setBrush(others)
            painter.drawRoundedRect(QRectF(left, height - whole, width, whole), 2, 2)
            painter.setBrush(ink(Ink.ACCENT))
            painter.drawRoundedRect(QRectF(left, height - part, width, part), 2, 2)
        painter.setPen(QColor(current_colours().muted))
        below = QRectF(0, height + GAP_XS, self.width(), foot)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignLeft), self._labels[0])
        painter.drawText(below, int(Qt.AlignmentFlag.AlignRight), self._labels[1])
        painter.end()
