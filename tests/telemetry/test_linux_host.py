"""RAM, swap and the children's memory on fake /proc trees (reported faults A32, I01, I16; psutil #2100)."""

import mmap
import os
import sys
from pathlib import Path

import pytest

from layadesk.domain.hardware import Why
from layadesk.telemetry.linux_host import LinuxChildMemory, LinuxMemory, LinuxSwapRate
from layadesk.telemetry.sensors import HostDraft
from tests.fakes.roots import GIB, break_file, make_cgroup_v1, make_cgroup_v2, make_pid, make_proc, write


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    make_proc(tmp_path / "proc")
    return tmp_path / "proc"


@pytest.fixture
def cgroup(tmp_path: Path) -> Path:
    return tmp_path / "cgroup"


def memory(proc: Path, cgroup: Path, now: float = 0.0) -> HostDraft:
    """One reading."""
    draft = HostDraft()
    LinuxMemory(proc, cgroup).fill(draft, now)
    return draft


def test_ram_is_what_the_machine_has_and_what_can_be_had(proc: Path, cgroup: Path) -> None:
    draft = memory(proc, cgroup)
    assert (draft.ram_total_bytes, draft.ram_available_bytes) == (16 * GIB, 9 * GIB)  # page cache is not "used"
    assert "ram_total_bytes" not in draft.reasons


def test_a_machine_without_swap_uses_none_of_it_rather_than_zero(proc: Path, cgroup: Path) -> None:
    draft = memory(proc, cgroup)
    assert (draft.swap_total_bytes, draft.swap_used_bytes) == (0, None)
    assert draft.reasons == {"swap_used_bytes": Why.NO_SWAP}


def test_swap_is_total_less_free(proc: Path, cgroup: Path) -> None:
    make_proc(proc, swap=(8 * GIB, 3 * GIB))
    draft = memory(proc, cgroup)
    assert (draft.swap_total_bytes, draft.swap_used_bytes, draft.reasons) == (8 * GIB, 3 * GIB, {})


def test_more_free_swap_than_there_is_is_no_figure(proc: Path, cgroup: Path) -> None:
    make_proc(proc, swap=(GIB, -GIB))
    draft = memory(proc, cgroup)
    assert (draft.swap_used_bytes, draft.reasons) == (None, {"swap_used_bytes": Why.BAD_VALUE})


def test_more_available_than_there_is_is_no_figure(proc: Path, cgroup: Path) -> None:
    make_proc(proc, available=17 * GIB)
    draft = memory(proc, cgroup)
    assert (draft.ram_available_bytes, draft.reasons["ram_available_bytes"]) == (None, Why.BAD_VALUE)


def test_a_kernel_that_does_not_say_what_is_available_is_told_as_such(proc: Path, cgroup: Path) -> None:
    write(proc / "meminfo", "MemTotal: 1024 kB\nMemFree: 512 kB")
    draft = memory(proc, cgroup)
    assert (draft.ram_total_bytes, draft.ram_available_bytes) == (2**20, None)
    assert draft.reasons["ram_available_bytes"] == Why.UNSUPPORTED
    assert draft.reasons["swap_total_bytes"] == draft.reasons["swap_used_bytes"] == Why.UNSUPPORTED


# ---- containers


def test_the_tightest_limit_of_a_container_is_the_ram_and_is_named(proc: Path, cgroup: Path) -> None:
    limits = ("max", 4 * GIB, 6 * GIB)
    make_cgroup_v2(proc, cgroup, "/user.slice/app.slice/x.scope", limits=limits, current=3 * GIB, cache=GIB)
    draft = memory(proc, cgroup)
    assert (draft.ram_total_bytes, draft.ram_available_bytes) == (4 * GIB, 2 * GIB)  # used 3 less 1 of page cache
    assert draft.reasons["ram_total_bytes"] == draft.reasons["ram_available_bytes"] == Why.CGROUP_LIMIT


def test_a_limit_leaves_no_more_than_the_machine_has_left(proc: Path, cgroup: Path) -> None:
    make_proc(proc, available=GIB)
    make_cgroup_v2(proc, cgroup, "/a", limits=(12 * GIB,), current=0)
    draft = memory(proc, cgroup)
    assert (draft.ram_total_bytes, draft.ram_available_bytes) == (12 * GIB, GIB)


