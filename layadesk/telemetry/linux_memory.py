"""RAM and swap as Linux tells them: a few small files a tick, some 10 µs each. All roots can be moved, for tests.

Never read here: smaps, smaps_rollup or psutil's memory_full_info of a child, which would stall it (DESIGN §9.13).
"""

from pathlib import Path

from layadesk.domain.hardware import SwapKind, Why
from layadesk.telemetry.cgroup import CgroupMemory
from layadesk.telemetry.sensors import HostDraft
from layadesk.telemetry.small_files import kib_after, number_after, read_lines, word

_SWAP_KINDS_EVERY_S = 10.0


class LinuxMemory:
    """RAM and swap of the machine, or of the container where that has less."""

    fields: tuple[str, ...] = (
        "ram_total_bytes",
        "ram_available_bytes",
        "ram_limit_bytes",
        "ram_limit_used_bytes",
        "swap_total_bytes",
        "swap_used_bytes",
    )

    def __init__(self, proc_root: Path, cgroup: CgroupMemory) -> None:
        self._meminfo = proc_root / "meminfo"
        self._arcstats = proc_root / "spl" / "kstat" / "zfs" / "arcstats"
        self._cgroup = cgroup
        self._has_zfs = self._arcstats.exists()
        self._is_wsl = "microsoft" in word(proc_root / "sys" / "kernel" / "osrelease").lower()

    def fill(self, draft: HostDraft, now: float) -> None:
        """`available` is the kernel's own estimate, page cache that can be dropped included."""
        text = read_lines(self._meminfo)
        total, available = kib_after(text, b"MemTotal:"), kib_after(text, b"MemAvailable:")
        bad: Why | None = None
        if available is not None and total is not None:
            bad = Why.BAD_VALUE if available > total else None
            available = min(available + self._zfs_cache(), total)
        remark = Why.WSL_VM if self._is_wsl and total is not None else None  # ODS#254: half of the PC's, not all
        draft.put("ram_total_bytes", total, remark)
        draft.put("ram_available_bytes", None if bad else available, bad)
        self._fill_limit(draft, now)
        fill_swap(draft, kib_after(text, b"SwapTotal:"), kib_after(text, b"SwapFree:"))

    def reset(self) -> None:
        """Nothing to forget."""

    def _fill_limit(self, draft: HostDraft, now: float) -> None:
        limit = self._cgroup.read(now)
        total, available = draft["ram_total_bytes"], draft["ram_available_bytes"]
        if limit is None or total is None or limit.limit_bytes >= total:
            draft.lack(Why.NO_LIMIT, "ram_limit_bytes", "ram_limit_used_bytes")
            return
        draft.put("ram_limit_bytes", limit.limit_bytes)
        draft.put("ram_limit_used_bytes", limit.used_bytes, Why.UNREADABLE if limit.used_bytes is None else None)
        room = limit.limit_bytes if limit.used_bytes is None else max(limit.limit_bytes - limit.used_bytes, 0)
        draft.put("ram_total_bytes", limit.limit_bytes, Why.CGROUP_LIMIT)
        draft.put("ram_available_bytes", room if available is None else min(room, available), Why.CGROUP_LIMIT)

    def _zfs_cache(self) -> int:
        """ZFS' own cache gives way like page cache, but the kernel does not count it as available (btop #150)."""
        if not self._has_zfs:
            return 0
        try:
            text = read_lines(self._arcstats)
        except OSError:
            return 0
        size, least = number_after(text, b"size  4 "), number_after(text, b"c_min  4 ")
        return 0 if size is None or least is None else max(size - least, 0)


def fill_swap(draft: HostDraft, total: int | None, free: int | None) -> None:
    """A machine without swap has 0 of it and uses None of it: nothing to draw, nothing to divide by."""
    draft.put("swap_total_bytes", total, Why.UNSUPPORTED if total is None else None)
    if total is None or (free is None and total):
        draft.put("swap_used_bytes", None, Why.UNSUPPORTED)
    elif total == 0:
        draft.put("swap_used_bytes", None, Why.NO_SWAP)
    elif free is None or not 0 <= free <= total:
        draft.put("swap_used_bytes", None, Why.BAD_VALUE)
    else:
        draft.put("swap_used_bytes", total - free)


class LinuxSwapKind:
    """Whether swapped pages go to a disk or stay in RAM, compressed; after `LinuxMemory` in the list."""

    fields: tuple[str, ...] = ("swap_kind", "zram_bytes")

    def __init__(self, proc_root: Path, sys_root: Path) -> None:
        self._swaps = proc_root / "swaps"
        self._zswap = sys_root / "module" / "zswap" / "parameters" / "enabled"
        self._block = sys_root / "block"
        self._at: float | None = None
        self._kind: SwapKind | None = None
        self._zram: int | None = None

    def fill(self, draft: HostDraft, now: float) -> None:
        """Read anew every 10 s; swap is not turned on and off often."""
        if draft["swap_total_bytes"] == 0:
            draft.lack(Why.NO_SWAP, *self.fields)
            return
        if self._at is None or now - self._at >= _SWAP_KINDS_EVERY_S:
            self._at = now
            self._read()
        draft.put("swap_kind", self._kind)
        draft.put("zram_bytes", self._zram)

    def reset(self) -> None:
        """Look again."""
        self._at = None

    def _read(self) -> None:
        try:
            lines = read_lines(self._swaps).decode("ascii", "replace").split("\n")[2:]
        except OSError:
            lines = []
        devices = [line.split()[0].rsplit("/", 1)[-1] for line in lines if line.strip()]
        zrams = [device for device in devices if device.startswith("zram")]
        self._kind = None
        if devices:
            is_mixed = 0 < len(zrams) < len(devices)
            disk = SwapKind.ZSWAP if word(self._zswap) == "Y" else SwapKind.DISK
            self._kind = SwapKind.MIXED if is_mixed else SwapKind.ZRAM if zrams else disk
        sizes = [self._ram_of(zram) for zram in zrams]
        known = [size for size in sizes if size is not None]
        self._zram = sum(known) if known else None

    def _ram_of(self, zram: str) -> int | None:
        fields = word(self._block / zram / "mm_stat").split()  # original, compressed, memory used, …
        return int(fields[2]) if len(fields) > 2 and fields[2].isdigit() else None
