"""Approved pictures: one sheet for each scene, with a row for each theme and a column for each language."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from PySide6.QtGui import QColor, QImage

from tests.screens.compare import Pixels, pixels_of, shrunk
from tests.screens.take import LANGUAGES, REPORT, THEMES, Report, picture_name

APPROVED: Final = Path(__file__).parent / "approved"
FONTS: Final = APPROVED / "fonts.json"
N_COLOURS: Final = 256


def approve(folder: Path) -> None:
    """Make the pictures in `folder`, at full size, those that are compared with."""
    report = Report.read(folder / REPORT)
    APPROVED.mkdir(exist_ok=True)
    for scene in sorted({name.rsplit("-", 2)[0] for name in report.found}):
        _sheet(folder, scene).save(str(APPROVED / f"{scene}.png"))
    FONTS.write_text(json.dumps(report.fonts, indent=1) + "\n", encoding="utf-8")


def cells(page: str, state: str) -> Iterator[tuple[str, Pixels]]:
    """Name and pixels of each picture on an approved sheet; nothing where there is no sheet."""
    sheet = QImage(str(APPROVED / f"{page}-{state}.png"))
    if sheet.isNull():
        return
    whole = pixels_of(sheet)
    height, width = whole.shape[0] // len(THEMES), whole.shape[1] // len(LANGUAGES)
    for row, theme in enumerate(THEMES):
        for column, language in enumerate(LANGUAGES):
            part = whole[row * height : (row + 1) * height, column * width : (column + 1) * width]
            yield picture_name(page, state, theme, language), np.ascontiguousarray(part)


def _sheet(folder: Path, scene: str) -> QImage:
    rows = []
    for theme in THEMES:
        small = (shrunk(QImage(str(folder / f"{scene}-{theme}-{language}.png"))) for language in LANGUAGES)
        rows.append(np.concatenate([pixels_of(one) for one in small], axis=1))
    return _indexed(np.concatenate(rows))


def _indexed(pixels: Pixels) -> QImage:
    """One byte a pixel: what is left of the colours is few; of more than N_COLOURS the rare ones take the nearest."""
    colours, places, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:N_COLOURS]
    distance = np.abs(colours[:, None, :].astype(np.int16) - colours[None, kept, :].astype(np.int16)).sum(axis=2)
    nearest = distance.argmin(axis=1).astype(np.uint8)
    height, width = pixels.shape[:2]
    image = QImage(width, height, QImage.Format.Format_Indexed8)
    image.setColorTable([QColor(*(int(part) for part in colour)).rgb() for colour in colours[kept]])
    rows = np.frombuffer(image.bits(), np.uint8).reshape(height, image.bytesPerLine())
    rows[:, :width] = nearest[places].reshape(height, width)
    return image
