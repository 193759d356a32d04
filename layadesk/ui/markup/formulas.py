"""Formulas as pictures: LaTeX becomes SVG on one thread beside the window's, and is drawn in the colour of the text.

A formula that cannot be read stays as it was written. Nothing here touches the network; `\\href` and the like draw
their text alone.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from PySide6.QtCore import QByteArray, QObject, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from layadesk.ui.markup.back_thread import Beside

log = logging.getLogger(__name__)

MAX_TEX = 2_000
MAX_SIDE = 4_000.0
N_KEPT = 512
SIZE_PX = 16.0  # of the letters; the font of formulas looks smaller than that of the text


@dataclass(frozen=True, slots=True)
class Drawn:
    """A formula as SVG. `depth` is how far it reaches below the line of the text; device-independent pixels."""

    svg: bytes
    width: float
    height: float
    depth: float

    def image(self, colour: QColor, ratio: float, *, padding: float = 0.0) -> QImage:
        """The picture in one colour, `padding` pixels of nothing below it; `ratio` is device pixels per pixel."""
        size = QSizeF(self.width, self.height + padding) * ratio
        image = QImage(size.toSize(), QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        QSvgRenderer(QByteArray(self.svg)).render(painter, QRectF(0, 0, self.width * ratio, self.height * ratio))
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(image.rect(), colour)
        painter.end()
        image.setDevicePixelRatio(ratio)
        return image


class FormulaSource(Protocol):
    """Who has formulas: the window's shop, and in tests one that has none."""

    def find(self, tex: str, *, is_display: bool) -> Drawn | None:
        """The drawn formula where it is there already; None asks for it."""
        ...


class Formulas(QObject):
    """GUI thread. `find` answers at once; what is not there yet is drawn, and `drawn` tells.

    Signals:
        drawn: formulas asked for are there now.
    """

    drawn = Signal()

    def __init__(self, beside: Beside, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._beside = beside
        self._found: OrderedDict[tuple[str, bool], Drawn | None] = OrderedDict()
        self._asked: set[tuple[str, bool]] = set()

    def find(self, tex: str, *, is_display: bool) -> Drawn | None:
        """The drawn formula; None where it is being drawn, or cannot be."""
        key = (tex, is_display)
        if key in self._found:
            self._found.move_to_end(key)
            return self._found[key]
        if key not in self._asked and len(tex) <= MAX_TEX:
            self._asked.add(key)
            self._beside.run(partial(_draw, key), self._on_drawn)
        return None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being drawn."""
        return not self._asked

    def _on_drawn(self, result: tuple[tuple[str, bool], Drawn | None]) -> None:
        key, formula = result
        self._asked.discard(key)
        self._found[key] = formula
        while len(self._found) > N_KEPT:
            self._found.popitem(last=False)
        if formula is not None:
            self.drawn.emit()


def _draw(key: tuple[str, bool]) -> tuple[tuple[str, bool], Drawn | None]:
    """Runs on the thread of the formulas. The library brings its own font and needs no file of the system."""
    tex, is_display = key
    try:
        maker = _library()
        formula = maker(tex, size=SIZE_PX, inline=not is_display)
        svg, (width, height), depth = formula.svg(), formula.getsize(), -formula.getyofst()
    except Exception as error:  # noqa: BLE001 - whatever a stranger's formula does to the library, it stays text
        log.debug("not a formula: %s", type(error).__name__)
        return key, None
    if not 0 < width <= MAX_SIDE or not 0 < height <= MAX_SIDE:
        return key, None
    view = QSvgRenderer(QByteArray(svg.encode())).defaultSize()
    return key, Drawn(svg.encode(), float(view.width()), float(view.height()), max(float(depth), 0.0))


def _library() -> Callable[..., Any]:
    import ziamath  # noqa: PLC0415 - 0.15 s, for those who have formulas

    ziamath.config.svg2 = False  # Qt reads SVG 1.1
    return ziamath.Latex  # type: ignore[no-any-return]
