"""Contrast from the tokens, and light and dark following settings and system."""

import re
from dataclasses import fields
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon, QPalette, QPixmap
from PySide6.QtWidgets import QApplication

from layadesk.paths import assets_dir
from layadesk.ui.theme import icons
from layadesk.ui.theme.palette import current_colours, ink
from layadesk.ui.theme.style import style_sheet
from layadesk.ui.theme.theme import Theme
from layadesk.ui.theme.tokens import DARK, LIGHT, Colours, Ink
from tests.ui.conftest import Stage

UI = Path(icons.__file__).resolve().parents[1]
TEXTS = ("text", "muted", "accent", "ok", "warn", "danger")
GROUNDS = ("background", "surface", "raised")


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_of_black_and_white_is_21() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)


@pytest.mark.parametrize(
    ("theme", "text", "ground"), list(product((LIGHT, DARK), TEXTS, GROUNDS)), ids=lambda one: getattr(one, "text", one)
)
def test_every_text_can_be_read_on_every_ground(theme: Colours, text: str, ground: str) -> None:
    assert contrast(getattr(theme, text), getattr(theme, ground)) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_on_the_accent_can_be_read(theme: Colours) -> None:
    assert contrast(theme.on_accent, theme.accent) >= 4.5


@pytest.mark.parametrize(("theme", "token"), list(product((LIGHT, DARK), ("accent", "others"))), ids=str)
def test_curves_and_bars_stand_out_from_their_ground(theme: Colours, token: str) -> None:
    """3:1 is what graphics need; what is free is drawn empty on purpose."""
    for ground in ("background", "surface"):
        assert contrast(getattr(theme, token), getattr(theme, ground)) >= 3.0


def test_nothing_outside_the_tokens_names_a_colour() -> None:
    named = re.compile(r"[\"' ]#[0-9A-Fa-f]{3,8}\b")
    found = [
        f"{path.relative_to(UI)}: {line.strip()}"
        for path in sorted(UI.rglob("*.py"))
        if path.name != "tokens.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if named.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_style_sheet_is_filled_in(theme: Colours) -> None:
    assert "$" not in style_sheet(theme)


def test_the_setting_decides_and_the_system_is_followed_where_it_says_so(qapp: QApplication) -> None:
    theme = Theme(qapp)
    theme.use("dark")
    assert current_colours() is DARK
    assert qapp.palette().color(QPalette.ColorRole.Text).name().upper() == DARK.text
    theme.use("light")
    assert current_colours() is LIGHT
    theme.use("system")
    is_dark = qapp.styleHints().colorScheme() is Qt.ColorScheme.Dark
    assert current_colours() is (DARK if is_dark else LIGHT)
    theme.deleteLater()


def test_a_change_of_the_system_is_followed_while_the_window_is_open(stage: Stage, qapp: QApplication) -> None:
    stage.appearance.choose_theme("system")
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert current_colours() is DARK
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert current_colours() is LIGHT
    stage.appearance.choose_theme("light")
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert current_colours() is LIGHT


def test_icons_take_the_colours_of_the_theme(stage: Stage) -> None:
    button = stage.window.panel_button

    def drawn() -> set[str]:
        image = button.icon().pixmap(button.iconSize()).toImage()
        pixels = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
        return {pixel.name().upper() for pixel in pixels if pixel.alpha() == 255}

    assert LIGHT.muted in drawn()
    stage.appearance.choose_theme("dark")
    assert DARK.muted in drawn()
    stage.appearance.choose_theme("light")


@pytest.mark.parametrize("path", sorted((assets_dir() / "icons").glob("*.svg")), ids=lambda path: path.stem)
def test_icons_are_one_line_set_in_the_colour_of_their_place(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    if path.stem == "layadesk":  # the program's own mark
        return
    assert 'viewBox="0 0 20 20"' in source
    assert 'stroke="currentColor"' in source
    assert 'stroke-width="1.5"' in source
    assert not re.search(r"#[0-9A-Fa-f]{3,6}", source)


def test_icons_are_sharp_at_every_scale(qapp: QApplication) -> None:
    """Reported faults J08, J09: as many pixels as the screen has, never one picture blown up."""
    for ratio in (1.0, 1.25, 1.5, 2.0, 3.0):
        pixmap = icons.icon_pixmap("send", Ink.TEXT, ratio=ratio)
        assert pixmap.width() == round(16 * ratio)
        assert pixmap.devicePixelRatio() == ratio


def test_an_icon_can_be_copied_and_changed(qapp: QApplication) -> None:
    """An icon engine written in Python crashed the interpreter here (PySide6 6.11.3)."""
    for _ in range(50):
        copy = QIcon(icons.icon("send"))
        copy.addPixmap(QPixmap(4, 4))
        assert not copy.pixmap(16, 16).isNull()


def test_every_meaning_has_a_colour_in_both_themes() -> None:
    names = {field.name for field in fields(Colours)}
    assert {meaning.value for meaning in Ink} <= names
    assert ink(Ink.DANGER).name().upper() in {LIGHT.danger, DARK.danger}
