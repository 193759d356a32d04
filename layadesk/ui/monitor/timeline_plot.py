"""A chart's picture, drawn with pyqtgraph, which is imported here alone; see `timeline_chart.py`.

As was measured cheapest: a PlotCurveItem for each curve on an axis that does not scroll, lines of one pixel without
antialiasing, no more points than pixels, no grid, no OpenGL; what is no line is painted by two items of our own, since
pyqtgraph's regions, fills and marks cost several times as much.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsView, QWidget

from layadesk.ui.monitor.chart_parts import LANE_GAP, Curve, Fill, Lane, Mark, Room, Stretch
from layadesk.ui.monitor.curve_store import Floats
from layadesk.ui.theme.palette import current_colours
from layadesk.ui.theme.tokens import PHASE_INK, RADIUS

_BAND_ALPHA: Final = 40
_PATTERN_ALPHA: Final = 120
_FILL_ALPHA: Final = 110
_TRIANGLE: Final = 5.0
# A band is told by its pattern too, for those who do not tell the colours apart.
_PATTERNS: Final = {
    "routing": Qt.BrushStyle.Dense5Pattern,
    "loading": Qt.BrushStyle.BDiagPattern,
    "prefill": Qt.BrushStyle.FDiagPattern,
    "decode": Qt.BrushStyle.SolidPattern,
}
_FILL_PATTERNS: Final = {False: Qt.BrushStyle.SolidPattern, True: Qt.BrushStyle.Dense4Pattern}
_NOWHERE: Final = Room(60.0, 0, 0)


class TimelinePlot(pg.GraphicsView):  # type: ignore[misc] # pyqtgraph has no types
    """Bands and fills, upon them the curves, upon them marks, cursor and frame.

    A bare ViewBox: a PlotItem would bring axes nobody sees and leave seven menus behind when it goes. Mouse and keys
    are the parent's: a graphics view would keep the wheel from what scrolls and the arrow keys from the cursor.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, useOpenGL=False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)  # each update changes all of it
        self._box = pg.ViewBox(enableMenu=False, enableMouse=False, defaultPadding=0.0, invertY=True)
        self._box.disableAutoRange()
        self.setCentralItem(self._box)
        self._room = _NOWHERE
        self._lines: list[_Line] = []
        self._backdrop, self._front = _Backdrop(), _Front()
        self.addItem(self._backdrop)
        self.addItem(self._front)
        for height, item in enumerate((self._backdrop, self._box, self._front)):
            item.setZValue(height)  # a ViewBox of its own accord lies below everything
        self._apply_colours()

    def show_picture(
        self, room: Room, lanes: Sequence[Lane], stretches: Sequence[Stretch], marks: Sequence[Mark]
    ) -> None:
        """Draw this in a chart of that size."""
        if room != self._room and room.height > 0:
            self._room = room
            self._box.setRange(xRange=(-room.window_s, 0.0), yRange=(0.0, room.height), padding=0.0)
        self._backdrop.show_picture(room, lanes, stretches)
        self._front.show_picture(room, marks)
        placed = [
            (curve, rect) for lane, rect in zip(lanes, room.lanes(len(lanes)), strict=True) for curve in lane.curves
        ]
        while len(self._lines) < len(placed):
            self._lines.append(_Line())
            self._box.addItem(self._lines[-1], ignoreBounds=True)
        for line, (curve, rect) in zip(self._lines, placed, strict=False):
            line.show_curve(curve, rect, room)
        for line in self._lines[len(placed) :]:
            line.hide()

    def show_cursor(self, ago: float | None) -> None:
        """A line at one moment; None takes it away."""
        self._front.cursor = ago
        self._front.update()

    def show_focus(self, *, has_focus: bool) -> None:
        """Whether the frame says that the keys go here."""
        self._front.has_focus = has_focus
        self._front.update()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_front"):
            self._apply_colours()
        super().changeEvent(event)

    def _apply_colours(self) -> None:
        self.setBackground(QColor(current_colours().surface))
        for line in self._lines:
            line.apply_colours()


class _Line(pg.PlotCurveItem):  # type: ignore[misc]
    """A curve, in seconds ago and pixels from the top. When it has gone it stays for the next, hidden."""

    def __init__(self) -> None:
        self._reach = QRectF()
        super().__init__(connect="finite", antialias=False)
        self._look = ("text", Qt.PenStyle.NoPen)

    def boundingRect(self) -> QRectF:
        """All that the view shows: to find each curve's own bounds took a quarter of the time of a picture."""
        return self._reach

    def show_curve(self, curve: Curve, rect: QRectF, room: Room) -> None:
        """Draw it into this part of the chart. A curve of which nothing is known costs nothing."""
        if not np.isfinite(curve.y).any():
            self.hide()
            return
        self._reach = QRectF(-room.window_s, 0.0, room.window_s, room.height)
        if self._look != (curve.token, curve.style):
            self._look = (curve.token, curve.style)
            self.apply_colours()
        self.setData(curve.x, _pixels(curve.y, rect))
        self.show()

    def apply_colours(self) -> None:
        """Of the theme in force."""
        token, style = self._look
        pen = QPen(_colour(token), 1.0, style)
        pen.setCosmetic(True)  # width 1 without antialiasing: wider ones cost ten times as much
        self.setPen(pen)


