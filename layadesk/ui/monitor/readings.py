"""One sample as the panel shows it: per place of memory what is used, by us and by others. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from layadesk.domain.hardware import REMARKS, GpuKind, GpuSample, HardwareSample


class Place(StrEnum):
    """Kinds of memory that have a card; a GPU's card is its kind of memory and its id."""

    RAM = "ram"
    SWAP = "swap"
    VRAM = "vram"
    GPU_IN_RAM = "gpu_in_ram"  # what a GPU without memory of its own may use


@dataclass(frozen=True, slots=True)
class Reading:
    """Bytes of one place. None is not known, and `why_*` says why; `remark` is what is to be known of a figure.

    `gpu` is the GPU whose memory this is; `weights_bytes` of the models' files, `weights_resident_bytes` in RAM.
    """

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
    remark: str | None = None
    gpu: GpuSample | None = None
    weights_bytes: int | None = None
    weights_resident_bytes: int | None = None
    zram_bytes: int | None = None

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


def readings(sample: HardwareSample) -> tuple[Reading, ...]:
    """The places of one sample, in the order of the panel: GPUs, RAM, swap."""
    return (*(_gpu(gpu) for gpu in sample.gpus), _ram(sample), _swap(sample))


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
        remark=next((str(why) for why in REMARKS if sample.reasons.get("ram_total_bytes") == why), None),
        weights_bytes=sample.weights_bytes,
        weights_resident_bytes=sample.weights_resident_bytes,
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
        zram_bytes=sample.zram_bytes,
    )


def _gpu(gpu: GpuSample) -> Reading:
    if gpu.kind is GpuKind.UNIFIED:
        return Reading(
            Place.GPU_IN_RAM,
            f"{Place.GPU_IN_RAM}:{gpu.gpu_id}",
            name=gpu.name,
            total_bytes=gpu.shared_total_bytes,
            used_bytes=gpu.shared_used_bytes,
            ours_bytes=gpu.engine_shared_bytes,
            why_used=_first(gpu.reasons, "shared_used_bytes", "shared_total_bytes"),
            why_ours=_first(gpu.reasons, "engine_shared_bytes"),
            gpu=gpu,
        )
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
        gpu=gpu,
    )


def _sum(*values: int | None) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _first(reasons: Mapping[str, str], *names: str) -> str | None:
    found: Iterable[str] = (reasons[name] for name in names if name in reasons)
    return next((reason for reason in found if reason not in REMARKS), None)
