"""The life of a child process: legal moves, how it ended in words' terms, and when it may start again."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from layadesk.domain.errors import ErrorCode, fail


class WorkerKind(StrEnum):
    """The two children."""

    ENGINE = "engine"
    ROUTER = "router"


class WorkerState(StrEnum):
    """Where a child is in its life."""

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"  # crashed, and will start again by itself
    GIVEN_UP = "given_up"
    STOPPING = "stopping"


_LEGAL: dict[WorkerState, frozenset[WorkerState]] = {
    WorkerState.STOPPED: frozenset({WorkerState.STARTING}),
    WorkerState.STARTING: frozenset(
        {WorkerState.READY, WorkerState.WAITING, WorkerState.GIVEN_UP, WorkerState.STOPPING}
    ),
    WorkerState.READY: frozenset({WorkerState.WAITING, WorkerState.GIVEN_UP, WorkerState.STOPPING}),
    WorkerState.WAITING: frozenset({WorkerState.STARTING, WorkerState.STOPPING}),
    WorkerState.GIVEN_UP: frozenset({WorkerState.STARTING, WorkerState.STOPPING}),
    WorkerState.STOPPING: frozenset({WorkerState.STOPPED}),
}


def next_state(current: WorkerState, wanted: WorkerState) -> WorkerState:
    """`wanted`, if that move is legal; a Bug otherwise."""
    if wanted not in _LEGAL[current]:
        raise fail(ErrorCode.INTERNAL, reason="illegal worker move", current=current, wanted=wanted)
    return wanted


class ExitKind(StrEnum):
    """How a child ended; `ui/texts.py` has the sentence."""

    CLEAN = "clean"
    STOPPED_BY_US = "stopped_by_us"
    KILLED = "killed"  # by a signal from outside: most often the system, because memory ran out
    NATIVE_CRASH = "native_crash"
    PYTHON_ERROR = "python_error"
    HUNG = "hung"
    BAD_BUILD = "bad_build"
    CPU_TOO_OLD = "cpu_too_old"  # `detail` names the missing instructions
    PROTOCOL_MISMATCH = "protocol_mismatch"  # it said what is no message, or speaks another version


@dataclass(frozen=True, slots=True)
class WorkerExit:
    """The end of one child. `detail` is a signal name, a Windows status such as 0xC0000005, or an exit code."""

    kind: ExitKind
    detail: str
    log_tail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """What the window shows of a child. `retry_in_s` is set while it is WAITING."""

    worker: WorkerKind
    state: WorkerState
    exit: WorkerExit | None = None
    retry_in_s: float | None = None
    pid: int | None = None


BACK_OFF_S = (0.5, 2.0, 8.0)
CRASH_WINDOW_S = 60.0
MAX_CRASHES = 3
EXIT_PYTHON_ERROR = 70
EXIT_BAD_BUILD = 71

# Numbers are those of Linux and macOS where they agree; both differ on 7 (BUS here) and 10 (BUS on macOS).
_SIGNALS = {1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS"}
_SIGNALS |= {8: "SIGFPE", 9: "SIGKILL", 10: "SIGBUS", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM"}
# A program that watches over memory (earlyoom, systemd-oomd) says TERM before it says KILL.
_FROM_OUTSIDE = frozenset({"SIGHUP", "SIGINT", "SIGKILL", "SIGTERM"})


def classify_exit(exit_code: int, *, asked_to_stop: bool, log_tail: Sequence[str] = ()) -> WorkerExit:
    """`multiprocessing`'s exit code explained: negative is a signal, from 2**31 up (as unsigned) a Windows status."""
    tail = tuple(log_tail)
    if asked_to_stop:
        return WorkerExit(ExitKind.STOPPED_BY_US, str(exit_code), tail)
    if exit_code == 0:
        return WorkerExit(ExitKind.CLEAN, "0", tail)
    if exit_code == EXIT_BAD_BUILD:
        return WorkerExit(ExitKind.BAD_BUILD, str(exit_code), tail)
    if -64 <= exit_code < 0:
        name = _SIGNALS.get(-exit_code, f"signal {-exit_code}")
        return WorkerExit(ExitKind.KILLED if name in _FROM_OUTSIDE else ExitKind.NATIVE_CRASH, name, tail)
    status = exit_code & 0xFFFFFFFF
    if status >= 0x8000_0000:
        return WorkerExit(ExitKind.NATIVE_CRASH, f"0x{status:08X}", tail)
    return WorkerExit(ExitKind.PYTHON_ERROR, str(exit_code), tail)


def restart_delay(crash_times: Sequence[float], now: float) -> float | None:
    """Seconds to wait before the next start, or None to give up.

    `crash_times` are monotonic, the newest last and included; more than MAX_CRASHES within CRASH_WINDOW_S gives up.
    """
    recent = [t for t in crash_times if now - t <= CRASH_WINDOW_S]
    if len(recent) > MAX_CRASHES:
        return None
    return BACK_OFF_S[min(len(recent), len(BACK_OFF_S)) - 1] if recent else BACK_OFF_S[0]
