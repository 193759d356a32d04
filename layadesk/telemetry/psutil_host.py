"""The host where there is no /proc: Windows and macOS, by psutil. Imported by the sampler's thread only."""

from collections.abc import Callable
from typing import Any

import psutil

from layadesk.domain.hardware import Why
from layadesk.telemetry.linux_memory import fill_swap
from layadesk.telemetry.rates import Rates
from layadesk.telemetry.sensors import HostDraft


class PsutilMemory:
    """RAM and swap. Swap rates are left out: psutil gives 0 on Windows and all page-ins, files included, on macOS."""

    fields: tuple[str, ...] = (
        "ram_total_bytes",
        "ram_available_bytes",
        "swap_total_bytes",
        "swap_used_bytes",
        "swap_in_bytes_per_s",
        "swap_out_bytes_per_s",
    )

    def __init__(self, library: Any = psutil) -> None:
        self._psutil = library

    def fill(self, draft: HostDraft, now: float) -> None:
        """Windows' figures can be missing or impossible (psutil #2074, #2431): then None, with the reason."""
        memory = self._psutil.virtual_memory()
        draft.put("ram_total_bytes", int(memory.total))
        draft.put("ram_available_bytes", int(memory.available))
        draft.lack(Why.UNSUPPORTED, "swap_in_bytes_per_s", "swap_out_bytes_per_s")
        try:
            swap = self._psutil.swap_memory()
        except (OSError, RuntimeError):  # "performance counters may be disabled"
            fill_swap(draft, None, None)
        else:
            fill_swap(draft, int(swap.total), int(swap.total) - int(swap.used))

    def reset(self) -> None:
        """Nothing to forget."""


class PsutilChildMemory:
    """Private memory of one child: on Windows its private bytes (committed, hence a little more than is in RAM).

    macOS tells no such figure cheaply; there it is None.
    """

    def __init__(self, field_name: str, pid: Callable[[], int | None], library: Any = psutil) -> None:
        self.fields: tuple[str, ...] = (field_name,)
        self._pid = pid
        self._psutil = library
        self._process: Any = None

    def fill(self, draft: HostDraft, now: float) -> None:
        """One cheap call; the process object is kept while the pid stays the same."""
        name = self.fields[0]
        pid = self._pid()
        if pid is None:
            draft.put(name, None, Why.NOT_RUNNING)
            return
        try:
            if self._process is None or self._process.pid != pid:
                self._process = self._psutil.Process(pid)
            private = getattr(self._process.memory_info(), "private", None)
        except self._psutil.NoSuchProcess:
            draft.put(name, None, Why.NOT_RUNNING)
        except self._psutil.AccessDenied:
            draft.put(name, None, Why.NO_PERMISSION)
        else:
            draft.put(name, private, Why.UNSUPPORTED if private is None else None)

    def reset(self) -> None:
        """Nothing to forget."""


class PsutilCpu:
    """How busy the processor is, and how much of that is the engine."""

    fields: tuple[str, ...] = ("cpu_count", "cpu_percent", "engine_cpu_cores")

    def __init__(self, engine_pid: Callable[[], int | None], library: Any = psutil) -> None:
        self._engine_pid = engine_pid
        self._psutil = library
        self._process: Any = None
        self._rates = Rates()
        self._is_first = True

    def fill(self, draft: HostDraft, now: float) -> None:
        """psutil's own percentage is 0 at its first call, which is no reading."""
        draft.put("cpu_count", self._psutil.cpu_count())
        percent, is_first, self._is_first = self._psutil.cpu_percent(None), self._is_first, False
        draft.put("cpu_percent", None if is_first else float(percent), Why.NOT_YET if is_first else None)
        draft.put("engine_cpu_cores", *self._engine_cores(now))

    def reset(self) -> None:
        """The next reading is a first one."""
        self._rates.forget()
        self._is_first = True

    def _engine_cores(self, now: float) -> tuple[float | None, Why | None]:
        pid = self._engine_pid()
        if pid is None:
            return None, Why.NOT_RUNNING
        try:
            if self._process is None or self._process.pid != pid:
                self._process = self._psutil.Process(pid)
                self._rates.forget()
            times = self._process.cpu_times()
        except self._psutil.NoSuchProcess:
            return None, Why.NOT_RUNNING
        except self._psutil.AccessDenied:
            return None, Why.NO_PERMISSION
        (rate,) = self._rates.take(now, (float(times.user + times.system),))
        return rate
