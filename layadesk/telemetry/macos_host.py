"""What macOS says about memory that is short, in its own words: 1 normal, 2 warning, 4 critical."""

import ctypes
from typing import Any

from layadesk.domain.hardware import Why
from layadesk.telemetry.sensors import HostDraft

_NAME = b"kern.memorystatus_vm_pressure_level"


class MacPressure:
    """The level behind the green, yellow and red of Activity Monitor; byte figures of macOS do not say it."""

    fields: tuple[str, ...] = ("pressure_level",)

    def __init__(self, library: Any = None) -> None:
        """`library` has `sysctlbyname`."""
        self._library: Any = library if library is not None else ctypes.CDLL(None)

    def fill(self, draft: HostDraft, now: float) -> None:
        """One call of some microseconds."""
        level, size = ctypes.c_int(0), ctypes.c_size_t(ctypes.sizeof(ctypes.c_int))
        failed = self._library.sysctlbyname(_NAME, ctypes.byref(level), ctypes.byref(size), None, ctypes.c_size_t(0))
        is_known = not failed and level.value in {1, 2, 4}
        draft.put("pressure_level", level.value if is_known else None, None if is_known else Why.UNSUPPORTED)

    def reset(self) -> None:
        """Nothing to forget."""
