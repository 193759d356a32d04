"""The real desk under real widgets in this process: the words on screen are read while children are killed."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from layadesk.app import Desk
from layadesk.domain.chat import MessageStatus
from layadesk.domain.worker_state import WorkerKind, WorkerState
from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.answer_view import AnswerView
from layadesk.ui.language import Language
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.shell.main_window import MainWindow
from layadesk.ui.shell.worker_banner import WorkerBanner
from layadesk.ui.theme.theme import Theme
from tests.fakes.window_program import PATIENCE_S
from tests.journeys.conftest import script

TOLD_WITHIN_S = 1.0
PATIENCE_MS = int(PATIENCE_S * 1000)
LONG_TEXT = "".join(f"{n:05d} " for n in range(5000))

pytestmark = [
    pytest.mark.logs_warnings,  # a crash is logged
    pytest.mark.qt_log_ignore("^This plugin does not support propagateSizeHints"),
]


@dataclass
class Screen:
    """A window over the real use cases with running children."""

    desk: Desk
    window: MainWindow
    qtbot: QtBot

    def wait(self, claim: str, is_true: object) -> None:
        """Wait until `is_true()`; `claim` says what is waited for."""
        assert callable(is_true), claim
        self.qtbot.waitUntil(lambda: bool(is_true()), timeout=PATIENCE_MS)

    def state(self, worker: WorkerKind) -> WorkerState:
        """Where a child stands."""
        return next(s.state for s in self.desk.use_cases.workers.statuses() if s.worker is worker)

    def kill(self, worker: WorkerKind) -> float:
        """SIGKILL a child; gives the moment."""
        pid = next(s.pid for s in self.desk.use_cases.workers.statuses() if s.worker is worker)
        assert pid is not None
        now = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        return now

    def send(self, text: str) -> None:
        """Write and send a message."""
        box = self.window.page.composer.text_box
        box.setPlainText(text)
        box.submitted.emit()

    def answers(self) -> list[AnswerView]:
        """The answers on screen, oldest first."""
        return sorted(self.window.findChildren(AnswerView), key=lambda view: view.y())

    def banner(self, worker: WorkerKind) -> str:
        """The words of a child's banner, empty while it is hidden."""
        banner = self.window.findChild(WorkerBanner, f"banner-{worker}")
        assert banner is not None
        return "" if banner.isHidden() else " ".join(label.text() for label in banner.findChildren(QLabel))


@pytest.fixture
def screen(qtbot: QtBot, qapp: QApplication, scripted_data: Path, tmp_path: Path) -> Iterator[Screen]:
    """An answer of it takes minutes."""
    desk = Desk(scripted_data, engine=script(tmp_path, text=LONG_TEXT, decode_tps=100.0))
    bridge = Bridge()
    language, theme = Language(qapp), Theme(qapp)
    desk.use_cases.settings.set("ui.language", "en")
    appearance = Appearance(desk.use_cases.settings, language=language, theme=theme)
    appearance.apply()
    window = MainWindow(desk.use_cases, bridge=bridge, appearance=appearance)
    qtbot.addWidget(window)
    window.show()
    desk.start()
    screen = Screen(desk, window, qtbot)
    screen.wait("the engine", lambda: screen.state(WorkerKind.ENGINE) is WorkerState.READY)
    screen.wait("the router", lambda: screen.state(WorkerKind.ROUTER) is WorkerState.READY)
    yield screen
    window.close()
    desk.stop()
    bridge.close()
    theme.deleteLater()


def test_the_end_of_the_engine_is_told_in_words_within_a_second_and_the_text_stays_on_screen(screen: Screen) -> None:
    screen.send("count")
    screen.wait("text", lambda: screen.answers() and len(screen.answers()[0].shown_text()) > 30)
    killed_at = screen.kill(WorkerKind.ENGINE)
    screen.wait("the banner", lambda: "SIGKILL" in screen.banner(WorkerKind.ENGINE))
    assert time.monotonic() - killed_at < TOLD_WITHIN_S
    assert "the system ended it, most likely because memory ran out" in screen.banner(WorkerKind.ENGINE)
    (answer,) = screen.answers()
    screen.wait("the end of the answer", lambda: answer.message.status is MessageStatus.FAILED)
    assert len(answer.shown_text()) > 30
    assert LONG_TEXT.startswith(answer.shown_text())
    screen.wait("the engine to come back", lambda: screen.state(WorkerKind.ENGINE) is WorkerState.READY)
    screen.send("again")
    screen.wait("the next answer", lambda: len(screen.answers()) == 2 and screen.answers()[1].shown_text())


def test_the_end_of_the_router_is_told_and_the_running_answer_goes_on(screen: Screen) -> None:
    screen.send("count")
    screen.wait("text", lambda: screen.answers() and len(screen.answers()[0].shown_text()) > 30)
    killed_at = screen.kill(WorkerKind.ROUTER)
    screen.wait("the banner", lambda: "SIGKILL" in screen.banner(WorkerKind.ROUTER))
    assert time.monotonic() - killed_at < TOLD_WITHIN_S
    (answer,) = screen.answers()
    n_then = len(answer.shown_text())
    screen.wait("more text", lambda: len(answer.shown_text()) > n_then + 30)
    assert answer.message.status is MessageStatus.STREAMING
