"""When the machine is in trouble: the table of all warnings, each with its limits and how long they must hold.

Refault, swap-in and residency limits come from one experiment (a mapped file of twice its memory limit), the others
from what systemd-oomd and earlyoom act on. They are here and nowhere else, to be tuned together.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

from layadesk.domain.hardware import GpuKind, GpuSample, HardwareSample, SwapKind, Throttle

MIB: Final = 2**20
GIB: Final = 2**30
ZRAM_EASE: Final = 4.0  # compressed RAM is that much faster than a disk


class Danger(StrEnum):
    """What is wrong; `ui/texts/alerts.py` has cause and remedy."""

    RAM = "ram"
    PRESSURE = "pressure"
    STALLED = "stalled"  # every task waits for memory
    SWAPPING = "swapping"
    ENGINE_SWAPPED = "engine_swapped"
    REREAD = "reread"  # mapped weights are dropped and read again
    WEIGHTS = "weights"  # part of the mapped weights is not in RAM
    VRAM = "vram"
    VRAM_OF_OTHERS = "vram_of_others"  # it is full, and nothing on that GPU is ours
    SPILL = "spill"  # VRAM is full and its driver moved something to RAM
    GPU_IN_RAM = "gpu_in_ram"
    COMMIT = "commit"
    PAGES_INPUT = "pages_input"
    MAC_PRESSURE = "mac_pressure"
    THROTTLE = "throttle"


# Those after which the system may end a program, or nothing moves any more.
OUT_OF_MEMORY: Final = frozenset(
    {Danger.RAM, Danger.STALLED, Danger.SWAPPING, Danger.SPILL, Danger.WEIGHTS, Danger.COMMIT, Danger.MAC_PRESSURE}
)


class Severity(IntEnum):
    """`WARN` will hurt, `CRITICAL` hurts."""

    WARN = 1
    CRITICAL = 2


@dataclass(frozen=True, slots=True)
class Rule:
    """Above `warn` for `warn_after_s` is a warning, above `critical` for `critical_after_s` is critical.

    `measure` gives None where the sample cannot tell. A limit of infinity never applies.
    """

    danger: Danger
    measure: Callable[[HardwareSample], float | None]
    warn: float
    critical: float
    warn_after_s: float = 3.0
    critical_after_s: float = 3.0


def _ram(sample: HardwareSample) -> float | None:
    """How many times what should be available is not: 1 at 10 % or 1 GiB left, 2 at 4 % or 400 MiB."""
    total, available = sample.ram_total_bytes, sample.ram_available_bytes
    if total is None or available is None:
        return None
    wanted, least = max(0.1 * total, min(GIB, total / 4)), max(0.04 * total, min(400 * MIB, total / 10))
    if available >= wanted:
        return wanted / max(available, 1)
    return min(1.0 + (wanted - available) / (wanted - least), 2.5)


def _swap_in(sample: HardwareSample) -> float | None:
    rate = sample.swap_in_bytes_per_s
    return None if rate is None else rate / (ZRAM_EASE if sample.swap_kind is SwapKind.ZRAM else 1.0)


def _engine_swapped(sample: HardwareSample) -> float | None:
    private, swapped = sample.engine_bytes, sample.engine_swap_bytes
    return None if private is None or swapped is None else swapped / max(private + swapped, 1)


def _reread(sample: HardwareSample) -> float | None:
    return sample.refault_bytes_per_s if sample.work.is_busy else None


def _pages_input(sample: HardwareSample) -> float | None:
    return sample.pages_input_bytes_per_s if sample.work.n_running else None


def _weights_missing(sample: HardwareSample) -> float | None:
    """Only while they are needed, and only when some were there and had to go: a first reading is no trouble."""
    total, resident, work = sample.weights_bytes, sample.weights_resident_bytes, sample.work
    is_needed = work.reads_mapped_weights and work.n_running > 0 and not work.is_loading
    if not total or resident is None or not is_needed or sample.weights_evicted_bytes == 0:
        return None
    return 1.0 - resident / total


def _vram_fill(gpu: GpuSample) -> float | None:
    total, used = gpu.vram_total_bytes, gpu.vram_used_bytes
    if gpu.kind is GpuKind.UNIFIED or not total or used is None:  # never of a carve-out (ollama #12062)
        return None
    room = total - (gpu.vram_reserved_bytes or 0)
    fill = used / max(room, 1)
    is_small = room - used < 512 * MIB and room > 2 * GIB
    return max(fill, 0.92) if is_small else fill


def _vram(sample: HardwareSample) -> float | None:
    return _greatest(_vram_fill(gpu) for gpu in sample.gpus if gpu.engine_bytes != 0)


def _vram_of_others(sample: HardwareSample) -> float | None:
    return _greatest(_vram_fill(gpu) for gpu in sample.gpus if gpu.engine_bytes == 0)


def _spill(sample: HardwareSample) -> float | None:
    """Bytes a full GPU keeps in RAM: evicted ones on AMD, the engine's shared part on Windows."""
    spilled = [
        float(gpu.evicted_bytes if gpu.evicted_bytes is not None else gpu.engine_shared_bytes or 0)
        for gpu in sample.gpus
        if (_vram_fill(gpu) or 0.0) >= 0.9
    ]
    return max(spilled) if spilled else None


