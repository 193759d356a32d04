"""Other programs, run so that the newcomer sees how far they are and a log keeps all they said."""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from setup_steps.progress import show_duration

_HEARTBEAT_S = 15.0


def capture(command: Sequence[str], *, timeout_s: float = 30.0) -> str | None:
    """What `command` printed, or None where it is missing, fails or takes too long. For questions, not for work."""
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=timeout_s, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout if answer.returncode == 0 else None


class LoggedRun:
    """One long command: each line goes to the log; now and then a line says how long it has been and what it is at.

    `describe(line)` turns a line of output into what it tells about progress, or None. Interrupting kills the command
    with all it started, so that no compiler goes on behind the newcomer's back.
    """

    def __init__(self, log: Path, note: Callable[[str], None], *, heartbeat_s: float = _HEARTBEAT_S) -> None:
        self._log = log
        self._note = note
        self._heartbeat_s = heartbeat_s

    def __call__(
        self,
        command: Sequence[str],
        describe: Callable[[str], str | None] = lambda line: None,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> tuple[int, str]:
        """The exit status and everything the command printed."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"\n$ {' '.join(command)}\n")
            process = _start(command, env, cwd)
            try:
                return self._follow(process, describe, log)
            except BaseException:
                _kill_tree(process)
                raise

    def _follow(
        self, process: "subprocess.Popen[str]", describe: Callable[[str], str | None], log: IO[str]
    ) -> tuple[int, str]:
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=_read_lines, args=(process, lines), name="setup-reader", daemon=True).start()
        started = said = time.monotonic()
        state, output = "", list[str]()
        while True:
            try:
                line = lines.get(timeout=1.0)
            except queue.Empty:
                line = ""
            if line is None:
                return process.wait(), "".join(output)
            if line:
                output.append(line)
                log.write(line)
                state = describe(line.strip()) or state
            if time.monotonic() - said >= self._heartbeat_s:
                said = time.monotonic()
                log.flush()
                self._note(f"{show_duration(said - started)}" + (f", {state}" if state else ""))


def _start(command: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=dict(env) if env is not None else None,
        cwd=cwd,
        start_new_session=sys.platform != "win32",
    )


def _read_lines(process: "subprocess.Popen[str]", lines: "queue.SimpleQueue[str | None]") -> None:
    assert process.stdout is not None
    with process.stdout as output:
        for line in output:
            lines.put(line)
    lines.put(None)


def _kill_tree(process: "subprocess.Popen[str]") -> None:
    if sys.platform == "win32":
        capture(["taskkill", "/T", "/F", "/PID", str(process.pid)])
        process.wait()
        return
    for kind in (signal.SIGINT, signal.SIGKILL):  # pip removes its temporary folders when it is asked first
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, kind)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