def test_a_container_of_the_first_version_is_read_at_its_own_root(proc: Path, cgroup: Path) -> None:
    make_cgroup_v1(proc, cgroup, limit=2 * GIB, current=GIB, cache=GIB // 2)
    draft = memory(proc, cgroup)
    assert (draft.ram_total_bytes, draft.ram_available_bytes) == (2 * GIB, 2 * GIB - GIB // 2)


@pytest.mark.parametrize("limit", ["max", 64 * GIB, 9223372036854771712, "garbage"])
def test_a_limit_above_the_machine_or_none_at_all_changes_nothing(proc: Path, cgroup: Path, limit: object) -> None:
    make_cgroup_v2(proc, cgroup, "/a", limits=(limit,), current=GIB)
    draft = memory(proc, cgroup)
    assert (draft.ram_total_bytes, draft.ram_available_bytes) == (16 * GIB, 9 * GIB)
    assert "ram_total_bytes" not in draft.reasons


@pytest.mark.parametrize("line", ["", "nonsense", "0::/../outside", "0::/gone", "4:memory:"])
def test_a_strange_group_does_not_stop_the_reading(proc: Path, cgroup: Path, line: str) -> None:
    write(proc / "self" / "cgroup", line)
    write(cgroup / "cgroup.controllers", "memory")
    write(cgroup.parent / "outside" / "memory.max", 1)
    assert memory(proc, cgroup).ram_total_bytes == 16 * GIB


def test_a_limit_that_changes_is_seen_within_a_minute_and_its_use_at_once(proc: Path, cgroup: Path) -> None:
    make_cgroup_v2(proc, cgroup, "/a", limits=(4 * GIB,), current=GIB)
    sensor = LinuxMemory(proc, cgroup)

    def available(now: float) -> int | None:
        draft = HostDraft()
        sensor.fill(draft, now)
        return draft.ram_available_bytes

    assert available(0) == 3 * GIB
    write(cgroup / "a" / "memory.current", 2 * GIB)
    assert available(0.5) == 2 * GIB
    write(cgroup / "a" / "memory.max", 8 * GIB)
    assert available(59) == 2 * GIB
    assert available(60) == 6 * GIB


def test_a_limit_whose_use_is_not_told_leaves_at_most_the_limit(proc: Path, cgroup: Path) -> None:
    make_cgroup_v2(proc, cgroup, "/a", limits=(4 * GIB,), current=GIB)
    break_file(cgroup / "a" / "memory.current", "folder")
    draft = memory(proc, cgroup)
    assert (draft.ram_total_bytes, draft.ram_available_bytes) == (4 * GIB, 4 * GIB)


# ---- swap rates


def rates(sensor: LinuxSwapRate, now: float, swap_total: int | None = GIB) -> tuple[object, object, dict[str, Why]]:
    """In, out, and why not."""
    draft = HostDraft(swap_total_bytes=swap_total)
    sensor.fill(draft, now)
    return draft.swap_in_bytes_per_s, draft.swap_out_bytes_per_s, draft.reasons


def both(why: Why) -> dict[str, Why]:
    """The same reason for both directions."""
    return {"swap_in_bytes_per_s": why, "swap_out_bytes_per_s": why}


def test_a_swap_rate_needs_two_readings(proc: Path) -> None:
    sensor = LinuxSwapRate(proc)
    assert rates(sensor, 10.0) == (None, None, both(Why.NOT_YET))
    make_proc(proc, pages_in=100, pages_out=50)
    assert rates(sensor, 10.5) == (200 * mmap.PAGESIZE, 100 * mmap.PAGESIZE, {})
    assert rates(sensor, 11.0) == (0.0, 0.0, {})


def test_a_counter_that_runs_backwards_gives_no_rate_and_a_new_start(proc: Path) -> None:
    sensor = LinuxSwapRate(proc)
    make_proc(proc, pages_in=100, pages_out=50)
    rates(sensor, 0.0)
    make_proc(proc, pages_in=10, pages_out=60)
    assert rates(sensor, 1.0) == (None, 10 * mmap.PAGESIZE, {"swap_in_bytes_per_s": Why.BAD_VALUE})
    make_proc(proc, pages_in=12, pages_out=60)
    assert rates(sensor, 2.0) == (2 * mmap.PAGESIZE, 0.0, {})


def test_after_a_gap_the_first_rate_is_not_made_from_before_it(proc: Path) -> None:
    sensor = LinuxSwapRate(proc)
    rates(sensor, 0.0)
    sensor.reset()
    make_proc(proc, pages_in=10_000)
    assert rates(sensor, 7200.0) == (None, None, both(Why.NOT_YET))


def test_a_machine_without_swap_has_no_swap_rates(proc: Path) -> None:
    assert rates(LinuxSwapRate(proc), 0.0, 0) == (None, None, both(Why.NO_SWAP))


def test_a_kernel_without_swap_counters_is_told_as_such(proc: Path) -> None:
    write(proc / "vmstat", "nr_free_pages 1")
    assert rates(LinuxSwapRate(proc), 0.0) == (None, None, both(Why.UNSUPPORTED))


# ---- the children


def child(proc: Path, pid: int | None) -> tuple[int | None, dict[str, Why]]:
    """The engine's private memory and why not."""
    draft = HostDraft()
    LinuxChildMemory("engine_bytes", lambda: pid, proc).fill(draft, 0.0)
    return draft.engine_bytes, draft.reasons


def test_a_child_owns_its_anonymous_pages_and_not_the_mapped_model(proc: Path) -> None:
    make_pid(proc, 100, anon=GIB, mapped=40 * GIB)
    assert child(proc, 100) == (GIB, {})


@pytest.mark.parametrize("pid", [None, 999])
def test_a_child_that_does_not_run_has_no_memory(proc: Path, pid: int | None) -> None:
    assert child(proc, pid) == (None, {"engine_bytes": Why.NOT_RUNNING})


def test_a_child_that_has_ended_and_was_not_collected_has_no_memory(proc: Path) -> None:
    write(proc / "100" / "status", "Name:\tpython\nState:\tZ (zombie)\nPid:\t100")
    assert child(proc, 100) == (None, {"engine_bytes": Why.NOT_RUNNING})


def test_an_old_kernel_that_does_not_tell_kinds_of_pages_is_told_as_such(proc: Path) -> None:
    write(proc / "100" / "status", "Name:\tpython\nVmSize:\t100 kB\nVmRSS:\t50 kB")
    assert child(proc, 100) == (None, {"engine_bytes": Why.UNSUPPORTED})


@pytest.mark.skipif(sys.platform != "linux", reason="reads the real /proc")
def test_this_machine_is_read_as_it_is() -> None:
    draft = memory(Path("/proc"), Path("/sys/fs/cgroup"))
    assert draft.ram_total_bytes is not None
    assert draft.ram_available_bytes is not None
    assert 0 < draft.ram_available_bytes < draft.ram_total_bytes
    own, reasons = child(Path("/proc"), os.getpid())
    assert own is not None
    assert own > 2**20
    assert reasons == {}
