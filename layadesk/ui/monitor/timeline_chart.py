"""One chart: lanes of curves over a fixed axis of seconds ago, bands of what was done behind them.

Painted by hand: a QPainter draws this picture at half the cost of a plotting library's items, and nothing is imported
for it but numpy. Bring this module in with `chart_import.load`. Cheapest as measured: an axis that does not scroll,
lines of one pixel without antialiasing, no more points than pixels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shiboken6
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.ui.monitor.curve_store import Floats
from layadesk.ui.theme.palette import current_colours
from layadesk.ui.theme.tokens import CHART_HEIGHT, PHASE_INK, RADIUS

_BAND_ALPHA: Final = 40
_PATTERN_ALPHA: Final = 120
_FILL_ALPHA: Final = 110
_LANE_GAP: Final = 3.0
_TRIANGLE: Final = 5.0
# A band is told by its pattern too, for those who do not tell the colours apart.
_PATTERNS: Final = {
    "routing": Qt.BrushStyle.Dense5Pattern,
    "loading": Qt.BrushStyle.BDiagPattern,
    "prefill": Qt.BrushStyle.FDiagPattern,
    "decode": Qt.BrushStyle.SolidPattern,
}


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """`x` is seconds ago (≤ 0), `y` 0–1 of its lane, NaN a gap. With a `base` the room between the two is filled."""

    x: Floats
    y: Floats
    token: str
    style: Qt.PenStyle = Qt.PenStyle.SolidLine
    base: Floats | None = None
    is_hatched: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """Curves on one scale; lanes of a chart lie one above the other."""

    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A band in seconds ago. `phase` is a TurnPhase's value."""

    phase: str
    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A warning at one moment; `token` is its colour."""

    ago: float
    token: str


class TimelineChart(QWidget):
    """Signals:
    pointed: the mouse or the arrow keys are at so many seconds ago (≤ 0).
    left: they are nowhere any more.
    pressed: a click, or Enter, at so many seconds ago.
    """

    pointed = Signal(float)
    left = Signal()
    pressed = Signal(float)

    def __init__(self, *, height: int = CHART_HEIGHT, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._window_s = 60.0
        self._lanes: tuple[Lane, ...] = ()
        self._stretches: tuple[Stretch, ...] = ()
        self._marks: tuple[Mark, ...] = ()
        self._cursor: float | None = None
        self._height = height
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(height)

    def show_picture(
        self, window_s: float, lanes: Sequence[Lane], stretches: Sequence[Stretch], marks: Sequence[Mark] = ()
    ) -> None:
        """Draw this over the last `window_s` seconds."""
        self._window_s = window_s
        self._lanes, self._stretches, self._marks = tuple(lanes), tuple(stretches), tuple(marks)
        self.update()

    def set_cursor(self, ago: float | None) -> None:
        """A line at one moment, the same in all charts; None takes it away."""
        if ago != self._cursor:
            self._cursor = ago
            self.update()

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """What is drawn."""
        return self._lanes

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """The bands that are drawn."""
        return self._stretches

    def sizeHint(self) -> QSize:
        return QSize(240, self._height)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointed.emit(self._ago(event.position().x()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.pressed.emit(self._ago(event.position().x()))

    def leaveEvent(self, event: object) -> None:
        self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = self._window_s / 60.0
        at = self._cursor if self._cursor is not None else 0.0
        match event.key():
            case Qt.Key.Key_Left:
                self.pointed.emit(max(at - step, -self._window_s))
            case Qt.Key.Key_Right:
                self.pointed.emit(min(at + step, 0.0))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self._cursor is not None:
                self.pressed.emit(self._cursor)
            case _:
                super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = current_colours()
        painter = QPainter(self)
        room = QRectF(self.rect())
        painter.fillRect(room, QColor(colours.surface))
        for stretch in self._stretches:
            self._paint_stretch(painter, stretch)
        height = (room.height() - _LANE_GAP * (len(self._lanes) - 1)) / max(len(self._lanes), 1)
        for place, lane in enumerate(self._lanes):
            top = place * (height + _LANE_GAP)
            if place:
                painter.fillRect(QRectF(0, top - _LANE_GAP, room.width(), 1.0), QColor(colours.border))
            for curve in lane.curves:
                self._paint_curve(painter, curve, QRectF(0, top + 1, room.width(), height - 2))
        for mark in self._marks:
            self._paint_mark(painter, mark)
        if self._cursor is not None:
            x = self._x(self._cursor)
            painter.fillRect(QRectF(x, 0, 1.0, room.height()), QColor(colours.text))
        frame = QColor(colours.accent if self.hasFocus() else colours.border)
        painter.setPen(QPen(frame, 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS / 2, RADIUS / 2)
        painter.end()

    def _x(self, ago: float) -> float:
        return (1.0 + ago / self._window_s) * self.width()

    def _ago(self, x: float) -> float:
        return min(max((x / max(self.width(), 1) - 1.0) * self._window_s, -self._window_s), 0.0)

    def _paint_stretch(self, painter: QPainter, stretch: Stretch) -> None:
        pattern = _PATTERNS.get(stretch.phase)
        if pattern is None or stretch.until <= -self._window_s:
            return
        left, right = max(self._x(stretch.since), 0.0), self._x(stretch.until)
        colour = QColor(str(getattr(current_colours(), PHASE_INK[stretch.phase].value)))
        solid = QColor(colour)
        band = QRectF(left, 0, max(right - left, 1.0), self.height())
        colour.setAlpha(_BAND_ALPHA)
        painter.fillRect(band, colour)
        if pattern is not Qt.BrushStyle.SolidPattern:
            colour.setAlpha(_PATTERN_ALPHA)
            painter.fillRect(band, QBrush(colour, pattern))
        if stretch.phase == "decode" and stretch.since > -self._window_s:
            painter.fillRect(QRectF(left, 0, 1.0, self.height()), solid)  # the first token

    def _paint_mark(self, painter: QPainter, mark: Mark) -> None:
        x = self._x(mark.ago)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(str(getattr(current_colours(), mark.token))))
        corners = [QPointF(x - _TRIANGLE, 0), QPointF(x + _TRIANGLE, 0), QPointF(x, 1.6 * _TRIANGLE)]
        painter.drawPolygon(QPolygonF(corners))

    def _paint_curve(self, painter: QPainter, curve: Curve, room: QRectF) -> None:
        colour = QColor(str(getattr(current_colours(), curve.token)))
        x = (1.0 + curve.x / self._window_s) * room.width()
        y = room.bottom() - np.clip(curve.y, 0.0, 1.0) * room.height()
        base = None if curve.base is None else room.bottom() - np.clip(curve.base, 0.0, 1.0) * room.height()
        for piece in _pieces(y):
            if base is not None:
                fill = QColor(colour)
                fill.setAlpha(_FILL_ALPHA)
                pattern = Qt.BrushStyle.Dense4Pattern if curve.is_hatched else Qt.BrushStyle.SolidPattern
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QBrush(fill, pattern))
                xs = np.concatenate((x[piece], x[piece][::-1]))
                painter.drawPolygon(_polygon(xs, np.concatenate((y[piece], base[piece][::-1]))))
            pen = QPen(colour, 1.0, curve.style)
            pen.setCosmetic(True)
            painter.setPen(pen)
            painter.drawPolyline(_polygon(x[piece], y[piece]))


def _pieces(y: Floats) -> Iterator[slice]:
    """The stretches without a gap that hold at least two points."""
    is_known = np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_known, [False])).astype(np.int8)))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if end - start > 1:
            yield slice(int(start), int(end))


def _polygon(x: Floats, y: Floats) -> QPolygonF:
    """Points written straight into the polygon's own memory: a Python object for each would cost ten times as much."""
    polygon = QPolygonF()
    polygon.resize(len(x))
    pointer: Any = shiboken6.VoidPtr  # its stub knows neither a size nor a first point as an address
    memory: Floats = np.frombuffer(pointer(polygon.data(), len(x) * 16, True), dtype=np.float64).reshape(-1, 2)
    memory[:, 0] = x
    memory[:, 1] = y
    return polygon
