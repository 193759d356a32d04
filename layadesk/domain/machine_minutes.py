"""A minute of the machine as one reading: what is kept for longer than the half hour in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from layadesk.domain.hardware import EngineWork, GpuSample, HardwareSample

MINUTE_S: Final = 60.0
# Amounts are kept by their mean, and what comes in bursts by its peak: the mean of a short answer's speed says nothing.
HOST_MEANS: Final = (
    "ram_total_bytes", "ram_available_bytes", "engine_bytes", "router_bytes", "swap_total_bytes", "swap_used_bytes",
    "weights_resident_bytes", "cpu_count", "engine_cpu_cores",
)  # fmt: skip
HOST_PEAKS: Final = ("refault_bytes_per_s",)
WORK_PEAKS: Final = ("prefill_tps", "decode_tps")
GPU_MEANS: Final = (
    "vram_total_bytes", "vram_used_bytes", "vram_reserved_bytes", "engine_bytes", "shared_total_bytes",
    "shared_used_bytes", "engine_shared_bytes", "utilization_percent", "memory_busy_percent", "power_watts",
    "power_limit_watts",
)  # fmt: skip
GPU_PEAKS: Final = ("temperature_celsius",)

PartT = TypeVar("PartT", HardwareSample, GpuSample, EngineWork)


@dataclass(frozen=True, slots=True)
class MachineMinute:
    """`minute` counts from the epoch; `figures` has those of `n_samples` readings, None where no one knew.

    Of `figures`, `taken_at` is 0: the clock of another run means nothing in this one.
    """

    minute: int
    n_samples: int
    figures: HardwareSample


def minute_of(sample: HardwareSample) -> int:
    """The minute since the epoch in which a sample was taken."""
    return int(sample.wall_at // MINUTE_S)


def roll_up(samples: Sequence[HardwareSample]) -> MachineMinute:
    """One minute of the samples of one; at least one. GPUs in the order in which they were first seen."""
    minute = minute_of(samples[0])
    seen: dict[str, list[GpuSample]] = {}
    for sample in samples:
        for gpu in sample.gpus:
            seen.setdefault(gpu.gpu_id, []).append(gpu)
    figures = HardwareSample(
        0.0,
        gpus=tuple(_rolled(GpuSample(one[0].gpu_id, one[0].name, kind=one[-1].kind), one) for one in seen.values()),
        work=_peaks(EngineWork(), [sample.work for sample in samples], WORK_PEAKS),
        wall_at=minute * MINUTE_S,
    )
    figures = _means(figures, samples, HOST_MEANS)
    return MachineMinute(minute, len(samples), _peaks(figures, samples, HOST_PEAKS))


def _rolled(blank: GpuSample, samples: Sequence[GpuSample]) -> GpuSample:
    return _peaks(_means(blank, samples, GPU_MEANS), samples, GPU_PEAKS)


def _means(into: PartT, samples: Sequence[PartT], names: Sequence[str]) -> PartT:
    return _filled(into, samples, names, lambda known: sum(known) / len(known))


def _peaks(into: PartT, samples: Sequence[PartT], names: Sequence[str]) -> PartT:
    return _filled(into, samples, names, max)


def _filled(into: PartT, samples: Sequence[PartT], names: Sequence[str], fold: Callable[[list[float]], float]) -> PartT:
    found: dict[str, float] = {}
    for name in names:
        known = [value for sample in samples if (value := getattr(sample, name)) is not None]
        if known:
            value = fold(known)
            found[name] = round(value) if all(isinstance(one, int) for one in known) else value
    return replace(into, **found)  # type: ignore[arg-type]  # by name
