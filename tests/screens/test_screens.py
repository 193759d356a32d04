"""Every page in every state, theme and language as somebody has looked at it and found it good.

After a change that is meant: `python -m tests.screens.take FOLDER --approve`, and look at the pictures in FOLDER.
"""

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage

from tests.screens.compare import SCALE, TILE, Pixels, is_alike, other_tiles, pixels_of
from tests.screens.scenes import SCENES
from tests.screens.sheets import APPROVED, FONTS, cells
from tests.screens.take import REPORT, Report, picture_name, take_in_own_process

pytestmark = [pytest.mark.window, pytest.mark.timeout(300)]

STATES = {"empty", "full", "failing"}
PAGES = {"chat", "welcome", "monitor", "models", "routes", "settings", "server", "health", "inside", "about"}
SCALES = ("1.25", "2")
MAX_BYTES = 2 * 2**20
scenes = pytest.mark.parametrize(("page", "state"), list(SCENES), ids=str)


@dataclass(frozen=True)
class Taken:
    folder: Path
    report: Report

    def pixels(self, name: str) -> Pixels:
        return pixels_of(QImage(str(self.folder / f"{name}.png")))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Taken]]]:
    """All pictures, and a look at the larger scales, side by side in processes of their own."""

    def run(scale: str) -> Taken:
        folder = tmp_path_factory.mktemp("screens")
        take_in_own_process(folder, "--small" if scale == "1" else "--only-looks", scale=scale)
        return Taken(folder, Report.read(folder / REPORT))

    with ThreadPoolExecutor() as pool:
        yield {scale: pool.submit(run, scale) for scale in ("1", *SCALES)}


@pytest.fixture(scope="module")
def taken(runs: dict[str, Future[Taken]]) -> Taken:
    """All pictures."""
    return runs["1"].result()


def test_every_page_has_every_state() -> None:
    assert {(page, state) for page in PAGES for state in STATES} <= set(SCENES)


@scenes
def test_nothing_is_cut_overlapping_nameless_or_left_in_english(taken: Taken, page: str, state: str) -> None:
    found = {name: wrong for name, wrong in taken.report.found.items() if name.startswith(f"{page}-{state}-") and wrong}
    assert found == {}


@pytest.mark.parametrize("scale", SCALES)
def test_at_every_scale_full_pages_are_whole_in_the_smallest_window(runs: dict[str, Future[Taken]], scale: str) -> None:
    """Reported faults J08, J09."""
    found = runs[scale].result().report.found
    assert len(found) == len(PAGES) * 3
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@scenes
def test_it_looks_as_it_was_approved(taken: Taken, page: str, state: str) -> None:
    fonts = json.loads(FONTS.read_text(encoding="utf-8"))
    if taken.report.fonts != fonts:
        pytest.skip(f"approved with the fonts {fonts}, here are {taken.report.fonts}; only its layout was checked")
    approved = dict(cells(page, state))
    assert len(approved) == 6
    other = {
        name: [(left * SCALE, top * SCALE) for left, top in other_tiles(pixels, taken.pixels(name))]
        for name, pixels in approved.items()
        if not is_alike(pixels, taken.pixels(name))
    }
    assert other == {}, "these places look different; see the top of this file"


def test_a_button_that_is_gone_is_seen() -> None:
    name, approved = next(iter(cells("welcome", "full")))
    assert name == picture_name("welcome", "full", "light", "en")
    without = approved.copy()
    top, left = (int(one) for one in np.argwhere((approved == (32, 96, 208)).all(axis=2))[0])
    without[top : top + 28 // SCALE, left : left + 120 // SCALE] = approved[-60, -60]
    assert not is_alike(approved, without)


def test_text_that_is_moved_by_a_line_is_seen_and_other_shades_are_not() -> None:
    _, approved = next(iter(cells("chat", "full")))
    assert not is_alike(approved, np.roll(approved, 20 // SCALE, axis=0))
    softer = approved.astype(np.int16) + np.random.default_rng(1).integers(-6, 7, approved.shape)
    assert is_alike(approved, softer.clip(0, 255).astype(np.uint8))
    assert not is_alike(approved, approved[:, :-TILE])


def test_the_approved_pictures_are_light() -> None:
    assert sum(file.stat().st_size for file in APPROVED.iterdir()) < MAX_BYTES
