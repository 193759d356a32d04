"""The host where there is no /proc: Windows and macOS, by psutil. Imported by the sampler's thread only."""

from collections.abc import Callable
from typing import Any

import psutil

from layadesk.domain.hardware import Why
from layadesk.telemetry.linux_host import fill_swap
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
        draft.ram_total_bytes, draft.ram_available_bytes = int(memory.total), int(memory.available)
        draft.reasons |= {"swap_in_bytes_per_s": Why.UNSUPPORTED, "swap_out_bytes_per_s": Why.UNSUPPORTED}
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
            draft.reasons[name] = Why.NOT_RUNNING
            return
        try:
            if self._process is None or self._process.pid != pid:
                self._process = self._psutil.Process(pid)
            private = getattr(self._process.memory_info(), "private", None)
        except self._psutil.NoSuchProcess:
            draft.reasons[name] = Why.NOT_RUNNING
        except self._psutil.AccessDenied:
            draft.reasons[name] = Why.NO_PERMISSION
        else:
            setattr(draft, name, private)
            if private is None:
                draft.reasons[name] = Why.UNSUPPORTED

    def reset(self) -> None:
        """Nothing to forget."""
