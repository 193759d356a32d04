"""Widget tests: a window without a screen over fake use cases, and nothing left behind."""

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import gc
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.answer_view import AnswerView
from layadesk.ui.language import Language
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.shell.main_window import MainWindow
from layadesk.ui.theme.theme import Theme
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
class Stage:
    """A shown window and what is behind it."""

    house: House
    window: MainWindow
    bridge: Bridge
    qtbot: QtBot
    appearance: Appearance

    def send(self, text: str) -> str:
        """Write and send a message; returns the id of the running answer when it is on screen."""
        page = self.window.page
        before = set(self.house.books.running)
        page.composer.text_box.setPlainText(text)
        page.composer.text_box.submitted.emit()
        self.qtbot.waitUntil(lambda: len(self.house.books.running) > len(before))
        (message_id,) = set(self.house.books.running) - before
        self.qtbot.waitUntil(lambda: page.transcript.view_of(message_id) is not None)
        self.settle()
        return message_id

    def open(self, conversation_id: str) -> None:
        """Show a conversation and wait until it is there."""
        self.window.page.show_conversation(conversation_id)
        page = self.window.page
        self.qtbot.waitUntil(lambda: page.conversation.conversation_id == conversation_id)
        self.settle()

    def settle(self) -> None:
        """Wait until everything asked of the store has been answered on screen, and the transcript is built."""
        for _ in range(3):  # an answer on screen may ask the store again
            self.house.store.wait(lambda: None)
            self.house.engine.wait(lambda: None)
            self.qtbot.waitUntil(self._is_still)
            QApplication.processEvents()

    def _is_still(self) -> bool:
        return self.bridge.is_idle and self.window.page.transcript.is_settled

    def answer(self, message_id: str) -> AnswerView:
        """The view of an answer."""
        view = self.window.page.transcript.view_of(message_id)
        assert isinstance(view, AnswerView)
        return view


@pytest.fixture
def stage(house: House, qapp: QApplication, qtbot: QtBot) -> Iterator[Stage]:
    """The whole window, shown, English, light."""
    bridge = Bridge()
    house.settings.set("ui.language", "en")
    house.settings.set("ui.theme", "light")
    language, theme = Language(qapp), Theme(qapp)
    appearance = Appearance(house.settings, language=language, theme=theme)
    appearance.apply()
    window = MainWindow(house.use_cases, bridge=bridge, appearance=appearance)
    qtbot.addWidget(window)
    window.resize(1200, 780)
    window.show()
    qtbot.waitExposed(window)
    window.panel_button.setChecked(True)  # this platform's screen is too narrow for it at the start
    stage = Stage(house, window, bridge, qtbot, appearance)
    stage.settle()
    yield stage
    window.closing.asks = False
    window.close()
    house.close()
    bridge.close()
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
