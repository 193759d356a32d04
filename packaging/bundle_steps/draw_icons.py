"""Run by the environment's Python: draws the icon of the program in all sizes. `draw_icons.py ICON.svg FOLDER SIZES...`

PNGs for Linux, an .ico for Windows and an .icns for macOS, by Qt's SVG renderer (Qt is there anyway) and Pillow, which
writes both container formats on every system.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

_ICO_SIZES = (16, 24, 32, 48, 64, 256)


def main(svg: Path, folder: Path, sizes: tuple[int, ...]) -> None:
    """Writes SIZE.png for each size, layadesk.ico and layadesk.icns into `folder`."""
    app = QGuiApplication([])
    renderer = QSvgRenderer(str(svg))
    if not renderer.isValid():
        raise SystemExit(f"{svg} is no SVG")
    folder.mkdir(parents=True, exist_ok=True)
    for size in sizes:
        picture = QImage(size, size, QImage.Format.Format_ARGB32)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        renderer.render(painter)
        painter.end()
        if not picture.save(str(folder / f"{size}.png")):
            raise SystemExit(f"{folder / f'{size}.png'} could not be written")
    largest = Image.open(folder / f"{max(sizes)}.png")
    largest.save(folder / "layadesk.ico", sizes=[(size, size) for size in _ICO_SIZES])
    largest.save(folder / "layadesk.icns")
    del app


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), tuple(int(size) for size in sys.argv[3:]))