def _gpu_in_ram(sample: HardwareSample) -> float | None:
    return _greatest(
        gpu.shared_used_bytes / gpu.shared_total_bytes
        for gpu in sample.gpus
        if gpu.kind is GpuKind.UNIFIED and gpu.shared_total_bytes and gpu.shared_used_bytes is not None
    )


def _commit(sample: HardwareSample) -> float | None:
    used, limit = sample.commit_used_bytes, sample.commit_limit_bytes
    return None if used is None or not limit else used / limit


def _throttle(sample: HardwareSample) -> float | None:
    known = [gpu.throttle for gpu in sample.gpus if gpu.throttle is not None]
    slowed = {Throttle.THERMAL, Throttle.POWER_BRAKE, Throttle.HARDWARE}
    return float(any(slowed & set(reasons) for reasons in known)) if known else None


def _greatest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


NEVER: Final = float("inf")
REREAD_WARN: Final = 50.0 * MIB
RULES: Final[tuple[Rule, ...]] = (
    Rule(Danger.RAM, _ram, 1.0, 2.0, 2.0, 1.0),
    Rule(Danger.PRESSURE, lambda sample: sample.psi_some_percent, 10.0, 40.0, 5.0, 10.0),
    Rule(Danger.STALLED, lambda sample: sample.psi_full_percent, 2.0, 10.0, 5.0, 5.0),
    Rule(Danger.SWAPPING, _swap_in, 4.0 * MIB, 32.0 * MIB, 3.0, 5.0),
    Rule(Danger.ENGINE_SWAPPED, _engine_swapped, 0.05, NEVER, 3.0),
    Rule(Danger.REREAD, _reread, REREAD_WARN, 200.0 * MIB, 3.0, 5.0),
    Rule(Danger.WEIGHTS, _weights_missing, 0.05, 0.20, 3.0, 5.0),
    Rule(Danger.VRAM, _vram, 0.92, 0.97, 3.0, 3.0),
    Rule(Danger.VRAM_OF_OTHERS, _vram_of_others, 0.92, NEVER, 3.0),
    Rule(Danger.SPILL, _spill, NEVER, 256.0 * MIB, 3.0, 3.0),
    Rule(Danger.GPU_IN_RAM, _gpu_in_ram, 0.92, NEVER, 3.0),
    Rule(Danger.COMMIT, _commit, 0.90, 0.97, 3.0, 3.0),
    Rule(Danger.PAGES_INPUT, _pages_input, 50.0 * MIB, 200.0 * MIB, 3.0, 5.0),
    Rule(Danger.MAC_PRESSURE, lambda sample: sample.pressure_level, 2.0, 4.0, 3.0, 3.0),
    Rule(Danger.THROTTLE, _throttle, 1.0, NEVER, 5.0),
)
