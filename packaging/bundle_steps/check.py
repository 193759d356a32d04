"""Uses a bundle as a person would, on a clean account: no environment, no repository, a new home.

On every system: `layadesk smoke` from the bundle. On Linux with Xvfb and xdotool also the window: started (by the
desktop entry's Exec line where it is installed), a question by keyboard, its engine killed, another question, closed;
then no process may be left.
"""

import contextlib
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bundle_steps.identity import PROGRAM
from setup_steps.progress import Progress, SetupFailure
from setup_steps.running import LoggedRun
from setup_steps.virtual_screen import missing_tools, virtual_screen

_PATIENCE_S = 120.0
_POLL_S = 0.05
_SCREEN = (1280, 800)
_QUESTIONS = ("Name three colours.", "Name two animals.")
FoundT = TypeVar("FoundT")


def check_bundle(bundle: Path, run: LoggedRun, progress: Progress) -> None:
    """Raises SetupFailure at the first thing that is not as it should be."""
    program = bundle / (f"{PROGRAM}.exe" if sys.platform == "win32" else PROGRAM)
    with _clean_account() as account:
        _smoke([str(program)], account, run, progress)
    if sys.platform == "linux":
        _check_window([str(program)], bundle, progress)


def check_installed(deb: Path, run: LoggedRun, progress: Progress) -> None:
    """The same with the package installed in this system, and gone after. Needs root."""
    status, output = run(["dpkg", "-i", str(deb)])
    if status != 0:
        raise SetupFailure(f"The package could not be installed: {(output.strip().splitlines() or [''])[-1]}")
    try:
        entry = Path("/usr/share/applications/layadesk.desktop").read_text(encoding="utf-8")
        command = exec_line(entry)
        progress.note(f"Exec line: {shlex.join(command)}")
        with _clean_account() as account:
            _smoke(command, account, run, progress)
        _check_window(command, Path("/usr/lib") / PROGRAM, progress)
    finally:
        run(["dpkg", "-r", PROGRAM])
    left = [place for place in (Path("/usr/lib") / PROGRAM, Path("/usr/bin") / PROGRAM) if place.exists()]
    if left:
        raise SetupFailure(f"Removing the package left {left[0]}.")


def exec_line(entry: str) -> list[str]:
    """The command of a desktop entry, without the fields (`%F`) that a start from the menu leaves empty."""
    line = next((line for line in entry.splitlines() if line.startswith("Exec=")), None)
    if line is None:
        raise SetupFailure("The desktop entry has no Exec line.")
    return [word for word in shlex.split(line.removeprefix("Exec=")) if not word.startswith("%")]


def _smoke(command: list[str], account: "_Account", run: LoggedRun, progress: Progress) -> None:
    status, output = run([*command, "smoke", "--json"], env=account.environ, cwd=account.home)
    last = (output.strip().splitlines() or [""])[-1]
    if status != 0 or not last.startswith("{") or not json.loads(last)["passed"]:
        raise SetupFailure(f"The bundle does not answer: {last[:500]}")
    progress.note(f"answers after {json.loads(last)['seconds']} s, with the starter it brought along")


def _check_window(command: list[str], bundle: Path, progress: Progress) -> None:
    if missing_tools():
        progress.note("the window was not tried: Xvfb and xdotool are needed for it")
        return
    with virtual_screen(*_SCREEN) as display, _clean_account(DISPLAY=display, QT_QPA_PLATFORM="xcb") as account:
        began = time.monotonic()
        process = subprocess.Popen(command, env=account.environ, cwd=account.home)
        try:
            window = _Window(account, process)
            window.xdotool("search", "--sync", "--onlyvisible", "--name", "LayaDesk")
            progress.note(f"window after {time.monotonic() - began:.1f} s")
            window.ask(_QUESTIONS[0], 0)
            progress.note(f"memory at rest: {_told(memory_of(bundle))}")
            killed = window.kill_engine()
            wait_for(lambda: window.engine_pid() not in (None, killed), "the engine to come back")
            window.ask(_QUESTIONS[1], 1)
            process.terminate()  # as the system does at its end: without a window manager, nobody closes a window
            process.wait(_PATIENCE_S)
            _read_log(account)
        finally:
            if process.poll() is None:
                process.kill()
        left = wait_for(lambda: not processes_in(bundle) or None, "all processes to end")
        assert left
        progress.note("two answers, one killed engine between them, closed; no process is left")


@dataclass(frozen=True, slots=True)
class _Account:
    home: Path
    environ: Mapping[str, str]

    @property
    def data(self) -> Path:
        """Where Linux keeps a program's data; what the window writes is read here."""
        return self.home / ".local" / "share" / "LayaDesk"