class _Layer(pg.GraphicsObject):  # type: ignore[misc]
    """As large as the chart, in pixels."""

    def __init__(self) -> None:
        super().__init__()
        self._room = _NOWHERE

    def boundingRect(self) -> QRectF:
        return self._room.rect()

    def _spread(self, room: Room) -> None:
        if room != self._room:
            self.prepareGeometryChange()
            self._room = room
        self.update()


class _Backdrop(_Layer):
    """What lies behind the curves: bands of what was done, lines between the lanes, fills."""

    def __init__(self) -> None:
        super().__init__()
        self._stretches: tuple[Stretch, ...] = ()
        self._n_lanes = 0
        self._fills: tuple[tuple[QPolygonF, str, Qt.BrushStyle], ...] = ()

    def show_picture(self, room: Room, lanes: Sequence[Lane], stretches: Sequence[Stretch]) -> None:
        """The bands, and what is filled below curves."""
        self._stretches = tuple(stretches)
        self._n_lanes = len(lanes)
        self._fills = tuple(
            (polygon, curve.token, _FILL_PATTERNS[curve.fill.is_hatched])
            for lane, rect in zip(lanes, room.lanes(len(lanes)), strict=True)
            for curve in lane.curves
            if curve.fill is not None
            for polygon in _polygons(curve.fill, room, rect)
        )
        self._spread(room)

    def paint(self, painter: QPainter, *_: object) -> None:
        for stretch in self._stretches:
            self._paint_stretch(painter, stretch)
        for rect in list(self._room.lanes(self._n_lanes))[1:]:
            divider = QRectF(0, rect.top() - 1 - LANE_GAP, rect.width(), 1.0)
            painter.fillRect(divider, QColor(current_colours().border))
        painter.setPen(Qt.PenStyle.NoPen)
        for polygon, token, pattern in self._fills:
            painter.setBrush(QBrush(_colour(token, _FILL_ALPHA), pattern))
            painter.drawPolygon(polygon)

    def _paint_stretch(self, painter: QPainter, stretch: Stretch) -> None:
        room, pattern = self._room, _PATTERNS.get(stretch.phase)
        if pattern is None or stretch.until <= -room.window_s:
            return
        token = PHASE_INK[stretch.phase].value
        left, right = max(room.x(stretch.since), 0.0), room.x(stretch.until)
        band = QRectF(left, 0, max(right - left, 1.0), room.height)
        painter.fillRect(band, _colour(token, _BAND_ALPHA))
        if pattern is not Qt.BrushStyle.SolidPattern:
            painter.fillRect(band, QBrush(_colour(token, _PATTERN_ALPHA), pattern))
        if stretch.phase == "decode" and stretch.since > -room.window_s:
            painter.fillRect(QRectF(left, 0, 1.0, room.height), _colour(token))  # the first token


class _Front(_Layer):
    """What lies upon the curves: marks, cursor, frame."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: tuple[Mark, ...] = ()
        self.cursor: float | None = None
        self.has_focus = False

    def show_picture(self, room: Room, marks: Sequence[Mark]) -> None:
        """The marks; cursor and frame stay as they are."""
        self._marks = tuple(marks)
        self._spread(room)

    def paint(self, painter: QPainter, *_: object) -> None:
        colours, room = current_colours(), self._room
        painter.setPen(Qt.PenStyle.NoPen)
        for mark in self._marks:
            x = room.x(mark.ago)
            corners = [QPointF(x - _TRIANGLE, 0), QPointF(x + _TRIANGLE, 0), QPointF(x, 1.6 * _TRIANGLE)]
            painter.setBrush(_colour(mark.token))
            painter.drawPolygon(QPolygonF(corners))
        if self.cursor is not None:
            painter.fillRect(QRectF(room.x(self.cursor), 0, 1.0, room.height), QColor(colours.text))
        painter.setPen(QPen(QColor(colours.accent if self.has_focus else colours.border), 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(room.rect().adjusted(0.5, 0.5, -0.5, -0.5), RADIUS / 2, RADIUS / 2)


def _colour(token: str, alpha: int = 255) -> QColor:
    return _tint(str(getattr(current_colours(), token)), alpha)


@lru_cache(maxsize=64)
def _tint(name: str, alpha: int) -> QColor:
    """Painting asks for the same few again and again; nobody changes one."""
    colour = QColor(name)
    colour.setAlpha(alpha)
    return colour


def _pixels(y: Floats, rect: QRectF) -> Floats:
    return rect.bottom() - np.clip(y, 0.0, 1.0) * rect.height()


def _polygons(fill: Fill, room: Room, rect: QRectF) -> Iterator[QPolygonF]:
    """One for each stretch without a gap."""
    x = (1.0 + fill.x / room.window_s) * room.width
    top, bottom = _pixels(fill.top, rect), _pixels(fill.bottom, rect)
    known = np.isfinite(top)
    changes = np.flatnonzero(known[1:] != known[:-1]) + 1
    edges = [0, *changes.tolist(), len(top)]
    for start, end in pairwise(edges):
        if end - start < 2 or not known[start]:
            continue
        xs, ys = x[start:end], top[start:end]
        outline = np.concatenate((xs, xs[::-1])), np.concatenate((ys, bottom[start:end][::-1]))
        yield pg.functions.arrayToQPolygonF(*outline)
