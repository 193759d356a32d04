"""The machine beside a real chat: bands of load, prefill and decode behind the curves, in light and in dark."""

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from layadesk.ui.theme.tokens import DARK, LIGHT, PHASE_INK, Colours
from tests.fakes.window_program import SIZE, WindowProgram, wait_for, window_program

pytestmark = [pytest.mark.window, pytest.mark.llama]

KEEP = "LAYADESK_KEEP_SCREENS"  # a directory: where `assets/screens/` is made anew
WINDOW = (0, 0, 1200, 780)
PANEL_X = 910  # where the right column begins
BAND_ALPHA = 40
LONG_ADVICE = "Answer in short sentences. Be kind. Give an example where one helps. " * 30


def blended(phase: str, colours: Colours) -> QColor:
    """A band over the surface of a chart."""
    band, ground = QColor(str(getattr(colours, PHASE_INK[phase].value))), QColor(colours.surface)
    share = BAND_ALPHA / 255
    mixed = [round(a * share + b * (1 - share)) for a, b in zip(rgb(band), rgb(ground), strict=True)]
    return QColor(*mixed)


def rgb(colour: QColor) -> tuple[int, int, int]:
    """Its three parts."""
    return colour.red(), colour.green(), colour.blue()


def n_pixels(pixels: NDArray[np.int16], wanted: QColor) -> int:
    """How many pixels of the right column have this colour, give or take rounding."""
    column = pixels[:, PANEL_X : WINDOW[2]]
    return int((np.abs(column - np.array(rgb(wanted))) <= 2).all(axis=2).sum())


def bands_on_screen(program: WindowProgram, file: Path, colours: Colours) -> dict[str, int]:
    """Pixels of each band in a picture of the window."""
    program.screenshot(file, WINDOW)
    image = QImage(str(file)).convertToFormat(QImage.Format.Format_RGBA8888)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)[..., :3]
    return {
        phase: n_pixels(pixels.astype(np.int16), blended(phase, colours)) for phase in ("loading", "prefill", "decode")
    }


@pytest.mark.parametrize(("theme", "colours"), [("light", LIGHT), ("dark", DARK)], ids=["light", "dark"])
def test_what_the_expert_does_is_seen_behind_the_curves(
    display: str, starter_data: Path, tmp_path: Path, theme: str, colours: Colours
) -> None:
    settings = starter_data / "settings.json"
    values = {"sampling.max_tokens": 260, "ui.theme": theme, "chat.system_prompt": LONG_ADVICE}
    settings.write_text(json.dumps({"schema": 1, "values": values}), encoding="utf-8")
    screen = tmp_path / "machine.png"
    with window_program(display, starter_data) as program:
        program.wait_until_shown()
        program.type("Write a long story about a fox and the sea.")
        program.press("Return")
        program.wait_answer(0, "streaming")
        wait_for(lambda: bool(program.answers()[0][1]), "the first words")
        found: dict[str, int] = {}

        def all_bands() -> bool:
            found.update(bands_on_screen(program, screen, colours))
            is_seen = all(n > 40 for n in found.values())
            return is_seen or threading.Event().wait(0.5)  # a picture a second is enough

        wait_for(all_bands, f"all bands on screen: {found}")
        if os.environ.get(KEEP):
            threading.Event().wait(8.0)  # with some of the answer
            program.screenshot(Path(os.environ[KEEP]) / f"machine-{theme}.png", WINDOW)
        assert SIZE[0] >= WINDOW[2]
        assert program.quit() == 0
