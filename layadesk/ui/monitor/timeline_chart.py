"""One chart: lanes of curves over a fixed axis of seconds ago, bands of what was done behind them.

Imports pyqtgraph and numpy: bring it in with `chart_import.load`.
"""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.ui.monitor.chart_parts import Lane, Mark, Room, Stretch
from layadesk.ui.monitor.timeline_plot import TimelinePlot
from layadesk.ui.theme.tokens import CHART_HEIGHT


class TimelineChart(QWidget):
    """Mouse, keys and cursor around the plot that draws.

    Signals:
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
        self._plot = TimelinePlot(self)
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
        self._draw()

    def set_cursor(self, ago: float | None) -> None:
        """A line at one moment, the same in all charts; None takes it away."""
        if ago != self._cursor:
            self._cursor = ago
            self._plot.show_cursor(ago)

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

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._plot.resize(self.size())
        self._draw()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._plot.show_focus(has_focus=True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._plot.show_focus(has_focus=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointed.emit(self._room().ago(event.position().x()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.pressed.emit(self._room().ago(event.position().x()))

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

    def _room(self) -> Room:
        return Room(self._window_s, self.width(), self.height())

    def _draw(self) -> None:
        self._plot.show_picture(self._room(), self._lanes, self._stretches, self._marks)
