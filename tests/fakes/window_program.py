"""The real program in a real window on an X server of its own, used by keyboard and watched from outside."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from layadesk.paths import DataPaths
from setup_steps.virtual_screen import missing_tools, virtual_screen

REPO = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
POLL_S = 0.02
SIZE = (1280, 800)
ResultT = TypeVar("ResultT")

_GRAB = """
import sys
from PySide6.QtGui import QGuiApplication
app = QGuiApplication(sys.argv)
screen = app.primaryScreen()
x, y, width, height = (int(part) for part in sys.argv[2:6])
sys.exit(0 if screen.grabWindow(0, x, y, width, height).save(sys.argv[1]) else 1)
"""


@contextmanager
def x_server(size: tuple[int, int] = SIZE) -> Iterator[str]:
    """A virtual screen; gives its DISPLAY. Skips the test where Xvfb or xdotool is missing."""
    missing = missing_tools()
    if missing:
        pytest.skip(f"{missing[0]} is not installed; real windows need it")
    with virtual_screen(*size) as display:
        yield display


def wait_for(found: Callable[[], ResultT | None], what: str, timeout_s: float = PATIENCE_S) -> ResultT:
    """Look until there is something; another program's state has no event to wait on."""
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while True:
        result = found()
        if result is not None and result is not False:
            return result
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout_s:.0f} s in vain for {what}")
        pause.wait(POLL_S)


class WindowProgram:
    """One running `python -m layadesk`."""

    def __init__(self, display: str, data_dir: Path, *arguments: str) -> None:
        self.paths = DataPaths(data_dir)
        self.display = display
        self._environ = {
            **os.environ,
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "LC_ALL": "C.UTF-8",
            "LANGUAGE": "en",
            "PYTHONFAULTHANDLER": "1",
        }
        self.started_at = time.monotonic()
        self._log = (data_dir.parent / f"{data_dir.name}-window.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "layadesk", "--data-dir", str(data_dir), *arguments],
            cwd=REPO,
            env=self._environ,
            stdout=self._log,
            stderr=self._log,
        )

    def wait_until_shown(self) -> None:
        """Wait for the window, and for the engine behind it, so that no key is lost."""
        self._xdotool("search", "--sync", "--onlyvisible", "--name", "LayaDesk")
        wait_for(self.engine_pid, "the engine's pid file")

    def type(self, text: str) -> None:
        """Press the keys of `text`."""
        self._xdotool("type", "--delay", "15", text)

    def press(self, *keys: str) -> None:
        """Press keys by their X names, for instance `Return` or `ctrl+n`."""
        self._xdotool("key", "--delay", "30", *keys)

    def _xdotool(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], env=self._environ, check=True, timeout=PATIENCE_S, capture_output=True)

    def screenshot(self, file: Path, region: tuple[int, int, int, int] = (0, 0, *SIZE)) -> None:
        """What is on the screen now, as PNG."""
        subprocess.run(
            [sys.executable, "-c", _GRAB, str(file), *(str(part) for part in region)],
            env=self._environ,
            check=True,
            timeout=PATIENCE_S,
        )

    def engine_pid(self) -> int | None:
        """The engine process, None while there is none."""
        return self._child_pid("engine")

    def router_pid(self) -> int | None:
        """The router process, None while there is none."""
        return self._child_pid("router")

    def _child_pid(self, kind: str) -> int | None:
        file = self.paths.run / f"{kind}-{self.process.pid}.json"
        try:
            pid = int(json.loads(file.read_text(encoding="utf-8"))["pid"])
        except (OSError, ValueError):
            return None
        return pid if psutil.pid_exists(pid) else None

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """What is on disk now; nothing before the database is there."""
        if not self.paths.database.exists():
            return []
        connection = sqlite3.connect(f"file:{self.paths.database}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        except sqlite3.OperationalError:
            return []
        finally:
            connection.close()

    def answers(self) -> list[tuple[str, str]]:
        """Status and text of all answers on disk, oldest first."""
        rows = self.rows("select status, text from message where role = 'assistant' order by created_at")
        return [(str(status), str(text)) for status, text in rows]

    def wait_answer(self, number: int, status: str) -> str:
        """The text of answer `number` (0 is the first) once it has this status."""

        def found() -> str | None:
            answers = self.answers()
            return answers[number][1] if len(answers) > number and answers[number][0] == status else None

        return wait_for(found, f"answer {number} to be {status}; on disk: {self.answers()!r}")

    def family(self) -> list[psutil.Process]:
        """The program and every process below it."""
        me = psutil.Process(self.process.pid)
        return [me, *me.children(recursive=True)]

    def quit(self) -> int:
        """Ask it to close, as the system does at log-out; gives its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)

    def kill(self) -> None:
        """SIGKILL, as the out-of-memory killer would."""
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def close_log(self) -> None:
        """No more is written to it."""
        self._log.close()

    def tell_why(self) -> None:
        """After a failure: where each thread stands, and the end of all logs, printed with the test's output."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGABRT)  # PYTHONFAULTHANDLER writes the stacks
            self.process.wait(PATIENCE_S)
        for file in (Path(self._log.name), *sorted(self.paths.logs.glob("*.log"))):
            print(f"--- {file.name}", file.read_text("utf-8", "replace")[-8000:], sep="\n")


def left_after(processes: list[psutil.Process], timeout_s: float) -> list[psutil.Process]:
    """Those that still run then. One that has ended and waits for a parent to take its status is not running."""
    deadline = time.monotonic() + timeout_s
    while left := [one for one in processes if _runs(one)]:
        if time.monotonic() > deadline:
            return left
        threading.Event().wait(POLL_S)
    return []


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@contextmanager
def window_program(display: str, data_dir: Path, *arguments: str) -> Iterator[WindowProgram]:
    """A started program that is gone at the end, however the test ends."""
    program = WindowProgram(display, data_dir, *arguments)
    try:
        yield program
    except BaseException:
        program.tell_why()
        raise
    finally:
        if program.process.poll() is None:
            program.quit()
        program.close_log()
