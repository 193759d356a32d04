"""One reading of the machine. None is a value: the sensor cannot tell, and `reasons` says why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Why(StrEnum):
    """Why a figure is None, or (CGROUP_LIMIT) why it is not the machine's; `ui/texts.py` has the sentence."""

    NOT_YET = "not_yet"  # no reading so far, or a rate that needs two
    NOT_RUNNING = "not_running"  # the child whose memory is asked for
    NO_SWAP = "no_swap"
    CGROUP_LIMIT = "cgroup_limit"  # a container's limit is below the machine's memory and is shown instead
    UNSUPPORTED = "unsupported"
    NO_PERMISSION = "no_permission"
    UNREADABLE = "unreadable"
    BAD_VALUE = "bad_value"  # impossible: above its capacity, or a counter that ran backwards
    SUSPENDED = "suspended"  # the machine slept, or nothing was sampled for a while
    TIMEOUT = "timeout"  # the driver does not answer
    NO_DRIVER = "no_driver"  # no NVIDIA library, or its kernel driver is not loaded
    DRIVER_MISMATCH = "driver_mismatch"  # the driver was updated; the machine must be restarted
    NO_GPU = "no_gpu"
    ASLEEP = "asleep"  # powered down; asking would wake it
    LOST = "lost"  # fell off the bus, or was unplugged
    WDDM = "wddm"  # Windows does not tell NVIDIA's library which process owns what
    CONTAINER = "container"  # the driver knows our process under a number of another namespace


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU. `gpu_id` is stable (UUID or PCI address). `engine_bytes` is the engine process's own share.

    `vram_used_bytes` does not contain `vram_reserved_bytes`, what the driver keeps for itself (None: not known, and
    then it may be inside). What is free: total - used - reserved. `reasons` maps a field name to a `Why`.
    """

    gpu_id: str
    name: str
    vram_total_bytes: int | None = None
    vram_used_bytes: int | None = None
    engine_bytes: int | None = None
    utilization_percent: float | None = None
    power_watts: float | None = None
    temperature_celsius: float | None = None
    vram_reserved_bytes: int | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HardwareSample:
    """The whole machine at `taken_at` (monotonic seconds). RAM in use is total minus available.

    `engine_bytes` and `router_bytes` are the children's private memory (anonymous pages): weights mapped from a file
    are not in it. `swap_used_bytes` is None where there is no swap. `reasons` maps a field name to a `Why`: mostly why
    it is None; `gpus` is there when GPUs cannot be read at all. A sample with every figure None breaks the curve.
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
