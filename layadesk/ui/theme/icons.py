"""Line icons from `assets/icons`, drawn sharp at every scale and tinted by the theme.

Plain pixmaps on purpose: a QIconEngine written in Python crashes the interpreter when Qt copies it (PySide6 6.11.3:
what its `clone` returns is freed at once). So icons are made anew when the theme changes, see `renew_icons`.
"""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QApplication

from layadesk.paths import assets_dir
from layadesk.ui.theme.palette import ink
from layadesk.ui.theme.tokens import ICON_PX, Ink

_RATIOS = (1.0, 1.25, 1.5, 1.75, 2.0, 3.0)
_DISABLED_OPACITY = 0.55
_NAME, _INK = "icon_name", "icon_ink"


def icon(name: str, meaning: Ink = Ink.MUTED) -> QIcon:
    """The icon `assets/icons/<name>.svg` in the colour `meaning` has now."""
    return _icon(name, ink(meaning).name(), ink(Ink.MUTED).name())


def icon_pixmap(name: str, meaning: Ink, *, ratio: float) -> QPixmap:
    """The same for a label; `ratio` is device pixels per pixel."""
    return _draw(name, ink(meaning).name(), ratio)


def application_icon() -> QIcon:
    """The mark of the program, in its own colours."""
    drawn = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        drawn.addPixmap(_draw("layadesk", "", 1.0, size=size))
    return drawn


def set_icon(button: QAbstractButton, name: str, meaning: Ink = Ink.MUTED) -> None:
    """Give a button an icon that follows the theme."""
    button.setProperty(_NAME, name)
    button.setProperty(_INK, meaning.value)
    button.setIcon(icon(name, meaning))


def renew_icons() -> None:
    """Draw the icons of all buttons in the colours of the theme in force."""
    for widget in QApplication.allWidgets():
        name = widget.property(_NAME)
        if isinstance(name, str) and isinstance(widget, QAbstractButton):
            widget.setIcon(icon(name, Ink(str(widget.property(_INK)))))


@lru_cache(maxsize=256)
def _icon(name: str, colour: str, muted: str) -> QIcon:
    drawn = QIcon()
    for ratio in _RATIOS:
        pixmap = _draw(name, colour, ratio)
        drawn.addPixmap(pixmap, QIcon.Mode.Normal)
        drawn.addPixmap(_faded(_draw(name, muted, ratio)), QIcon.Mode.Disabled)
    return drawn


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return (assets_dir() / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def _draw(name: str, colour: str, ratio: float, *, size: int = ICON_PX) -> QPixmap:
    pixels = round(size * ratio)
    pixmap = QPixmap(pixels, pixels)
    pixmap.fill(QColor(Qt.GlobalColor.transparent))
    painter = QPainter(pixmap)
    svg = QSvgRenderer(QByteArray(_source(name).replace("currentColor", colour).encode()))
    svg.render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def _faded(pixmap: QPixmap) -> QPixmap:
    faded = QPixmap(pixmap.size())
    faded.setDevicePixelRatio(pixmap.devicePixelRatio())
    faded.fill(QColor(Qt.GlobalColor.transparent))
    painter = QPainter(faded)
    painter.setOpacity(_DISABLED_OPACITY)
    painter.drawPixmap(0, 0, pixmap)
    painter.end()
    return faded
