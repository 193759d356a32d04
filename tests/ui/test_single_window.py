"""A second start on one data folder comes to the window that is open."""

import contextlib
import socket
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.ui.shell import single_window
from layadesk.ui.shell.single_window import SingleWindow, files_in, has_come_forward, meeting_point, raise_running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="written for sockets with a path; pipes were not run")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(single_window, "PATIENCE_S", 0.5)


def asked(qtbot: QtBot, data_dir: Path, files: tuple[str, ...] = ()) -> bool | None:
    """What a second program hears, while this one's loop runs."""
    heard: list[bool | None] = []
    other = threading.Thread(target=lambda: heard.append(raise_running(data_dir, files)))
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


def test_files_of_a_second_start_are_handed_to_the_first(qtbot: QtBot, tmp_path: Path) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    brought: list[list[str]] = []
    SingleWindow(tmp_path, window).files_brought.connect(brought.append)
    assert asked(qtbot, tmp_path) is True
    assert brought == []
    assert asked(qtbot, tmp_path, ("/models/模型 🦊.gguf", "near.gguf")) is True
    assert brought == [["/models/模型 🦊.gguf", str(Path.cwd() / "near.gguf")]]


def heard_by(qtbot: QtBot, tmp_path: Path, said: bytes) -> tuple[bytes, list[list[str]]]:
    """What a visitor who says that hears, and the files that were brought."""
    window = QMainWindow()
    qtbot.addWidget(window)
    brought: list[list[str]] = []
    SingleWindow(tmp_path, window).files_brought.connect(brought.append)
    heard: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.connect(meeting_point(tmp_path))
        visitor.setblocking(False)
        visitor.send(said)

        def has_heard() -> bool:
            with contextlib.suppress(BlockingIOError):
                heard.append(visitor.recv(16))
            return bool(heard)

        qtbot.waitUntil(has_heard)
    return heard[0], brought


@pytest.mark.parametrize(
    "line",
    [b"\n", b"nonsense\n", b'{"open": "/x"}\n', b"[1, null]\n", b'["near.gguf"]\n', b"[" * 50_000 + b"\n",
     b'["/' + b'x", "/' * 200 + b'y"]\n', b"\xff\xfe\n"],
)  # fmt: skip
def test_a_visitor_that_talks_nonsense_brings_nothing_and_is_answered(
    qtbot: QtBot, tmp_path: Path, line: bytes
) -> None:
    assert files_in(line) == []
    assert heard_by(qtbot, tmp_path, line) == (single_window.ANSWER, [])


def test_a_visitor_that_never_ends_its_line_is_sent_away(qtbot: QtBot, tmp_path: Path) -> None:
    assert heard_by(qtbot, tmp_path, b"x" * 1000) == (b"", [])
