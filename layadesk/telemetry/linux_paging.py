"""What Linux says about memory that is short: pages swapped, read again or faulted in, and time lost to waiting.

Of all signals, `workingset_refault_file` is the one that tells at once that mapped weights do not fit: measured on a
model of twice its limit, swap and MemAvailable said nothing at all, and PSI half a minute later.
"""

import mmap
import re
from collections.abc import Callable
from pathlib import Path

from layadesk.domain.hardware import Why
from layadesk.telemetry.rates import Rates
from layadesk.telemetry.sensors import HostDraft
from layadesk.telemetry.small_files import number_after, read_lines

_PSI_RETRY_S = 60.0
_AVG10 = re.compile(rb"\n(some|full) avg10=([0-9.]+)")


class LinuxPaging:
    """Rates from /proc/vmstat; after `LinuxMemory` in the list."""

    fields: tuple[str, ...] = (
        "swap_in_bytes_per_s",
        "swap_out_bytes_per_s",
        "refault_bytes_per_s",
        "major_faults_per_s",
    )
    # kernels before 5.9 count refaults of all kinds of pages in one number
    _LABELS = ((b"pswpin ",), (b"pswpout ",), (b"workingset_refault_file ", b"workingset_refault "), (b"pgmajfault ",))
    _UNITS = (mmap.PAGESIZE, mmap.PAGESIZE, mmap.PAGESIZE, 1)

    def __init__(self, proc_root: Path) -> None:
        self._vmstat = proc_root / "vmstat"
        self._rates = Rates()

    def fill(self, draft: HostDraft, now: float) -> None:
        """A rate needs two readings, and counters that did not run backwards."""
        text = read_lines(self._vmstat)
        counters = [_first(text, labels) for labels in self._LABELS]
        for name, unit, (rate, why) in zip(self.fields, self._UNITS, self._rates.take(now, counters), strict=True):
            draft.put(name, None if rate is None else rate * unit, why)
        if draft["swap_total_bytes"] == 0:
            draft.lack(Why.NO_SWAP, "swap_in_bytes_per_s", "swap_out_bytes_per_s")

    def reset(self) -> None:
        """The next reading is a first one."""
        self._rates.forget()


def _first(text: bytes, labels: tuple[bytes, ...]) -> int | None:
    found = (number_after(text, label) for label in labels)
    return next((value for value in found if value is not None), None)


class LinuxPressure:
    """Pressure stall information: the worse of the machine's and of the container's own."""

    fields: tuple[str, ...] = ("psi_some_percent", "psi_full_percent")

    def __init__(self, proc_root: Path, limited_group: Callable[[], Path | None]) -> None:
        self._machine = proc_root / "pressure" / "memory"
        self._limited_group = limited_group
        self._refused_at: dict[Path, float] = {}

    def fill(self, draft: HostDraft, now: float) -> None:
        """Averages over 10 s, as the kernel makes them. Some kernels have the file and refuse to be read."""
        group = self._limited_group()
        paths = [self._machine] if group is None else [self._machine, group / "memory.pressure"]
        found = [_averages(text) for path in paths if (text := self._read(path, now)) is not None]
        for index, name in enumerate(self.fields):
            values = [value for pair in found if (value := pair[index]) is not None]
            draft.put(name, max(values) if values else None)

    def reset(self) -> None:
        """Ask again."""
        self._refused_at.clear()

    def _read(self, path: Path, now: float) -> bytes | None:
        refused_at = self._refused_at.get(path)
        if refused_at is not None and now - refused_at < _PSI_RETRY_S:
            return None
        try:
            return read_lines(path)
        except OSError:
            self._refused_at[path] = now
            return None


def _averages(text: bytes) -> tuple[float | None, float | None]:
    found = {kind: _percent(value) for kind, value in _AVG10.findall(text)}
    return found.get(b"some"), found.get(b"full")


def _percent(text: bytes) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 100 else None