@contextmanager
def _clean_account(**variables: str) -> Iterator[_Account]:
    with tempfile.TemporaryDirectory(prefix="layadesk-", ignore_cleanup_errors=True) as home:
        kept = ("SYSTEMROOT", "TEMP", "TMP") if sys.platform == "win32" else ()
        path = os.environ["PATH"] if sys.platform == "win32" else "/usr/bin:/bin"
        environ = {"HOME": home, "USERPROFILE": home, "LOCALAPPDATA": home, "PATH": path, "LANG": "C.UTF-8"}
        environ |= {name: os.environ[name] for name in kept if name in os.environ}
        yield _Account(Path(home), {**environ, **variables})


class _Window:
    """A running program, used by keyboard; its answers are read from its database."""

    def __init__(self, account: _Account, process: "subprocess.Popen[bytes]") -> None:
        self._account = account
        self._process = process

    def xdotool(self, *arguments: str) -> None:
        """Keys, or waiting for a window."""
        command = ["xdotool", *arguments]
        subprocess.run(command, env=self._account.environ, check=True, capture_output=True, timeout=_PATIENCE_S)

    def ask(self, question: str, number: int) -> None:
        """Type a question and wait for answer `number` (0 is the first) to be whole."""
        wait_for(self.engine_pid, "the engine")
        self.xdotool("type", "--delay", "20", question)
        self.xdotool("key", "Return")
        wait_for(lambda: self._is_whole(number), f"an answer to {question!r}")

    def engine_pid(self) -> int | None:
        """The engine process, by its pid file."""
        for file in (self._account.data / "run").glob("engine-*.json"):
            with contextlib.suppress(OSError, ValueError, KeyError):
                pid = int(json.loads(file.read_text(encoding="utf-8"))["pid"])
                if Path(f"/proc/{pid}").exists():
                    return pid
        return None

    def kill_engine(self) -> int:
        """As the out-of-memory killer would; the pid it had."""
        pid = wait_for(self.engine_pid, "the engine")
        os.kill(pid, signal.SIGKILL)
        return pid

    def _is_whole(self, number: int) -> bool | None:
        if self._process.poll() is not None:
            raise SetupFailure(f"The program ended by itself, with {self._process.returncode}.")
        try:
            connection = sqlite3.connect(f"file:{self._account.data / 'layadesk.sqlite3'}?mode=ro", uri=True)
        except sqlite3.OperationalError:
            return None
        try:
            rows = connection.execute("select status, text from message where role = 'assistant'").fetchall()
        except sqlite3.OperationalError:
            return None
        finally:
            connection.close()
        return True if sum(status == "complete" and bool(text) for status, text in rows) > number else None


def _read_log(account: "_Account") -> None:
    """What was left out of the bundle shows as a traceback here, however well the program goes on without it."""
    text = (account.data / "logs" / "app.log").read_text(encoding="utf-8", errors="replace")
    if "Traceback" in text:
        raise SetupFailure(f"The log tells of an error: {text.partition('Traceback')[2].strip().splitlines()[-1]}")


def wait_for(found: Callable[[], FoundT | None], what: str) -> FoundT:
    """Look until there is something. Raises SetupFailure after two minutes."""
    deadline = time.monotonic() + _PATIENCE_S
    while not (result := found()):
        if time.monotonic() > deadline:
            raise SetupFailure(f"Waited {_PATIENCE_S:.0f} s in vain for {what}.")
        time.sleep(_POLL_S)
    return result


def processes_in(bundle: Path) -> tuple[int, ...]:
    """Processes that run a program of the bundle. Linux."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (place / "exe").resolve().is_relative_to(bundle.resolve()):
                found.append(int(place.name))
    return tuple(found)


def memory_of(bundle: Path) -> Mapping[str, int]:
    """Private memory in bytes by the name of the process. Linux."""
    found = {}
    for pid in processes_in(bundle):
        with contextlib.suppress(OSError, StopIteration, ValueError):
            words = (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            rollup = (Path("/proc") / str(pid) / "smaps_rollup").read_text(encoding="utf-8")
            lines = [line for line in rollup.splitlines() if line.startswith("Private_")]
            name = "child" if "multiprocessing" in words else "window"
            found[f"{name} {pid}"] = 1024 * sum(int(line.split()[1]) for line in lines)
    return found


def _told(memory: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n_bytes / 2**20:.0f} MiB" for name, n_bytes in sorted(memory.items()))
