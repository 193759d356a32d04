"""What the kernel says about memory that is short, on fake trees (monitoring.md 5.4; rows 32, 39)."""

import mmap
import sys
from pathlib import Path

import pytest

from layadesk.domain.hardware import Why
from layadesk.telemetry.linux_paging import LinuxPaging, LinuxPressure
from layadesk.telemetry.sensors import HostDraft
from tests.fakes.roots import GIB, break_file, make_proc, write


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    make_proc(tmp_path / "proc")
    return tmp_path / "proc"


def rates(sensor: LinuxPaging, now: float, swap_total: int | None = GIB) -> HostDraft:
    """One reading."""
    draft = HostDraft()
    draft.put("swap_total_bytes", swap_total)
    sensor.fill(draft, now)
    return draft


def test_a_rate_needs_two_readings(proc: Path) -> None:
    sensor = LinuxPaging(proc)
    first = rates(sensor, 10.0)
    assert [first[name] for name in sensor.fields] == [None] * 4
    assert set(first.reasons.values()) == {Why.NOT_YET}
    make_proc(proc, pages_in=100, pages_out=50, refaults=8)
    second = rates(sensor, 10.5)
    page = mmap.PAGESIZE
    assert [second[name] for name in sensor.fields] == [200 * page, 100 * page, 16 * page, 2.0]
    assert second.reasons == {}
    assert rates(sensor, 11.0)["refault_bytes_per_s"] == 0.0


def test_a_counter_that_runs_backwards_gives_no_rate_and_a_new_start(proc: Path) -> None:
    sensor = LinuxPaging(proc)
    make_proc(proc, pages_in=100, pages_out=50)
    rates(sensor, 0.0)
    make_proc(proc, pages_in=10, pages_out=60)
    draft = rates(sensor, 1.0)
    assert (draft["swap_in_bytes_per_s"], draft.reasons["swap_in_bytes_per_s"]) == (None, Why.BAD_VALUE)
    assert draft["swap_out_bytes_per_s"] == 10 * mmap.PAGESIZE
    make_proc(proc, pages_in=12, pages_out=60)
    assert rates(sensor, 2.0)["swap_in_bytes_per_s"] == 2 * mmap.PAGESIZE


def test_after_a_gap_the_first_rate_is_not_made_from_before_it(proc: Path) -> None:
    sensor = LinuxPaging(proc)
    rates(sensor, 0.0)
    sensor.reset()
    make_proc(proc, pages_in=10_000)
    assert rates(sensor, 7200.0).reasons["swap_in_bytes_per_s"] == Why.NOT_YET


def test_a_machine_without_swap_has_no_swap_rates_but_reads_files_again(proc: Path) -> None:
    sensor = LinuxPaging(proc)
    rates(sensor, 0.0, 0)
    make_proc(proc, refaults=1000)
    draft = rates(sensor, 1.0, 0)
    assert (draft["swap_in_bytes_per_s"], draft.reasons["swap_in_bytes_per_s"]) == (None, Why.NO_SWAP)
    assert draft["refault_bytes_per_s"] == 1000 * mmap.PAGESIZE


def test_an_old_kernel_counts_all_kinds_of_refaults_in_one(proc: Path) -> None:
    write(proc / "vmstat", "workingset_refault 5")
    sensor = LinuxPaging(proc)
    assert rates(sensor, 0.0).reasons["swap_in_bytes_per_s"] == Why.UNSUPPORTED
    write(proc / "vmstat", "workingset_refault 15")
    assert rates(sensor, 1.0)["refault_bytes_per_s"] == 10 * mmap.PAGESIZE


def pressure(proc: Path, group: Path | None = None) -> tuple[float | None, float | None]:
    """Some and full."""
    draft = HostDraft()
    LinuxPressure(proc, lambda: group).fill(draft, 0.0)
    return draft["psi_some_percent"], draft["psi_full_percent"]


def test_pressure_is_the_worse_of_the_machine_and_the_container(proc: Path, tmp_path: Path) -> None:
    assert pressure(proc) == (None, None)
    make_proc(proc, psi=(12.5, 3.25))
    assert pressure(proc) == (12.5, 3.25)
    write(tmp_path / "group/memory.pressure", "some avg10=40.00 avg60=0 total=1\nfull avg10=1.00 avg60=0 total=1")
    assert pressure(proc, tmp_path / "group") == (40.0, 3.25)


@pytest.mark.parametrize("how", ["missing", "folder", "empty", "garbage"])
def test_pressure_that_cannot_be_read_is_none_and_not_asked_for_at_each_tick(proc: Path, how: str) -> None:
    make_proc(proc, psi=(12.5, 3.25))
    break_file(proc / "pressure/memory", how)
    assert pressure(proc) == (None, None)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the real /proc")
def test_this_machine_is_read_as_it_is() -> None:
    sensor = LinuxPaging(Path("/proc"))
    rates(sensor, 0.0)
    assert (rates(sensor, 1.0)["refault_bytes_per_s"] or 0.0) >= 0.0
