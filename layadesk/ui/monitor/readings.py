"""One sample as the panel shows it: per place of memory what is used, by us and by others. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from layadesk.domain.hardware import GpuSample, HardwareSample, Why

WINDOW_S = 60.0


class Place(StrEnum):
    """Kinds of memory that have a card; a GPU's card is `vram` and its id."""

    RAM = "ram"
    SWAP = "swap"
    VRAM = "vram"


@dataclass(frozen=True, slots=True)
class Reading:
    """Bytes of one place. None is not known; `why` is the reason for `used_bytes` or else for `ours_bytes`."""

    place: Place
    key: str
    name: str = ""
    total_bytes: int | None = None
    used_bytes: int | None = None
    ours_bytes: int | None = None
    why_used: str | None = None
    why_ours: str | None = None
    in_bytes_per_s: float | None = None
    out_bytes_per_s: float | None = None

    @property
    def others_bytes(self) -> int | None:
        """What is used and not ours."""
        if self.used_bytes is None:
            return None
        return max(self.used_bytes - (self.ours_bytes or 0), 0)

    @property
    def free_bytes(self) -> int | None:
        """What is left."""
        if self.used_bytes is None or self.total_bytes is None:
            return None
        return max(self.total_bytes - self.used_bytes, 0)


@dataclass(frozen=True, slots=True)
class Series:
    """The history of one place: `ago` is seconds before the newest sample (≤ 0), bytes are None where a gap is."""

    ago: tuple[float, ...]
    used: tuple[float | None, ...]
    ours: tuple[float | None, ...]


def readings(sample: HardwareSample) -> tuple[Reading, ...]:
    """The places of one sample, in the order of the panel: GPUs, RAM, swap."""
    return (*(_vram(gpu) for gpu in sample.gpus), _ram(sample), _swap(sample))


def series(samples: Sequence[HardwareSample], key: str) -> Series:
    """One place over the last minute before the newest sample."""
    ago: list[float] = []
    used: list[float | None] = []
    ours: list[float | None] = []
    now = samples[-1].taken_at if samples else 0.0
    for sample in samples:
        age = sample.taken_at - now
        if age < -WINDOW_S:
            continue
        reading = next((r for r in readings(sample) if r.key == key), None)
        ago.append(age)
        used.append(None if reading is None else reading.used_bytes)
        ours.append(None if reading is None else reading.ours_bytes)
    return Series(tuple(ago), tuple(used), tuple(ours))


def _ram(sample: HardwareSample) -> Reading:
    total, available = sample.ram_total_bytes, sample.ram_available_bytes
    used = None if total is None or available is None else total - available
    return Reading(
        Place.RAM,
        Place.RAM,
        total_bytes=total,
        used_bytes=used,
        ours_bytes=_sum(sample.engine_bytes, sample.router_bytes),
        why_used=_first(sample.reasons, "ram_total_bytes", "ram_available_bytes"),
        why_ours=_first(sample.reasons, "engine_bytes", "router_bytes"),
    )


def _swap(sample: HardwareSample) -> Reading:
    return Reading(
        Place.SWAP,
        Place.SWAP,
        total_bytes=sample.swap_total_bytes,
        used_bytes=sample.swap_used_bytes,
        why_used=_first(sample.reasons, "swap_used_bytes", "swap_total_bytes"),
        in_bytes_per_s=sample.swap_in_bytes_per_s,
        out_bytes_per_s=sample.swap_out_bytes_per_s,
    )


def _vram(gpu: GpuSample) -> Reading:
    total = gpu.vram_total_bytes
    if total is not None and gpu.vram_reserved_bytes is not None:
        total -= gpu.vram_reserved_bytes  # nobody can have what the driver keeps for itself
    return Reading(
        Place.VRAM,
        f"{Place.VRAM}:{gpu.gpu_id}",
        name=gpu.name,
        total_bytes=total,
        used_bytes=gpu.vram_used_bytes,
        ours_bytes=gpu.engine_bytes,
        why_used=_first(gpu.reasons, "vram_used_bytes", "vram_total_bytes"),
        why_ours=_first(gpu.reasons, "engine_bytes"),
    )


def _sum(*values: int | None) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _first(reasons: Mapping[str, str], *names: str) -> str | None:
    found: Iterable[str] = (reasons[name] for name in names if name in reasons)
    # A container's limit is a remark about the figure, not a reason for its absence.
    return next((reason for reason in found if reason != Why.CGROUP_LIMIT), None)
