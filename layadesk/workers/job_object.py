"""Windows: a job object that ends a child when the app's last handle closes, however the app ended.

The counterpart of the pipe's EOF for a child that cannot read it. Elsewhere there is nothing of the kind that can be
used here: Linux' PR_SET_PDEATHSIG fires at the death of the *thread* that started the child.
"""

import ctypes
import logging
import sys
from typing import Any, Protocol

log = logging.getLogger(__name__)

_EXTENDED_LIMIT_INFORMATION = 9  # JobObjectExtendedLimitInformation
_KILL_ON_JOB_CLOSE = 0x2000

# Windows' types spelled out: ctypes.wintypes has other widths on other systems, where the tests run too.
_DWORD = ctypes.c_uint32
_LARGE_INTEGER = ctypes.c_int64


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", _LARGE_INTEGER),
        ("PerJobUserTimeLimit", _LARGE_INTEGER),
        ("LimitFlags", _DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", _DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", _DWORD),
        ("SchedulingClass", _DWORD),
    )


class _IoCounters(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in ("ReadCount", "WriteCount", "OtherCount", "ReadBytes", "WriteBytes", "OtherBytes")
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION: 144 bytes on 64-bit Windows."""

    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", _IoCounters),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class Kernel32(Protocol):
    """The four calls that are used, by Windows' names; handles are ints, 0 and None mean failure."""

    def CreateJobObjectW(self, attributes: None, name: None, /) -> int | None:  # noqa: N802
        """A new job without a name, whose handle children do not inherit."""

    def SetInformationJobObject(self, job: int, what: int, limits: Any, size: int, /) -> int:  # noqa: N802
        """Set its limits."""

    def AssignProcessToJobObject(self, job: int, process: int, /) -> int:  # noqa: N802
        """Put a process into it."""

    def CloseHandle(self, handle: int, /) -> int:  # noqa: N802
        """Close it; the last handle of a job with the limit below ends its processes."""


class JobObject:
    """A job that holds one child. Keep it as long as the child shall live; closing it ends the child."""

    def __init__(self, kernel32: Kernel32, job: int) -> None:
        self._kernel32 = kernel32
        self._job: int | None = job

    def close(self) -> None:
        """Close the handle, once."""
        if self._job is not None:
            self._kernel32.CloseHandle(self._job)
            self._job = None


def bind_to_app(process_handle: int) -> JobObject | None:
    """Tie a child to the life of this process; None off Windows, and where Windows refuses (logged)."""
    job: JobObject | None = None
    if sys.platform == "win32":
        job = assign_to_new_job(_load_kernel32(), process_handle)
    return job


def assign_to_new_job(kernel32: Kernel32, process_handle: int) -> JobObject | None:
    """A job with KILL_ON_JOB_CLOSE that holds the process; None where Windows refuses, with nothing left open."""
    job = kernel32.CreateJobObjectW(None, None)
    if not job:
        log.warning("no job object for the child")
        return None
    limits = ExtendedLimits()
    limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
    size = ctypes.sizeof(limits)
    if not kernel32.SetInformationJobObject(job, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), size):
        log.warning("the job object takes no limits")
    elif not kernel32.AssignProcessToJobObject(job, process_handle):
        log.warning("the child cannot be put into a job object")
    else:
        return JobObject(kernel32, job)
    kernel32.CloseHandle(job)
    return None


if sys.platform == "win32":

    def _load_kernel32() -> Kernel32:
        kernel32: Any = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = ctypes.c_void_p  # the default, a C int, would cut handles of 64 bits
        kernel32.CreateJobObjectW.argtypes = (ctypes.c_void_p, ctypes.c_wchar_p)
        kernel32.CreateJobObjectW.restype = handle
        kernel32.SetInformationJobObject.argtypes = (handle, ctypes.c_int, ctypes.c_void_p, _DWORD)
        kernel32.AssignProcessToJobObject.argtypes = (handle, handle)
        kernel32.CloseHandle.argtypes = (handle,)
        loaded: Kernel32 = kernel32
        return loaded
