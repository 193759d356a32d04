"""Reported faults J01, J02, J03: Chinese can be typed although Qt's wheels have no plugin for fcitx."""

from pathlib import Path

import pytest
from PySide6.QtCore import QLibraryInfo

from layadesk.ui.input_method import choose_input_method

QT_PLUGINS = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """As in PyPI's Qt."""
    folder = tmp_path / "platforminputcontexts"
    folder.mkdir()
    for name in ("ibus", "compose"):
        (folder / f"lib{name}platforminputcontextplugin.so").touch()
    return tmp_path


@pytest.mark.parametrize("asked", [{"QT_IM_MODULE": "fcitx"}, {"QT_IM_MODULES": "fcitx5;xim", "QT_IM_MODULE": "fcitx"}])
def test_a_method_without_a_plugin_is_reached_over_ibus_under_x11(plugins: Path, asked: dict[str, str]) -> None:
    choose_input_method(asked, [plugins], is_wayland=False)
    assert asked == {"QT_IM_MODULE": "ibus"}


def test_under_wayland_the_compositor_has_it(plugins: Path) -> None:
    environ = {"QT_IM_MODULE": "fcitx", "LANG": "zh_CN.UTF-8"}
    choose_input_method(environ, [plugins], is_wayland=True)
    assert environ == {"LANG": "zh_CN.UTF-8"}


@pytest.mark.parametrize(
    "asked", [{}, {"QT_IM_MODULE": "ibus"}, {"QT_IM_MODULES": "wayland;fcitx"}, {"QT_IM_MODULE": ""}]
)
def test_what_works_already_stays_as_it_is(plugins: Path, asked: dict[str, str]) -> None:
    before = dict(asked)
    choose_input_method(asked, [plugins], is_wayland=False)
    assert asked == before


def test_a_plugin_of_the_system_is_used(plugins: Path, tmp_path: Path) -> None:
    own = tmp_path / "system"
    (own / "platforminputcontexts").mkdir(parents=True)
    (own / "platforminputcontexts" / "libfcitx5platforminputcontextplugin.so").touch()
    environ = {"QT_IM_MODULE": "fcitx"}
    choose_input_method(environ, [plugins, own], is_wayland=False)
    assert environ == {"QT_IM_MODULE": "fcitx"}


def test_qt_brings_the_stand_in() -> None:
    folder = QT_PLUGINS / "platforminputcontexts"
    if not folder.is_dir():
        pytest.skip("Qt has input methods of its own here")
    assert list(folder.glob("libibus*"))
