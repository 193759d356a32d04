"""The host as Linux tells it: a few small files a tick, some 10 µs each. All roots can be moved, for tests.

Never read here: smaps, smaps_rollup or psutil's memory_full_info of a child, which would stall it (DESIGN §9.13).
"""

import mmap
from collections.abc import Callable
from pathlib import Path

from layadesk.domain.hardware import Why
from layadesk.telemetry.cgroup import CgroupMemory
from layadesk.telemetry.sensors import HostDraft


def number_after(text: bytes, label: bytes) -> int | None:
    """The integer that follows `label` at the start of a line; `text` must begin with a newline."""
    start = text.find(b"\n" + label)
    if start < 0:
        return None
    words = text[start + 1 + len(label) : start + 64 + len(label)].split(maxsplit=1)
    return int(words[0]) if words and words[0].isdigit() else None


class LinuxMemory:
    """RAM and swap of the machine, or of the container where that has less."""

    fields: tuple[str, ...] = ("ram_total_bytes", "ram_available_bytes", "swap_total_bytes", "swap_used_bytes")

    def __init__(self, proc_root: Path, cgroup_root: Path) -> None:
        self._meminfo = proc_root / "meminfo"
        self._cgroup = CgroupMemory(proc_root, cgroup_root)

    def fill(self, draft: HostDraft, now: float) -> None:
        """`available` is the kernel's own estimate, page cache that can be dropped included."""
        text = b"\n" + self._meminfo.read_bytes()
        total, available = _kib(text, b"MemTotal:"), _kib(text, b"MemAvailable:")
        if available is not None and total is not None and available > total:
            available, draft.reasons["ram_available_bytes"] = None, Why.BAD_VALUE
        limit = self._cgroup.read(now)
        if limit is not None and total is not None and limit.limit_bytes < total:
            total = limit.limit_bytes
            room = total if limit.used_bytes is None else max(total - limit.used_bytes, 0)
            available = min(room, total if available is None else available)
            draft.reasons["ram_total_bytes"] = draft.reasons["ram_available_bytes"] = Why.CGROUP_LIMIT
        draft.ram_total_bytes, draft.ram_available_bytes = total, available
        fill_swap(draft, _kib(text, b"SwapTotal:"), _kib(text, b"SwapFree:"))
        for name in ("ram_total_bytes", "ram_available_bytes"):
            if getattr(draft, name) is None:
                draft.reasons.setdefault(name, Why.UNSUPPORTED)

    def reset(self) -> None:
        """Nothing to forget."""


def _kib(text: bytes, label: bytes) -> int | None:
    value = number_after(text, label)
    return None if value is None else value * 1024


def fill_swap(draft: HostDraft, total: int | None, free: int | None) -> None:
    """A machine without swap has 0 of it and uses None of it: nothing to draw, nothing to divide by."""
    draft.swap_total_bytes = total
    if total is None or (free is None and total):
        draft.reasons["swap_used_bytes"] = Why.UNSUPPORTED
        if total is None:
            draft.reasons["swap_total_bytes"] = Why.UNSUPPORTED
    elif total == 0:
        draft.reasons["swap_used_bytes"] = Why.NO_SWAP
    elif free is None or not 0 <= free <= total:
        draft.reasons["swap_used_bytes"] = Why.BAD_VALUE
    else:
        draft.swap_used_bytes = total - free


class LinuxSwapRate:
    """Bytes a second swapped in and out, from the kernel's page counters; after `LinuxMemory` in the list."""

    fields: tuple[str, ...] = ("swap_in_bytes_per_s", "swap_out_bytes_per_s")
    _LABELS = (b"pswpin ", b"pswpout ")

    def __init__(self, proc_root: Path) -> None:
        self._vmstat = proc_root / "vmstat"
        self._before: tuple[float, tuple[int | None, ...]] | None = None

    def fill(self, draft: HostDraft, now: float) -> None:
        """A rate needs two readings, and counters that did not run backwards."""
        if draft.swap_total_bytes == 0:
            draft.reasons.update(dict.fromkeys(self.fields, Why.NO_SWAP))
            return
        text = b"\n" + self._vmstat.read_bytes()
        counters = tuple(number_after(text, label) for label in self._LABELS)
        before, self._before = self._before, (now, counters)
        for index, name in enumerate(self.fields):
            rate, why = _rate(before, now, counters, index)
            setattr(draft, name, rate)
            if why is not None:
                draft.reasons[name] = why

    def reset(self) -> None:
        """The next reading is a first one."""
        self._before = None


def _rate(
    before: tuple[float, tuple[int | None, ...]] | None, now: float, counters: tuple[int | None, ...], index: int
) -> tuple[float | None, Why | None]:
    pages = counters[index]
    if pages is None:
        return None, Why.UNSUPPORTED
    if before is None or before[1][index] is None or now <= before[0]:
        return None, Why.NOT_YET
    moved = pages - (before[1][index] or 0)
    return (None, Why.BAD_VALUE) if moved < 0 else (moved * mmap.PAGESIZE / (now - before[0]), None)


class LinuxChildMemory:
    """Private memory of one child: its anonymous pages. Mapped weights are page cache and not in it."""

    def __init__(self, field_name: str, pid: Callable[[], int | None], proc_root: Path) -> None:
        self.fields: tuple[str, ...] = (field_name,)
        self._pid = pid
        self._proc = proc_root

    def fill(self, draft: HostDraft, now: float) -> None:
        """RssAnon of /proc/<pid>/status."""
        name = self.fields[0]
        pid = self._pid()
        if pid is None:
            draft.reasons[name] = Why.NOT_RUNNING
            return
        try:
            text = b"\n" + (self._proc / str(pid) / "status").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            draft.reasons[name] = Why.NOT_RUNNING
        except PermissionError:
            draft.reasons[name] = Why.NO_PERMISSION
        else:
            value = _kib(text, b"RssAnon:")
            setattr(draft, name, value)
            if value is None:  # a child that has ended and waits to be collected has no memory any more
                ended = b"\nVmSize:" not in text
                draft.reasons[name] = Why.NOT_RUNNING if ended else Why.UNSUPPORTED

    def reset(self) -> None:
        """Nothing to forget."""
