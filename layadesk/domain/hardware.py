"""One reading of the machine. None is a value: the sensor cannot tell, and `reasons` says why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Why(StrEnum):
    """Why a figure is None, or (REMARKS) what is to be known of one that is not; `ui/texts` has the sentence."""

    NOT_YET = "not_yet"  # no reading so far, or a rate that needs two
    NOT_RUNNING = "not_running"  # the child whose memory is asked for
    NOTHING_MAPPED = "nothing_mapped"  # no expert is read from a mapped file, so there are no weights to look for
    NO_SWAP = "no_swap"
    NO_LIMIT = "no_limit"  # no container's limit is below what the machine has
    UNSUPPORTED = "unsupported"
    NO_PERMISSION = "no_permission"
    UNREADABLE = "unreadable"
    BAD_VALUE = "bad_value"  # impossible: above its capacity, or a counter that ran backwards
    SUSPENDED = "suspended"  # the machine slept, or nothing was sampled for a while
    TIMEOUT = "timeout"  # the driver does not answer
    NO_DRIVER = "no_driver"  # no NVIDIA library, or its kernel driver is not loaded
    DRIVER_MISMATCH = "driver_mismatch"  # the driver was updated; the machine must be restarted
    NO_GPU = "no_gpu"
    INTEL = "intel"  # there is one of Intel, and those are not read
    ASLEEP = "asleep"  # powered down; asking would wake it
    LOST = "lost"  # fell off the bus, or was unplugged
    WDDM = "wddm"  # Windows does not tell NVIDIA's library which process owns what
    WSL_BLIND = "wsl_blind"  # the driver below WSL2 has never reported anything but 0
    CONTAINER = "container"  # the driver knows our process under a number of another namespace
    UNIFIED = "unified"  # this GPU computes in the machine's RAM and has no memory of its own
    STUCK = "stuck"  # the driver reports 100 % although nothing is computed
    ONLY_IN_LOADS = "only_in_loads"  # costs 40 ms a reading, so it is read while an expert loads
    # remarks on a figure that is there
    CGROUP_LIMIT = "cgroup_limit"  # a container's limit is below the machine's memory and is shown instead
    WSL_VM = "wsl_vm"  # the memory of the virtual machine of WSL2, not of the PC
    FROM_MAPPINGS = "from_mappings"  # counted by what the process has mapped, because the kernel cannot tell exactly
    OURS_ONLY = "ours_only"  # the driver's own figure is of no use; this is what the engine keeps busy
    PACKAGE_POWER = "package_power"  # of the whole chip, processor included


REMARKS = frozenset({Why.CGROUP_LIMIT, Why.WSL_VM, Why.FROM_MAPPINGS, Why.OURS_ONLY, Why.PACKAGE_POWER})


class GpuKind(StrEnum):
    """Whose memory a GPU computes in: its own, or the machine's RAM (then its VRAM is a small carve-out)."""

    DISCRETE = "discrete"
    UNIFIED = "unified"


class SwapKind(StrEnum):
    """Where swapped pages go. Compressed RAM (zram) is some ten times faster than a disk and takes RAM itself."""

    DISK = "disk"
    ZRAM = "zram"
    ZSWAP = "zswap"  # compressed RAM before a disk
    MIXED = "mixed"


