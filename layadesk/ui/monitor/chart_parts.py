"""What a chart shows, as values, and where it lies. Imports numpy, see `curve_store.py`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRectF, Qt

from layadesk.ui.monitor.curve_store import Floats

LANE_GAP: Final = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """The room between two edges; `x` as in a Curve, NaN in `top` a gap."""

    x: Floats
    bottom: Floats
    top: Floats
    is_hatched: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """`x` is seconds ago (≤ 0), `y` 0–1 of its lane, NaN a gap. `fill` lies behind it, in its colour."""

    x: Floats
    y: Floats
    token: str
    style: Qt.PenStyle = Qt.PenStyle.SolidLine
    fill: Fill | None = None


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


@dataclass(frozen=True, slots=True)
class Room:
    """A chart's size and how far back it goes; pixels count from its upper left corner."""

    window_s: float
    width: int
    height: int

    def rect(self) -> QRectF:
        """All of it."""
        return QRectF(0, 0, self.width, self.height)

    def x(self, ago: float) -> float:
        """The pixel of a moment."""
        return (1.0 + ago / self.window_s) * self.width

    def ago(self, x: float) -> float:
        """The moment of a pixel, inside the window."""
        return min(max((x / max(self.width, 1) - 1.0) * self.window_s, -self.window_s), 0.0)

    def lanes(self, n_lanes: int) -> Iterator[QRectF]:
        """Where the curves of each lane lie, from top to bottom; above each but the first is LANE_GAP."""
        height = (self.height - LANE_GAP * (n_lanes - 1)) / max(n_lanes, 1)
        for place in range(n_lanes):
            yield QRectF(0, place * (height + LANE_GAP) + 1, self.width, height - 2)
