"""A thin bar of shares: ours, others, free. Its labels stand beside it, so colour is never alone."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.ui.theme.palette import current_colours
from layadesk.ui.theme.tokens import METER_HEIGHT


class MeterBar(QWidget):
    """Shows `(token, fraction)` shares from the left; what is left is free, drawn empty."""

    def __init__(self, parent: QWidget | None = None, *, height: int = METER_HEIGHT) -> None:
        super().__init__(parent)
        self._shares: tuple[tuple[str, float], ...] = ()
        self._height = height
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_shares(self, shares: Sequence[tuple[str, float]]) -> None:
        """`token` names a colour of `Colours`; fractions are cut to what is left of 1."""
        left = 1.0
        kept: list[tuple[str, float]] = []
        for token, fraction in shares:
            share = min(max(fraction, 0.0), left)
            left -= share
            kept.append((token, share))
        if tuple(kept) != self._shares:
            self._shares = tuple(kept)
            self.update()

    def shares(self) -> tuple[tuple[str, float], ...]:
        """What is drawn."""
        return self._shares

    def sizeHint(self) -> QSize:
        return QSize(80, self._height)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = current_colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = QRectF(self.rect())
        outline = QPainterPath()
        outline.addRoundedRect(bar, bar.height() / 2, bar.height() / 2)
        painter.setClipPath(outline)
        painter.fillRect(bar, QColor(colours.border))
        x = 0.0
        for token, share in self._shares:
            width = share * bar.width()
            painter.fillRect(QRectF(x, 0.0, width, bar.height()), QColor(str(getattr(colours, token))))
            x += width
            if share > 0.0 and x < bar.width():
                # a hairline between two shares, for those who do not tell the two colours apart
                painter.fillRect(QRectF(x - 0.5, 0.0, 1.0, bar.height()), QColor(colours.surface))
        painter.end()
