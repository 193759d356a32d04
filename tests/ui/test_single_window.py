"""A second start on one data folder comes to the window that is open."""

import socket
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.ui.shell import single_window
from layadesk.ui.shell.single_window import SingleWindow, has_come_forward, meeting_point, raise_running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="written for sockets with a path; pipes were not run")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(single_window, "PATIENCE_S", 0.5)


def asked(qtbot: QtBot, data_dir: Path) -> bool | None:
    """What a second program hears, while this one's loop runs."""
    heard: list[bool | None] = []
    other = threading.Thread(target=lambda: heard.append(raise_running(data_dir)))
    other.start()
    qtbot.waitUntil(lambda: bool(heard))
    other.join()
    return heard[0]


def test_a_second_start_brings_the_first_window_back_from_the_task_bar(qtbot: QtBot, tmp_path: Path) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.showMinimized()
    SingleWindow(tmp_path / "data", window)
    assert asked(qtbot, tmp_path / "data") is True
    assert not window.isMinimized()
    assert asked(qtbot, tmp_path / "x" / ".." / "data") is True, "by another name of the same folder"
    assert asked(qtbot, tmp_path / "other") is None


def test_a_window_that_hangs_is_told_apart_from_none(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(meeting_point(tmp_path))
        hung.listen()
        assert raise_running(tmp_path) is False
        with pytest.raises(LayaDeskError) as refused:
            has_come_forward(tmp_path)
        assert refused.value.code is ErrorCode.ALREADY_RUNNING


def test_what_a_killed_window_left_is_no_window_and_is_in_nobodys_way(qtbot: QtBot, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(meeting_point(tmp_path))
    assert raise_running(tmp_path) is None
    window = QMainWindow()
    qtbot.addWidget(window)
    SingleWindow(tmp_path, window)
    assert asked(qtbot, tmp_path) is True
