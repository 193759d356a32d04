"""The last minute of one place of memory as two curves. The only importer of pyqtgraph and numpy in this program.

Import it with `chart_import.load`, never at the top of another module: it costs some 0.4 s. Drawn as was measured
cheapest (PlotCurveItem, a fixed axis of seconds ago, one pixel, no antialiasing, no fill).
"""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from layadesk.ui.monitor.readings import WINDOW_S, Series
from layadesk.ui.theme.palette import current_colours
from layadesk.ui.theme.tokens import CHART_HEIGHT


class MinuteChart(pg.GraphicsView):  # type: ignore[misc] # pyqtgraph has no types
    """Used memory as a dashed grey line, ours as a solid one in the accent colour, from 0 to the total.

    A bare ViewBox: a PlotItem would bring axes nobody sees and leave seven menus behind when it goes.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(CHART_HEIGHT)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._box = pg.ViewBox(enableMenu=False, enableMouse=False, defaultPadding=0.0)
        self._box.disableAutoRange()
        self._box.setXRange(-WINDOW_S, 0.0, padding=0.0)
        self.setCentralItem(self._box)
        self._used = pg.PlotCurveItem(connect="finite", antialias=False)
        self._ours = pg.PlotCurveItem(connect="finite", antialias=False)
        self._box.addItem(self._used)
        self._box.addItem(self._ours)
        self._top = 0.0
        self._apply_colours()

    def show_series(self, series: Series, *, top: float) -> None:
        """Draw `series`, gaps where a value is None; `top` is the upper end of the scale, in bytes."""
        if top != self._top and top > 0:
            self._top = top
            # a little room at both ends, or a line at 0 or at the total would lie on the frame
            self._box.setYRange(-0.03 * top, 1.03 * top, padding=0.0)
        ago = np.array(series.ago, dtype=np.float64)
        self._used.setData(ago, np.array(series.used, dtype=np.float64))
        self._ours.setData(ago, np.array(series.ours, dtype=np.float64))

    @property
    def n_points(self) -> int:
        """Samples drawn, gaps included."""
        return len(self._used.xData) if self._used.xData is not None else 0

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_ours"):
            self._apply_colours()
        super().changeEvent(event)

    def _apply_colours(self) -> None:
        colours = current_colours()
        self.setBackground(QColor(colours.background))
        self._used.setPen(_pen(colours.others, Qt.PenStyle.DashLine))
        self._ours.setPen(_pen(colours.accent, Qt.PenStyle.SolidLine))


def _pen(colour: str, style: Qt.PenStyle) -> QPen:
    pen = QPen(QColor(colour), 1.0, style)
    pen.setCosmetic(True)  # width 1 without antialiasing: wider ones cost ten times as much
    return pen
