"""One reading of the machine. None is a value: the sensor cannot tell, and `reasons` says why."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU. `gpu_id` is stable (UUID or PCI address). `engine_bytes` is the engine process's own share."""

    gpu_id: str
    name: str
    vram_total_bytes: int | None = None
    vram_used_bytes: int | None = None
    engine_bytes: int | None = None
    utilization_percent: float | None = None
    power_watts: float | None = None
    temperature_celsius: float | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HardwareSample:
    """The whole machine at `taken_at` (monotonic seconds). RAM in use is total minus available.

    `engine_bytes` and `router_bytes` are the children's private memory (anonymous pages): weights mapped from a file
    are not in it. `swap_used_bytes` is None where there is no swap. `reasons` maps a field name to why it is None.
    """

    taken_at: float
    ram_total_bytes: int | None = None
    ram_available_bytes: int | None = None
    engine_bytes: int | None = None
    router_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None
    swap_in_bytes_per_s: float | None = None
    swap_out_bytes_per_s: float | None = None
    gpus: tuple[GpuSample, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
