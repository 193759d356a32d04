"""Takes all pictures: one window for each scene, which then goes through all languages and colours.

`python -m tests.screens.take FOLDER [--only PAGE] [--approve]`; it starts an Xvfb of its own.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.fakes.window_program import REPO, x_server
from tests.screens.compare import shrunk

REPORT: Final = "report.json"
LANGUAGES: Final = ("en", "zh_CN", "pseudo")
THEMES: Final = ("light", "dark")
SCREEN: Final = (1920, 3000)
SMALLEST: Final = (900, 600)
HERE: Final = "--here"
MOST_LOOKS: Final = 8
# The same in all languages.
NAMES: Final = """A model of the tests, LayaDesk, SmolLM, Coder, Four, Huge, English, Closed, Laya multilingual, CUDA,
llama.cpp, sort.rs, rust, curl, Python, aider, GiB, MiB, ms, Ctrl, PgUp, PgDown, End, Del, Esc"""


@dataclass
class Report:
    """`fonts` are those that drew the pictures; `found` is what an eye would find wrong, by picture."""

    fonts: dict[str, str] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=dict)

    def save(self, file: Path) -> None:
        """As JSON."""
        file.write_text(json.dumps({"fonts": self.fonts, "found": self.found}, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> "Report":
        """What `save` wrote."""
        return cls(**json.loads(file.read_text(encoding="utf-8")))


def picture_name(page: str, state: str, theme: str, language: str) -> str:
    """Without the suffix."""
    return f"{page}-{state}-{theme}-{language}"


def take_in_own_process(folder: Path, *arguments: str, scale: str = "1") -> None:
    """On a virtual screen large enough for every scene. Raises CalledProcessError."""
    with x_server(SCREEN) as display:
        environ = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "TZ": "UTC", "QT_SCALE_FACTOR": scale}
        command = [sys.executable, "-m", "tests.screens.take", str(folder), HERE, *arguments]
        subprocess.run(command, cwd=REPO, env=environ, check=True, timeout=300)


class Camera:
    """Inside the process with the screen. `is_small`: as they are compared, and not as large as they are.

    `only_looks` takes none, and finds what is wrong in the smallest window.
    """

    def __init__(self, folder: Path, *, is_small: bool, only_looks: bool) -> None:
        from PySide6.QtGui import QFontInfo

        from layadesk.ui import application
        from layadesk.ui.language import Language
        from layadesk.ui.theme.fonts import code_font, control_font
        from layadesk.ui.theme.theme import Theme
        from tests.ui.pseudo import Pseudo

        self._folder, self._is_small, self._only_looks = folder, is_small, only_looks
        self._themes = list(THEMES[:1] if only_looks else THEMES)
        self._app = application.make_application()
        self._app.setCursorFlashTime(0)
        self._language, self._theme, self._pseudo = Language(self._app), Theme(self._app), Pseudo()
        self.report = Report(
            {
                "controls": QFontInfo(control_font()).family(),
                "code": QFontInfo(code_font()).family(),
                "chinese": chinese_family(),
                "dots per inch": str(round(self._app.primaryScreen().logicalDotsPerInch())),
            }
        )

    def take(self, page: str, state: str) -> None:
        """The six pictures of one scene."""
        from PySide6.QtCore import QEvent

        from tests.fakes.shown_window import shown_window
        from tests.fakes.usecases import House
        from tests.screens.scenes import SCENES

        scene = SCENES[page, state]
        with tempfile.TemporaryDirectory() as root:
            house = House(Path(root))
            scene.furnish(house)
            size = SMALLEST if self._only_looks else scene.size
            shown = shown_window(house, language=self._language, theme=self._theme, size=size, colours=self._themes[0])
            shown.window.panel_button.setChecked(False)
            shown.settle()
            scene.act(shown)
            for theme, language in self._variants(shown):
                if scene.is_fresh:
                    scene.act(shown)
                self._expose(shown, picture_name(page, state, theme, language))
            shown.window.closing.asks = False
            shown.window.close()
            shown.bridge.close()
            house.close()
            shown.window.deleteLater()
            self._app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def _variants(self, shown: Any) -> Iterator[tuple[str, str]]:
        """To change the colours of a whole window takes longest, so the next scene begins with those of the last."""
        for theme in self._themes:
            shown.appearance.choose_theme(theme)
            for language in LANGUAGES:
                shown.appearance.choose_language("en" if language == "pseudo" else language)
                if language == "pseudo":
                    self._app.installTranslator(self._pseudo)
                yield theme, language
            self._app.removeTranslator(self._pseudo)
        self._themes.reverse()

    def _expose(self, shown: Any, name: str) -> None:
        self._wait_for_markup(shown)
        shown.settle()
        if (focus := self._app.focusWidget()) is not None:
            focus.clearFocus()  # without a window manager nobody knows who has it
            self._app.processEvents()
        picture = self._still_picture(shown.window)
        if not self._only_looks:
            (shrunk(picture) if self._is_small else picture).save(str(self._folder / f"{name}.png"))
        self.report.found[name] = wrong_in(self._app.activeModalWidget() or shown.window, name)

    def _still_picture(self, window: Any) -> Any:
        """When two in a row are the same: one layout may ask for another."""
        before = None
        for _ in range(MOST_LOOKS):
            self._app.processEvents()
            place = (window.x(), window.y(), window.width(), window.height())
            picture = self._app.primaryScreen().grabWindow(0, *place).toImage()
            if picture == before:
                break
            before = picture
        return picture

    def _wait_for_markup(self, shown: Any) -> None:
        """Formulas and colours of code come from a thread of their own."""
        done: list[None] = []
        shown.window.page.beside.run(lambda: None, done.append)
        shown.wait_until(lambda: bool(done))


def wrong_in(window: Any, name: str) -> list[str]:
    """What an eye would find, or somebody who has the screen read out."""
    from tests.ui.looks import cut_texts, nameless, overlaps, untranslated

    found = [*cut_texts(window), *overlaps(window), *nameless(window)]
    if name.endswith("pseudo"):
        found += untranslated(window, set(re.findall(r"\w+", NAMES)))
    return found


def chinese_family() -> str:
    """The family that Chinese text is drawn with; empty where there is none."""
    from PySide6.QtGui import QTextLayout

    from layadesk.ui.theme.fonts import control_font

    layout = QTextLayout("中", control_font())
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    runs = layout.glyphRuns()
    is_drawn = bool(runs) and all(runs[0].glyphIndexes())
    return runs[0].rawFont().familyName() if is_drawn else ""


def main() -> None:
    """Take, and approve where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--approve", action="store_true")
    for inside in ("--small", "--only-looks", HERE):
        parser.add_argument(inside, action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if not asked.here:
        take_in_own_process(asked.folder, "--only", asked.only)
        if asked.approve:
            from tests.screens.sheets import approve  # it needs Qt, which must not be brought in before the screen

            approve(asked.folder)
        return
    from tests.screens.scenes import SCENES

    camera = Camera(asked.folder, is_small=asked.small, only_looks=asked.only_looks)
    started = time.monotonic()
    for page, state in SCENES:
        if page.startswith(asked.only) and (state == "full" or not asked.only_looks):
            camera.take(page, state)
    camera.report.save(asked.folder / REPORT)
    print(f"{len(camera.report.found)} pictures in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
