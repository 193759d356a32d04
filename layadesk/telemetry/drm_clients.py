"""What one process holds on AMD and Intel GPUs: /proc/<pid>/fdinfo of its open render nodes. Linux only.

Open files are listed anew every 5 s; between, only those that lead to a GPU are read (19 µs for one process; scanning
the files of all processes would take 4 ms and is never done).
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from layadesk.telemetry.small_files import read_lines

INDEX_EVERY_S = 5.0
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}  # a bare number is bytes
_MEMORY_KINDS = ("drm-total-", "drm-memory-", "drm-resident-")  # a later one says it better


@dataclass(slots=True)
class DrmShare:
    """Of one GPU, by its PCI address: bytes by region (`vram`, `gtt`, …), and busy nanoseconds of its engines."""

    bytes_by_region: dict[str, int] = field(default_factory=dict)
    evicted_bytes: int = 0
    engine_ns: dict[str, int] = field(default_factory=dict)


class DrmClients:
    """The engine and its children. GPU lane only."""

    def __init__(self, proc_root: Path) -> None:
        self._proc = proc_root
        self._pid: int | None = None
        self._indexed_at: float | None = None
        self._files: tuple[str, ...] = ()

    def shares(self, pid: int, now: float) -> dict[str, DrmShare] | None:
        """By PCI address; None where the process may not be looked into, or is not there."""
        if pid != self._pid or self._indexed_at is None or now - self._indexed_at >= INDEX_EVERY_S:
            self._pid, self._indexed_at = pid, now
            found = self._index(pid)
            if found is None:
                self._indexed_at = None
                return None
            self._files = found
        shares: dict[str, DrmShare] = {}
        seen: set[tuple[str, str]] = set()  # a file that was duplicated, or inherited, is the same client
        for file in self._files:
            try:
                text = read_lines(file).decode("ascii", "replace")
            except OSError:
                continue
            keys = dict(_pairs(text))
            address, client = keys.get("drm-pdev", ""), keys.get("drm-client-id", "")
            if client and (address, client) not in seen:
                seen.add((address, client))
                _add(shares.setdefault(address, DrmShare()), keys)
        return shares

    def forget(self) -> None:
        """Look for open files again."""
        self._indexed_at = None

    def _index(self, pid: int) -> tuple[str, ...] | None:
        files: list[str] = []
        for one in (pid, *self._children(pid)):
            folder = f"{self._proc}/{one}"
            try:
                numbers = os.listdir(f"{folder}/fd")
            except OSError:
                if one == pid:
                    return None
                continue
            files += [f"{folder}/fdinfo/{number}" for number in numbers if _is_gpu(f"{folder}/fd/{number}")]
        return tuple(files)

    def _children(self, pid: int) -> list[int]:
        found: list[int] = []
        for task in Path(self._proc, str(pid), "task").glob("*/children"):
            try:
                found += [int(word) for word in task.read_text(encoding="ascii").split()]
            except (OSError, ValueError):
                continue
        return found


def _is_gpu(link: str) -> bool:
    try:
        return os.readlink(link).startswith("/dev/dri/")
    except OSError:
        return False


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            yield key.strip(), value.strip()


def _add(share: DrmShare, keys: dict[str, str]) -> None:
    regions: dict[str, int] = {}
    for kind in _MEMORY_KINDS:
        for key, value in keys.items():
            n_bytes = _bytes(value) if key.startswith(kind) else None
            if n_bytes is not None:
                regions[key.removeprefix(kind)] = n_bytes
    for region, n_bytes in regions.items():
        share.bytes_by_region[region] = share.bytes_by_region.get(region, 0) + n_bytes
    share.evicted_bytes += _bytes(keys.get("amd-evicted-vram", "")) or 0
    for key, value in keys.items():
        if key.startswith("drm-engine-") and not key.startswith("drm-engine-capacity-"):
            number = value.partition(" ")[0]
            if number.isdigit():
                name = key.removeprefix("drm-engine-")
                share.engine_ns[name] = share.engine_ns.get(name, 0) + int(number)


def _bytes(text: str) -> int | None:
    number, _, unit = text.partition(" ")
    factor = _UNITS.get(unit.strip())
    return int(number) * factor if number.isdigit() and factor is not None else None
