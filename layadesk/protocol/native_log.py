"""Where a child's native code writes: a file the app can quote from when the child has died.

llama.cpp, CUDA and faulthandler write to file descriptors 1 and 2 and know nothing of Python's logging. Called once,
first thing in a child, on its main thread.
"""

import faulthandler
import io
import logging
import os
import sys
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from layadesk.domain.worker_state import WorkerKind

MAX_KEPT_BYTES = 2 * 2**20  # an older log beyond this is set aside at the next start
START_MARK = "=== started pid="
SELF_TEST_BEGIN = "self-test: begin"  # a death between the two lines means a build that cannot run here
SELF_TEST_OK = "self-test: ok"
SELF_TEST_LACKS = "self-test: the processor lacks "  # then the instructions, as a person may read them
TAIL_BYTES = 256 * 2**10
MAX_LINE_CHARS = 500


def native_log_file(log_dir: Path, worker: WorkerKind) -> Path:
    """Where a child's native output goes."""
    return log_dir / f"{worker}-native.log"


class _Forgiving(io.FileIO):
    """A log that a full disk cannot turn into the end of the program: what does not go in is lost."""

    def write(self, text: Any, /) -> int:
        try:
            return super().write(text) or 0
        except OSError:
            return len(text)


def redirect_native_output(path: Path) -> None:
    """Send file descriptors 1 and 2 of this process to the end of `path`, and Python's crash reports too.

    A log that cannot be written goes to the null device: a child must start on a read-only disk as well.
    """
    target = _open_log(path)
    os.dup2(target, 1)
    os.dup2(target, 2)
    if target > 2:
        os.close(target)
    # A frozen program without a console has no sys.stdout at all, and print() would fail.
    sys.stdout = io.TextIOWrapper(_Forgiving(1, "w", closefd=False), "utf-8", "replace", line_buffering=True)
    sys.stderr = io.TextIOWrapper(_Forgiving(2, "w", closefd=False), "utf-8", "backslashreplace", line_buffering=True)
    print(f"{START_MARK}{os.getpid()} at {time.strftime('%Y-%m-%d %H:%M:%S')}", file=sys.stderr)  # noqa: T201  # the log
    faulthandler.enable(sys.stderr)


def log_to_file(path: Path) -> None:
    """Send this process's `logging` records to `path`, rotated at 1 MiB, two old files kept; nowhere if that fails.

    Errors go to the native log too, because the app quotes it when the child has died of one. Call it after
    `redirect_native_output`.
    """
    logging.raiseExceptions = False  # a full disk: no traceback for each record that cannot be kept
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file: logging.Handler = RotatingFileHandler(path, maxBytes=2**20, backupCount=2, encoding="utf-8")
    except OSError:
        file = logging.NullHandler()
    native = logging.StreamHandler(sys.stderr)
    native.setLevel(logging.ERROR)
    for target in (file, native):
        target.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"))
        root.addHandler(target)


def read_native_log(path: Path, pid: int) -> tuple[str, ...]:
    """What the child `pid` wrote to its native log, at most the last 256 KiB; empty if there is nothing."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = log.read(TAIL_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ()
    marks = [i for i, line in enumerate(lines) if line.startswith(START_MARK)]
    if marks and not lines[marks[-1]].startswith(f"{START_MARK}{pid} "):
        return ()  # the last words of another process; this one died before it had a log
    own = lines[marks[-1] + 1 :] if marks else lines
    return tuple(line[:MAX_LINE_CHARS] for line in own if line.strip())


def _open_log(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > MAX_KEPT_BYTES:
            path.replace(path.with_name(path.name + ".1"))
        return os.open(path, flags, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)
