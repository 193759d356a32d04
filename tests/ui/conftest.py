"""Widget tests: a window without a screen over fake use cases, and nothing left behind."""

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import gc
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from layadesk.ui.language import Language
from layadesk.ui.theme.theme import Theme
from tests.fakes.shown_window import ShownWindow, shown_window
from tests.fakes.usecases import House


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    """pytest-qt makes the application with these."""
    return ["layadesk"]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """What is behind the window."""
    house = House(tmp_path)
    yield house
    house.close()


@dataclass
class Stage(ShownWindow):
    """A shown window and what is behind it."""

    qtbot: QtBot

    def wait_until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition)


@pytest.fixture
def stage(house: House, qapp: QApplication, qtbot: QtBot) -> Iterator[Stage]:
    """The whole window, shown, English, light."""
    language, theme = Language(qapp), Theme(qapp)
    shown = shown_window(house, language=language, theme=theme, size=(1200, 780))
    stage = Stage(shown.house, shown.window, shown.bridge, shown.appearance, qtbot)
    qtbot.addWidget(stage.window)
    qtbot.waitExposed(stage.window)
    stage.window.panel_button.setChecked(True)  # this platform's screen is too narrow for it at the start
    stage.settle()
    yield stage
    stage.window.closing.asks = False
    stage.window.close()
    house.close()
    stage.bridge.close()
    language.use("en")
    theme.deleteLater()


@pytest.fixture(autouse=True)
def nothing_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test with widgets: no top-level widget, no running timer, no thread that was not there before."""
    if "qtbot" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("qtbot")  # so that it has closed its widgets before this looks
    threads_before = set(threading.enumerate())
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    left = [widget for widget in QApplication.topLevelWidgets() if shiboken6.isValid(widget)]
    assert not left, f"widgets left: {left}"
    timers = [one for one in gc.get_objects() if isinstance(one, QTimer)]
    assert not [one for one in timers if shiboken6.isValid(one) and one.isActive()], "a timer still runs"
    threads = set(threading.enumerate()) - threads_before
    assert not [one for one in threads if one.is_alive() and one.name != "chart-import"], f"threads left: {threads}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What Qt's screenless platform says about every window with a smallest size is no fault of ours."""
    for item in items:
        if item.path.parent.name == "ui":
            item.add_marker(pytest.mark.qt_log_ignore("^This plugin does not support (propagateSizeHints|raise)"))
