"""RAM and swap on fake /proc trees (reported faults A32, I01, I16; psutil #2100)."""

import sys
from pathlib import Path

import pytest

from layadesk.domain.hardware import SwapKind, Why
from layadesk.telemetry.cgroup import CgroupMemory
from layadesk.telemetry.linux_memory import LinuxMemory, LinuxSwapKind
from layadesk.telemetry.sensors import HostDraft
from tests.fakes.roots import GIB, break_file, make_cgroup_v1, make_cgroup_v2, make_proc, write


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
    LinuxMemory(proc, CgroupMemory(proc, cgroup)).fill(draft, now)
    return draft


def test_ram_is_what_the_machine_has_and_what_can_be_had(proc: Path, cgroup: Path) -> None:
    draft = memory(proc, cgroup)
    assert (draft["ram_total_bytes"], draft["ram_available_bytes"]) == (16 * GIB, 9 * GIB)  # page cache is not "used"
    assert "ram_total_bytes" not in draft.reasons


def test_a_machine_without_swap_uses_none_of_it_rather_than_zero(proc: Path, cgroup: Path) -> None:
    draft = memory(proc, cgroup)
    assert (draft["swap_total_bytes"], draft["swap_used_bytes"]) == (0, None)
    assert draft.reasons["swap_used_bytes"] == Why.NO_SWAP


def test_swap_is_total_less_free(proc: Path, cgroup: Path) -> None:
    make_proc(proc, swap=(8 * GIB, 3 * GIB))
    draft = memory(proc, cgroup)
    assert (draft["swap_total_bytes"], draft["swap_used_bytes"]) == (8 * GIB, 3 * GIB)


def test_more_free_swap_than_there_is_is_no_figure(proc: Path, cgroup: Path) -> None:
    make_proc(proc, swap=(GIB, -GIB))
    draft = memory(proc, cgroup)
    assert (draft["swap_used_bytes"], draft.reasons["swap_used_bytes"]) == (None, Why.BAD_VALUE)


def test_more_available_than_there_is_is_no_figure(proc: Path, cgroup: Path) -> None:
    make_proc(proc, available=17 * GIB)
    draft = memory(proc, cgroup)
    assert (draft["ram_available_bytes"], draft.reasons["ram_available_bytes"]) == (None, Why.BAD_VALUE)


def test_a_kernel_that_does_not_say_what_is_available_is_told_as_such(proc: Path, cgroup: Path) -> None:
    write(proc / "meminfo", "MemTotal: 1024 kB\nMemFree: 512 kB")
    sample = memory(proc, cgroup).sample(0.0, (), None)
    assert (sample.ram_total_bytes, sample.ram_available_bytes) == (2**20, None)
    for name in ("ram_available_bytes", "swap_total_bytes", "swap_used_bytes"):
        assert sample.reasons[name] == Why.UNSUPPORTED


# ---- containers


def test_the_tightest_limit_of_a_container_is_the_ram_and_is_named(proc: Path, cgroup: Path) -> None:
    limits = ("max", 4 * GIB, 6 * GIB)
    make_cgroup_v2(proc, cgroup, "/user.slice/app.slice/x.scope", limits=limits, current=3 * GIB, cache=GIB)
    draft = memory(proc, cgroup)
    assert (draft["ram_total_bytes"], draft["ram_available_bytes"]) == (4 * GIB, 2 * GIB)  # used 3 less 1 of page cache
    assert draft.reasons["ram_total_bytes"] == draft.reasons["ram_available_bytes"] == Why.CGROUP_LIMIT


def test_a_limit_leaves_no_more_than_the_machine_has_left(proc: Path, cgroup: Path) -> None:
    make_proc(proc, available=GIB)
    make_cgroup_v2(proc, cgroup, "/a", limits=(12 * GIB,), current=0)
    draft = memory(proc, cgroup)
    assert (draft["ram_total_bytes"], draft["ram_available_bytes"]) == (12 * GIB, GIB)


