"""A note on disk of each running child, so that the next start can end what a crash of the app left behind.

The pipe ends children within milliseconds of the app's death; this is for the rest, a stopped or wedged child.
"""

import json
import logging
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from layadesk.domain.worker_state import WorkerKind

log = logging.getLogger(__name__)

SAME_START_S = 2.0  # how far two readings of one process's start may lie apart: the system's boot time is whole seconds
_REAP_S = 2.0
_REAP_STEP_S = 0.01


@dataclass(frozen=True, slots=True)
class PidNote:
    """Two processes, each named by its id and its start (seconds since the epoch), since ids are used again."""

    pid: int
    create_time: float
    app_pid: int
    app_create_time: float


def write_pid_file(run_dir: Path, worker: WorkerKind, *, pid: int) -> Path | None:
    """Note the child `pid` of this process; None when the disk or the system will not have it, which is no obstacle."""
    import psutil  # noqa: PLC0415  # 20 ms that the window does not wait for

    path = run_dir / f"{worker}-{os.getpid()}.json"
    draft = path.with_suffix(".tmp")
    try:
        note = PidNote(pid, psutil.Process(pid).create_time(), os.getpid(), psutil.Process().create_time())
        run_dir.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(asdict(note)), encoding="utf-8")
        draft.replace(path)
    except (OSError, psutil.Error) as error:
        log.warning("no pid file for the %s: %s", worker, error)
        return None
    return path


def remove_pid_file(path: Path | None) -> None:
    """Forget a child that has ended."""
    if path is None:
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("pid file %s stays: %s", path, error)


def reap_orphans(run_dir: Path) -> int:
    """Kill the children noted under `run_dir` whose app is gone; returns how many.

    A process is touched only if its start is the noted one, so a stranger that got the number later is left alone, and
    so are the children of another LayaDesk that lives.
    """
    n_killed = 0
    for path in _notes(run_dir):
        note = _read(path)
        if note is None:
            remove_pid_file(path)
        elif not _is_same(note.app_pid, note.app_create_time):
            n_killed += _kill(note)
            remove_pid_file(path)
    return n_killed


def _notes(run_dir: Path) -> list[Path]:
    try:
        return sorted(run_dir.glob("*-*.json"))
    except OSError:
        return []


def _read(path: Path) -> PidNote | None:
    try:
        fields: Any = json.loads(path.read_text(encoding="utf-8"))
        return PidNote(
            int(fields["pid"]),
            float(fields["create_time"]),
            int(fields["app_pid"]),
            float(fields["app_create_time"]),
        )
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("pid file %s is of no use: %r", path, error)
        return None


def _is_same(pid: int, create_time: float) -> bool:
    """Whether `pid` runs and is the process that began at `create_time`; a zombie is gone."""
    import psutil  # noqa: PLC0415

    try:
        process = psutil.Process(pid)
        return bool(
            abs(process.create_time() - create_time) <= SAME_START_S and process.status() != psutil.STATUS_ZOMBIE
        )
    except (psutil.Error, ValueError, OverflowError):
        return False


def _kill(note: PidNote) -> int:
    import psutil  # noqa: PLC0415

    if not _is_same(note.pid, note.create_time):
        return 0
    try:
        psutil.Process(note.pid).kill()
    except psutil.Error as error:
        log.warning("orphan %d of app %d: %s", note.pid, note.app_pid, error)
        return 0
    deadline = time.monotonic() + _REAP_S  # its memory should be free before the next engine asks for some
    while _is_same(note.pid, note.create_time) and time.monotonic() < deadline:
        time.sleep(_REAP_STEP_S)
    log.info("ended orphan %d of app %d", note.pid, note.app_pid)
    return 1
