"""The children and the processor, from /proc/<pid>/status, /proc/<pid>/stat and /proc/stat."""

import os
from collections.abc import Callable
from pathlib import Path

from layadesk.domain.hardware import Why
from layadesk.telemetry.rates import Rates
from layadesk.telemetry.sensors import HostDraft
from layadesk.telemetry.small_files import kib_after, read_lines

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_MACHINE_EVERY_S = 2.0  # /proc/stat lists every interrupt, which takes milliseconds on large machines

Pid = Callable[[], int | None]


class LinuxChildMemory:
    """Private memory of one child in RAM, and for the engine also what it has mapped and swapped.

    Private is RssAnon and RssShmem. Mapped weights are page cache and not in it.
    """

    def __init__(self, name: str, pid: Pid, proc_root: Path, *, mapped: str = "", swap: str = "") -> None:
        """`name`, `mapped` and `swap` are the fields to fill; an empty one is left out."""
        self.fields: tuple[str, ...] = tuple(filter(None, (name, mapped, swap)))
        self._name, self._mapped, self._swap = name, mapped, swap
        self._pid = pid
        self._proc = proc_root

    def fill(self, draft: HostDraft, now: float) -> None:
        """RssAnon, RssFile and VmSwap of /proc/<pid>/status."""
        pid = self._pid()
        if pid is None:
            draft.lack(Why.NOT_RUNNING, *self.fields)
            return
        try:
            text = read_lines(f"{self._proc}/{pid}/status")
        except (FileNotFoundError, ProcessLookupError):
            draft.lack(Why.NOT_RUNNING, *self.fields)
            return
        except PermissionError:
            draft.lack(Why.NO_PERMISSION, *self.fields)
            return
        # a child that has ended and waits to be collected has no memory any more
        missing = Why.UNSUPPORTED if b"\nVmSize:" in text else Why.NOT_RUNNING
        private = kib_after(text, b"RssAnon:")
        if private is not None:
            private += kib_after(text, b"RssShmem:") or 0
        for name, value in (
            (self._name, private),
            (self._mapped, kib_after(text, b"RssFile:")),
            (self._swap, kib_after(text, b"VmSwap:")),
        ):
            if name:
                draft.put(name, value, missing if value is None else None)

    def reset(self) -> None:
        """Nothing to forget."""


def has_mapped(path: str, pid: int | None, proc_root: Path) -> bool:
    """Whether a process has a file mapped; True where that cannot be told. Reads `maps`, never `smaps`: 0.1 ms."""
    if pid is None:
        return False
    try:
        text = (proc_root / str(pid) / "maps").read_bytes()
    except OSError:
        return True
    return os.path.realpath(path).encode() in text


class LinuxCpu:
    """How busy the processor is, and how much of that is the engine."""

    fields: tuple[str, ...] = ("cpu_count", "cpu_percent", "engine_cpu_cores")

    def __init__(self, proc_root: Path, engine_pid: Pid) -> None:
        self._proc = proc_root
        self._engine_pid = engine_pid
        self._n_cpus = os.cpu_count()
        self._machine = Rates()
        self._machine_at: float | None = None
        self._machine_percent: tuple[float | None, Why | None] = (None, Why.NOT_YET)
        self._engine = Rates()
        self._pid_before: int | None = None

    def fill(self, draft: HostDraft, now: float) -> None:
        """Cores are those the system sees; time spent waiting for a disk is not busy."""
        draft.put("cpu_count", self._n_cpus)
        if self._machine_at is None or now - self._machine_at >= _MACHINE_EVERY_S:
            self._machine_at = now
            self._machine_percent = self._read_machine(now)
        draft.put("cpu_percent", *self._machine_percent)
        draft.put("engine_cpu_cores", *self._read_engine(now))

    def reset(self) -> None:
        """The next reading is a first one."""
        self._machine.forget()
        self._engine.forget()
        self._machine_at = None

    def _read_machine(self, now: float) -> tuple[float | None, Why | None]:
        words = read_lines(self._proc / "stat").split(b"\n", 2)[1].split()
        if len(words) < 6 or words[0] != b"cpu" or not all(word.isdigit() for word in words[1:]):
            return None, Why.UNSUPPORTED
        ticks = [int(word) for word in words[1:9]]  # what guests take is in user time already
        idle = ticks[3] + ticks[4]
        busy, every = self._machine.take(now, (float(sum(ticks) - idle), float(sum(ticks))))
        if busy[0] is None or not every[0]:
            return None, busy[1] or Why.NOT_YET
        return 100.0 * busy[0] / every[0], None

    def _read_engine(self, now: float) -> tuple[float | None, Why | None]:
        pid = self._engine_pid()
        if pid != self._pid_before:  # another process, also where it has the same number by chance: its ticks are less
            self._pid_before = pid
            self._engine.forget()
        if pid is None:
            return None, Why.NOT_RUNNING
        try:
            text = read_lines(f"{self._proc}/{pid}/stat")
        except PermissionError:
            return None, Why.NO_PERMISSION
        except OSError:
            return None, Why.NOT_RUNNING
        fields = text.rpartition(b")")[2].split()  # the name before it may hold anything
        if len(fields) < 13 or not (fields[11].isdigit() and fields[12].isdigit()):
            return None, Why.UNSUPPORTED
        (rate,) = self._engine.take(now, (float(int(fields[11]) + int(fields[12])),))
        return (None, rate[1]) if rate[0] is None else (rate[0] / _TICKS, None)
