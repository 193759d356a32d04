"""The Windows orphan guard, on a small stand-in for kernel32."""

import ctypes
import sys
from typing import Any

import pytest

from layadesk.workers.job_object import ExtendedLimits, assign_to_new_job, bind_to_app


class FakeKernel32:
    """Keeps jobs as Windows would; `refuses` names the call that fails."""

    def __init__(self, refuses: str = "") -> None:
        self.refuses = refuses
        self.limit_flags: dict[int, int] = {}
        self.members: dict[int, list[int]] = {}
        self.open: set[int] = set()

    def CreateJobObjectW(self, attributes: None, name: None, /) -> int | None:  # noqa: N802
        assert attributes is None
        assert name is None
        if self.refuses == "create":
            return None
        self.open.add(0x1_0000_0040)
        return 0x1_0000_0040

    def SetInformationJobObject(self, job: int, what: int, limits: Any, size: int, /) -> int:  # noqa: N802
        assert what == 9
        assert size == ctypes.sizeof(ExtendedLimits)
        self.limit_flags[job] = limits._obj.BasicLimitInformation.LimitFlags
        return int(self.refuses != "limit")

    def AssignProcessToJobObject(self, job: int, process: int, /) -> int:  # noqa: N802
        assert self.limit_flags[job], "a job without limits would let the child live"
        self.members.setdefault(job, []).append(process)
        return int(self.refuses != "assign")

    def CloseHandle(self, handle: int, /) -> int:  # noqa: N802
        self.open.remove(handle)
        return 1


def test_the_child_is_in_a_job_that_ends_it_when_the_last_handle_closes() -> None:
    kernel32 = FakeKernel32()
    job = assign_to_new_job(kernel32, 0x88)
    assert job is not None
    assert kernel32.limit_flags == {0x1_0000_0040: 0x2000}
    assert kernel32.members == {0x1_0000_0040: [0x88]}
    assert kernel32.open, "the app keeps the handle as long as the child shall live"
    job.close()
    job.close()
    assert not kernel32.open


@pytest.mark.logs_warnings
@pytest.mark.parametrize("call", ["create", "limit", "assign"])
def test_a_windows_that_refuses_leaves_no_handle_open_and_is_no_obstacle(call: str) -> None:
    kernel32 = FakeKernel32(refuses=call)
    assert assign_to_new_job(kernel32, 0x88) is None
    assert not kernel32.open


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="64-bit layout")
def test_the_structure_has_the_size_that_64_bit_windows_expects() -> None:
    assert ctypes.sizeof(ExtendedLimits) == 144


@pytest.mark.skipif(sys.platform == "win32", reason="there it does something")
def test_other_systems_need_no_job() -> None:
    assert bind_to_app(3) is None
