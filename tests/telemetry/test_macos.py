"""macOS' own word about memory, with its answer played."""

import ctypes
from typing import Any

import pytest

from layadesk.domain.hardware import Why
from layadesk.telemetry.macos_host import MacPressure
from layadesk.telemetry.sensors import HostDraft


class FakeLibrary:
    """`sysctlbyname` with a fixed answer."""

    def __init__(self, level: int, *, fails: bool = False) -> None:
        self._level, self._fails = level, fails
        self.asked: list[bytes] = []

    def sysctlbyname(self, name: bytes, value: Any, size: Any, new: object, new_size: object) -> int:
        """Fills in the level."""
        self.asked.append(name)
        ctypes.cast(value, ctypes.POINTER(ctypes.c_int))[0] = self._level
        return -1 if self._fails else 0


@pytest.mark.parametrize(
    ("library", "level", "why"),
    [
        (FakeLibrary(1), 1, None),
        (FakeLibrary(4), 4, None),
        (FakeLibrary(3), None, Why.UNSUPPORTED),
        (FakeLibrary(1, fails=True), None, Why.UNSUPPORTED),
    ],
)
def test_the_level_is_one_of_three_or_not_known(library: FakeLibrary, level: int | None, why: Why | None) -> None:
    draft = HostDraft()
    MacPressure(library).fill(draft, 0.0)
    assert draft["pressure_level"] == level
    assert draft.reasons.get("pressure_level") == why
    assert library.asked == [b"kern.memorystatus_vm_pressure_level"]