class Throttle(StrEnum):
    """Why a GPU runs slower than it could."""

    THERMAL = "thermal"
    POWER_BRAKE = "power_brake"
    HARDWARE = "hardware"  # hardware slowdown without a reason given
    POWER_CAP = "power_cap"  # at its power limit, which is normal under load


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU. `gpu_id` is stable (UUID or PCI address). `engine_bytes` is the engine process's own share of the VRAM.

    `vram_used_bytes` does not contain `vram_reserved_bytes`, what the driver keeps for itself (None: not known, and
    then it may be inside). What is free: total - used - reserved. `shared_*` is system RAM that the GPU works in (GTT
    on Linux, shared memory on Windows): the same memory as RAM, so the two are never added up. `evicted_bytes` is what
    was pushed out of the VRAM into RAM. `bandwidth_bytes_per_s` is the memory's rated speed. `source` says where the
    figures come from. `reasons` maps a field name to a `Why`.
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
    kind: GpuKind | None = None
    shared_total_bytes: int | None = None
    shared_used_bytes: int | None = None
    engine_shared_bytes: int | None = None
    evicted_bytes: int | None = None
    memory_busy_percent: float | None = None
    power_limit_watts: float | None = None
    throttle: tuple[Throttle, ...] | None = None
    pcie_rx_bytes_per_s: float | None = None
    pcie_tx_bytes_per_s: float | None = None
    bandwidth_bytes_per_s: float | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class EngineWork:
    """What the engine did at the moment of a sample. Tokens per second are of all its requests together.

    `reads_mapped_weights`: an expert computes layers on the CPU from a mapped file, so its pages must stay in RAM.
    """

    is_loading: bool = False
    n_running: int = 0
    n_waiting: int = 0
    prefill_tps: float | None = None
    decode_tps: float | None = None
    reads_mapped_weights: bool = False

    @property
    def is_busy(self) -> bool:
        """Whether a request or a load runs or waits."""
        return self.is_loading or self.n_running > 0 or self.n_waiting > 0


@dataclass(frozen=True, slots=True)
class HardwareSample:
    """The whole machine at `taken_at` (monotonic seconds). RAM in use is total minus available.

    `engine_bytes` and `router_bytes` are the children's private memory in RAM (anonymous and shared pages): weights
    mapped from a file are not in it but in `weights_resident_bytes`, once for all processes. `swap_used_bytes` is None
    where there is no swap. `engine_cpu_cores` is how many cores the engine keeps busy. `refault_bytes_per_s` counts
    file pages read from disk again after they had been dropped. `psi_*` are the kernel's 10 s averages of time lost to
    waiting for memory. `commit_*` and `pages_input_bytes_per_s` are Windows', `pressure_level` (1, 2, 4) macOS's.
    `took_ms` is what the sampling cost; `slowed_by_ms` is set while it is slowed down because one reading took that
    long. `reasons` maps a field name to a `Why`; `gpus` is there when GPUs cannot be read at all. A sample with every
    figure None breaks the curve. `wall_at` is seconds since the epoch.
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
    ram_limit_bytes: int | None = None
    ram_limit_used_bytes: int | None = None
    swap_kind: SwapKind | None = None
    zram_bytes: int | None = None
    refault_bytes_per_s: float | None = None
    major_faults_per_s: float | None = None
    psi_some_percent: float | None = None
    psi_full_percent: float | None = None
    cpu_count: int | None = None
    cpu_percent: float | None = None
    engine_cpu_cores: float | None = None
    engine_mapped_bytes: int | None = None
    engine_swap_bytes: int | None = None
    weights_bytes: int | None = None
    weights_resident_bytes: int | None = None
    weights_evicted_bytes: int | None = None
    commit_used_bytes: int | None = None
    commit_limit_bytes: int | None = None
    pages_input_bytes_per_s: float | None = None
    pressure_level: int | None = None
    work: EngineWork = EngineWork()
    wall_at: float = 0.0
    took_ms: float | None = None
    slowed_by_ms: float | None = None


_NOT_FIGURES = frozenset({"taken_at", "gpus", "reasons", "work", "wall_at", "took_ms", "slowed_by_ms"})
_NOT_GPU_FIGURES = frozenset({"gpu_id", "name", "reasons", "kind", "source"})
HOST_FIELDS = tuple(name for name in HardwareSample.__dataclass_fields__ if name not in _NOT_FIGURES)
GPU_FIELDS = tuple(name for name in GpuSample.__dataclass_fields__ if name not in _NOT_GPU_FIGURES)


def blank(gpu: GpuSample, why: Why) -> GpuSample:
    """The same GPU with nothing known, all for one reason."""
    return GpuSample(gpu.gpu_id, gpu.name, reasons=dict.fromkeys(GPU_FIELDS, why), kind=gpu.kind, source=gpu.source)
