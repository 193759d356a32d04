"""Whether two pictures are alike enough: the same fonts draw nearly the same pixels, a cut or moved part does not."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

Pixels = NDArray[np.uint8]

SCALE: Final = 4  # approved pictures are that much smaller
TILE: Final = 12  # pixels of the small picture
LEVELS: Final = 10  # a tile that differs by more, of 255, on average
KEPT_BITS: Final = np.uint8(0xF0)  # of each colour; what lies below makes pictures heavy and shows nothing
N_TILES: Final = 2  # so many may, where letters fall between two pixels


def shrunk(picture: QImage) -> QImage:
    """As it is compared."""
    small = picture.scaled(
        max(picture.width() // SCALE, 1),
        max(picture.height() // SCALE, 1),
        Qt.AspectRatioMode.IgnoreAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    )
    return small.convertToFormat(QImage.Format.Format_RGB32)


def pixels_of(picture: QImage) -> Pixels:
    """Rows, columns, red-green-blue, without the finest shades."""
    plain = picture.convertToFormat(QImage.Format.Format_RGBA8888)
    flat = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return flat[:, : plain.width() * 4].reshape(plain.height(), plain.width(), 4)[..., :3] & KEPT_BITS


def other_tiles(approved: Pixels, taken: Pixels) -> list[tuple[int, int]]:
    """Column and row (pixels) of each tile that looks different; the whole picture where the sizes differ."""
    if approved.shape != taken.shape:
        return [(0, 0)] * (N_TILES + 1)
    difference = np.abs(approved.astype(np.int16) - taken.astype(np.int16)).max(axis=2)
    found = []
    for top in range(0, difference.shape[0], TILE):
        for left in range(0, difference.shape[1], TILE):
            if difference[top : top + TILE, left : left + TILE].mean() > LEVELS:
                found.append((left, top))
    return found


def is_alike(approved: Pixels, taken: Pixels) -> bool:
    """With tolerance."""
    return len(other_tiles(approved, taken)) <= N_TILES
