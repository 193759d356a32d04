"""About: reached from the options, says version, folder and licences, and can be copied."""

import re
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from layadesk import __version__
from layadesk.ui.shell.about_dialog import AboutDialog
from tests.ui.conftest import Stage


def about_of(stage: Stage) -> AboutDialog:
    """The window as a user gets it: the last entry of the options."""
    menu = stage.window.side_bar.options.menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    menu.actions()[-1].trigger()
    dialog = stage.window.findChild(AboutDialog)
    assert dialog is not None
    return dialog


def test_it_says_what_this_is_and_of_what_under_which_licence(stage: Stage, tmp_path: Path) -> None:
    dialog = about_of(stage)
    dialog.copy.click()
    said = QGuiApplication.clipboard().text()
    assert f"LayaDesk {__version__}" in said
    assert str(stage.house.use_cases.about.data_dir) in said
    assert "GNU LGPL" in said
    lines = dialog.parts.toPlainText().splitlines()
    assert any(line.lower().startswith("pyside6") and "LGPL" in line for line in lines)
    assert any(re.match("llama.cpp.python .* MIT$", line) for line in lines)


def test_escape_closes_it(stage: Stage) -> None:
    dialog = about_of(stage)
    dialog.reject()
    assert not dialog.isVisible()