def test_a_container_of_the_first_version_is_read_at_its_own_root(proc: Path, cgroup: Path) -> None:
    make_cgroup_v1(proc, cgroup, limit=2 * GIB, current=GIB, cache=GIB // 2)
    draft = memory(proc, cgroup)
    assert (draft["ram_total_bytes"], draft["ram_available_bytes"]) == (2 * GIB, 2 * GIB - GIB // 2)


@pytest.mark.parametrize("limit", ["max", 64 * GIB, 9223372036854771712, "garbage"])
def test_a_limit_above_the_machine_or_none_at_all_changes_nothing(proc: Path, cgroup: Path, limit: object) -> None:
    make_cgroup_v2(proc, cgroup, "/a", limits=(limit,), current=GIB)
    draft = memory(proc, cgroup)
    assert (draft["ram_total_bytes"], draft["ram_available_bytes"]) == (16 * GIB, 9 * GIB)
    assert "ram_total_bytes" not in draft.reasons


@pytest.mark.parametrize("line", ["", "nonsense", "0::/../outside", "0::/gone", "4:memory:"])
def test_a_strange_group_does_not_stop_the_reading(proc: Path, cgroup: Path, line: str) -> None:
    write(proc / "self" / "cgroup", line)
    write(cgroup / "cgroup.controllers", "memory")
    write(cgroup.parent / "outside" / "memory.max", 1)
    assert memory(proc, cgroup)["ram_total_bytes"] == 16 * GIB


def test_a_limit_that_changes_is_seen_within_a_minute_and_its_use_at_once(proc: Path, cgroup: Path) -> None:
    make_cgroup_v2(proc, cgroup, "/a", limits=(4 * GIB,), current=GIB)
    sensor = LinuxMemory(proc, CgroupMemory(proc, cgroup))

    def available(now: float) -> int | None:
        draft = HostDraft()
        sensor.fill(draft, now)
        found: int | None = draft["ram_available_bytes"]
        return found

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
    assert (draft["ram_total_bytes"], draft["ram_available_bytes"]) == (4 * GIB, 4 * GIB)


# ---- ZFS, WSL, kinds of swap


def test_the_cache_of_zfs_gives_way_and_counts_as_available(proc: Path, cgroup: Path) -> None:
    write(proc / "spl/kstat/zfs/arcstats", f"name  type data\nsize  4 {3 * GIB}\nc_min  4 {GIB}")
    assert memory(proc, cgroup)["ram_available_bytes"] == 11 * GIB  # btop #150


def test_below_wsl2_the_ram_is_that_of_its_virtual_machine(proc: Path, cgroup: Path) -> None:
    write(proc / "sys/kernel/osrelease", "6.6.87.2-microsoft-standard-WSL2")
    draft = memory(proc, cgroup)
    assert (draft["ram_total_bytes"], draft.reasons["ram_total_bytes"]) == (16 * GIB, Why.WSL_VM)


def swap_kind(proc: Path, sys_root: Path, *devices: str) -> tuple[SwapKind | None, int | None]:
    """What is said of these swap devices."""
    lines = "".join(f"/dev/{device} partition 8388604 0 -2\n" for device in devices)
    write(proc / "swaps", f"Filename Type Size Used Priority\n{lines}".rstrip())
    draft = HostDraft()
    draft.put("swap_total_bytes", 8 * GIB)
    LinuxSwapKind(proc, sys_root).fill(draft, 0.0)
    return draft["swap_kind"], draft["zram_bytes"]


def test_swap_in_compressed_ram_is_told_from_swap_on_a_disk(proc: Path, tmp_path: Path) -> None:
    sys_root = tmp_path / "sys"
    write(sys_root / "block/zram0/mm_stat", f"100 50 {2 * GIB} 0 0 0 0")
    assert swap_kind(proc, sys_root, "zram0") == (SwapKind.ZRAM, 2 * GIB)  # htop #721
    assert swap_kind(proc, sys_root, "sda2") == (SwapKind.DISK, None)
    assert swap_kind(proc, sys_root, "zram0", "sda2") == (SwapKind.MIXED, 2 * GIB)
    write(sys_root / "module/zswap/parameters/enabled", "Y")
    assert swap_kind(proc, sys_root, "sda2") == (SwapKind.ZSWAP, None)
    assert swap_kind(proc, sys_root) == (None, None)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the real /proc")
def test_this_machine_is_read_as_it_is() -> None:
    draft = memory(Path("/proc"), Path("/sys/fs/cgroup"))
    assert 0 < draft["ram_available_bytes"] < draft["ram_total_bytes"]
