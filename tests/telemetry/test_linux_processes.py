"""The children and the processor on fake /proc trees (reported fault I16; monitoring.md 5.5)."""

import mmap
import os
import sys
from pathlib import Path

import pytest

from layadesk.domain.hardware import Why
from layadesk.telemetry.linux_processes import LinuxChildMemory, LinuxCpu, has_mapped
from layadesk.telemetry.sensors import HostDraft
from tests.fakes.roots import GIB, MIB, make_pid, write

PID = 100
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def child(proc: Path, pid: int | None) -> HostDraft:
    """What is known of the engine's memory."""
    draft = HostDraft()
    LinuxChildMemory("engine_bytes", lambda: pid, proc, mapped="engine_mapped_bytes", swap="engine_swap_bytes").fill(
        draft, 0.0
    )
    return draft


def test_a_child_owns_its_anonymous_pages_and_the_mapped_model_is_told_apart(tmp_path: Path) -> None:
    make_pid(tmp_path, PID, anon=GIB, mapped=40 * GIB, swap=3 * MIB)
    assert child(tmp_path, PID).values == {
        "engine_bytes": GIB,
        "engine_mapped_bytes": 40 * GIB,
        "engine_swap_bytes": 3 * MIB,
    }


@pytest.mark.parametrize("pid", [None, 999])
def test_a_child_that_does_not_run_has_no_memory(tmp_path: Path, pid: int | None) -> None:
    draft = child(tmp_path, pid)
    assert (draft["engine_bytes"], set(draft.reasons.values())) == (None, {Why.NOT_RUNNING})


def test_a_child_that_has_ended_and_was_not_collected_has_no_memory(tmp_path: Path) -> None:
    write(tmp_path / "100" / "status", "Name:\tpython\nState:\tZ (zombie)\nPid:\t100")
    assert child(tmp_path, PID).reasons["engine_bytes"] == Why.NOT_RUNNING


def test_an_old_kernel_that_does_not_tell_kinds_of_pages_is_told_as_such(tmp_path: Path) -> None:
    write(tmp_path / "100" / "status", "Name:\tpython\nVmSize:\t100 kB\nVmRSS:\t50 kB")
    assert child(tmp_path, PID).reasons["engine_bytes"] == Why.UNSUPPORTED


def cpu(sensor: LinuxCpu, now: float) -> HostDraft:
    """One reading."""
    draft = HostDraft()
    sensor.fill(draft, now)
    return draft


def test_the_engine_is_told_in_cores_and_the_machine_in_percent(tmp_path: Path) -> None:
    sensor = LinuxCpu(tmp_path, lambda: PID)
    write(tmp_path / "stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1")
    make_pid(tmp_path, PID, ticks=0)
    assert cpu(sensor, 0.0).reasons["cpu_percent"] == Why.NOT_YET
    write(tmp_path / "stat", "cpu  400 0 300 1000 100 0 0 0 0 0\ncpu0 1")
    make_pid(tmp_path, PID, ticks=6 * TICKS)
    draft = cpu(sensor, 2.0)
    assert draft["cpu_percent"] == pytest.approx(100 * 500 / 800)
    assert draft["engine_cpu_cores"] == pytest.approx(3.0)


def test_another_engine_does_not_inherit_the_time_of_the_one_before(tmp_path: Path) -> None:
    pids = iter([PID, PID + 1])
    sensor = LinuxCpu(tmp_path, lambda: next(pids))
    write(tmp_path / "stat", "cpu  1 0 1 1 0 0 0 0 0 0")
    make_pid(tmp_path, PID, ticks=5)
    make_pid(tmp_path, PID + 1, ticks=500)
    cpu(sensor, 0.0)
    assert cpu(sensor, 1.0).reasons["engine_cpu_cores"] == Why.NOT_YET


@pytest.mark.skipif(sys.platform != "linux", reason="reads the real /proc")
def test_a_file_that_this_process_has_mapped_is_told_from_one_it_has_not(tmp_path: Path) -> None:
    file, other = tmp_path / "模型.gguf", tmp_path / "other.gguf"
    file.write_bytes(bytes(MIB))
    other.write_bytes(bytes(MIB))
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ):
        assert has_mapped(str(file), os.getpid(), Path("/proc"))
        assert not has_mapped(str(other), os.getpid(), Path("/proc"))
    assert not has_mapped(str(file), os.getpid(), Path("/proc"))
    assert not has_mapped(str(file), None, Path("/proc"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads the real /proc")
def test_this_process_is_read_as_it_is() -> None:
    draft = child(Path("/proc"), os.getpid())
    assert draft["engine_bytes"] > 2**20
    assert draft.reasons == {}
