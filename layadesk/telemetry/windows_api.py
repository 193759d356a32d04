"""kernel32 as far as the monitor needs it, by ctypes. Layouts are tested everywhere; the calls run on Windows only."""

import ctypes
import sys
from dataclasses import dataclass

_QUERY_LIMITED = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION


class PerformanceFigures(ctypes.Structure):
    """PERFORMANCE_INFORMATION; sizes are in pages."""

    _fields_ = [
        ("cb", ctypes.c_uint32),
        ("commit_total", ctypes.c_size_t),
        ("commit_limit", ctypes.c_size_t),
        ("commit_peak", ctypes.c_size_t),
        ("physical_total", ctypes.c_size_t),
        ("physical_available", ctypes.c_size_t),
        ("system_cache", ctypes.c_size_t),
        ("kernel_total", ctypes.c_size_t),
        ("kernel_paged", ctypes.c_size_t),
        ("kernel_nonpaged", ctypes.c_size_t),
        ("page_size", ctypes.c_size_t),
        ("n_handles", ctypes.c_uint32),
        ("n_processes", ctypes.c_uint32),
        ("n_threads", ctypes.c_uint32),
    ]


class ProcessMemoryCounters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS_EX2; the last two exist from Windows 10 22H2 on."""

    _fields_ = [
        ("cb", ctypes.c_uint32),
        ("page_fault_count", ctypes.c_uint32),
        ("peak_working_set", ctypes.c_size_t),
        ("working_set", ctypes.c_size_t),
        ("quota_peak_paged", ctypes.c_size_t),
        ("quota_paged", ctypes.c_size_t),
        ("quota_peak_nonpaged", ctypes.c_size_t),
        ("quota_nonpaged", ctypes.c_size_t),
        ("pagefile", ctypes.c_size_t),
        ("peak_pagefile", ctypes.c_size_t),
        ("private", ctypes.c_size_t),
        ("private_working_set", ctypes.c_size_t),
        ("shared_commit", ctypes.c_uint64),
    ]


@dataclass(frozen=True, slots=True)
class Commit:
    """Bytes promised to programs, and the most that can be: RAM and page files together."""

    used_bytes: int
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """Bytes of one process in RAM; None where this Windows does not tell which are its own."""

    total_bytes: int
    private_bytes: int | None


class WindowsApi:
    """The calls. Raises OSError where one fails."""

    def commit(self) -> Commit:
        """K32GetPerformanceInfo."""
        figures = PerformanceFigures()
        figures.cb = ctypes.sizeof(figures)
        _fill(figures)
        return Commit(figures.commit_total * figures.page_size, figures.commit_limit * figures.page_size)

    def working_set(self, pid: int) -> WorkingSet:
        """K32GetProcessMemoryInfo."""
        return _working_set(pid, ProcessMemoryCounters())


if sys.platform == "win32":

    def _fill(figures: PerformanceFigures) -> None:
        if not ctypes.windll.kernel32.K32GetPerformanceInfo(ctypes.byref(figures), figures.cb):
            raise ctypes.WinError()

    def _working_set(pid: int, counters: ProcessMemoryCounters) -> WorkingSet:
        """Older systems refuse the longer structure; the shorter one knows no private working set."""
        kernel32 = ctypes.windll.kernel32
        kernel32.OpenProcess.restype = ctypes.c_void_p
        handle = kernel32.OpenProcess(_QUERY_LIMITED, False, pid)
        if not handle:
            raise ctypes.WinError()
        longest, shorter = ctypes.sizeof(counters), ProcessMemoryCounters.private_working_set.offset
        try:
            for size in (longest, shorter):
                counters.cb = size
                if kernel32.K32GetProcessMemoryInfo(ctypes.c_void_p(handle), ctypes.byref(counters), size):
                    own = counters.private_working_set if size == longest else None
                    return WorkingSet(counters.working_set, own)
            raise ctypes.WinError()
        finally:
            kernel32.CloseHandle(ctypes.c_void_p(handle))

else:

    def _fill(figures: PerformanceFigures) -> None:
        raise OSError("not Windows")

    def _working_set(pid: int, counters: ProcessMemoryCounters) -> WorkingSet:
        raise OSError("not Windows")
