"""Which figures of a sample are drawn: one number each, None where it is not known. Pure.

Memory is drawn as a share of its own total, so that a GPU of 24 GiB and a RAM of 64 GiB stand side by side.
"""

from enum import StrEnum
from typing import Final

from layadesk.domain.hardware import GpuKind, GpuSample, HardwareSample

N_GPUS: Final = 2  # more are shown in figures, not as curves
PERCENT: Final = 100.0


class Column(StrEnum):
    """A curve; those of GPUs exist once for each."""

    RAM_OURS = "ram_ours"
    RAM_OTHERS = "ram_others"
    RAM_GPU = "ram_gpu"
    RAM_WEIGHTS = "ram_weights"
    SWAP = "swap"
    CPU = "cpu"
    DECODE = "decode"
    PREFILL = "prefill"
    REREAD = "reread"


class GpuColumn(StrEnum):
    """A curve of one GPU."""

    OURS = "ours"
    OTHERS = "others"
    BUSY = "busy"
    MEMORY_BUSY = "memory_busy"
    POWER = "power"


Key = tuple[int, str]  # the GPU's place, or -1 for the host; the column
HOST: Final = -1
KEYS: Final[tuple[Key, ...]] = (
    *((HOST, column.value) for column in Column),
    *((place, column.value) for place in range(N_GPUS) for column in GpuColumn),
)


def row(sample: HardwareSample, gpu_ids: tuple[str, ...]) -> tuple[float | None, ...]:
    """The figures of KEYS; `gpu_ids` are the GPUs in the order of their places."""
    by_id = {gpu.gpu_id: gpu for gpu in sample.gpus}
    figures = _host(sample)
    for place in range(N_GPUS):
        gpu = by_id.get(gpu_ids[place]) if place < len(gpu_ids) else None
        figures |= {(place, name): value for name, value in ({} if gpu is None else _gpu(gpu)).items()}
    return tuple(figures.get(key) for key in KEYS)


def gpu_in_ram_bytes(sample: HardwareSample) -> int | None:
    """What GPUs that compute in RAM hold there for the engine; it appears in no process's own memory."""
    shares = [gpu.engine_shared_bytes for gpu in sample.gpus if gpu.kind is GpuKind.UNIFIED]
    known = [share for share in shares if share is not None]
    return sum(known) if known else None


def ours_in_ram_bytes(sample: HardwareSample) -> int | None:
    """Private memory of the engine and the router."""
    known = [part for part in (sample.engine_bytes, sample.router_bytes) if part is not None]
    return sum(known) if known else None


def _host(sample: HardwareSample) -> dict[Key, float | None]:
    total, available = sample.ram_total_bytes, sample.ram_available_bytes
    used = None if total is None or available is None else total - available
    ours, by_gpu = ours_in_ram_bytes(sample), gpu_in_ram_bytes(sample)
    others = None if used is None else max(used - (ours or 0) - (by_gpu or 0), 0)
    weights = sample.weights_resident_bytes
    cores = sample.cpu_count
    return {
        (HOST, Column.RAM_OURS): _share(ours, total),
        (HOST, Column.RAM_GPU): _share(by_gpu, total),
        (HOST, Column.RAM_OTHERS): _share(others, total),
        (HOST, Column.RAM_WEIGHTS): _share(weights, total),
        (HOST, Column.SWAP): _share(sample.swap_used_bytes, sample.swap_total_bytes),
        (HOST, Column.CPU): None if sample.engine_cpu_cores is None or not cores else _percent(sample, cores),
        (HOST, Column.DECODE): sample.work.decode_tps,
        (HOST, Column.PREFILL): sample.work.prefill_tps,
        (HOST, Column.REREAD): sample.refault_bytes_per_s,
    }


def _percent(sample: HardwareSample, cores: int) -> float:
    return min(PERCENT * (sample.engine_cpu_cores or 0.0) / cores, PERCENT)


def _gpu(gpu: GpuSample) -> dict[str, float | None]:
    total = gpu.vram_total_bytes
    if total is not None:
        total -= gpu.vram_reserved_bytes or 0
    others = None if gpu.vram_used_bytes is None else max(gpu.vram_used_bytes - (gpu.engine_bytes or 0), 0)
    limit = gpu.power_limit_watts
    power = None if gpu.power_watts is None or not limit else min(PERCENT * gpu.power_watts / limit, PERCENT)
    return {
        GpuColumn.OURS: _share(gpu.engine_bytes, total),
        GpuColumn.OTHERS: _share(others, total),
        GpuColumn.BUSY: gpu.utilization_percent,
        GpuColumn.MEMORY_BUSY: gpu.memory_busy_percent,
        GpuColumn.POWER: power,
    }


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole
