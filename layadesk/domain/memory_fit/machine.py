"""What a machine has and what of it is free now, as the verdict needs it. Swap is not in it: it is never capacity."""

from dataclasses import dataclass
from enum import StrEnum

MIB, GIB = 2**20, 2**30


class MemoryKind(StrEnum):
    """Whose memory a GPU computes in."""

    DISCRETE = "discrete"  # its own
    UNIFIED = "unified"  # a small carve-out and the machine's RAM


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """One GPU that llama.cpp can use. What is free already lacks what others hold; None: nobody knows.

    Unified: `total_bytes` and `free_bytes` are the carve-out, `shared_*` is what it may take of the RAM (GTT).
    """

    device: str
    name: str
    kind: MemoryKind = MemoryKind.DISCRETE
    total_bytes: int | None = None
    free_bytes: int | None = None
    shared_total_bytes: int | None = None
    shared_free_bytes: int | None = None
    bandwidth_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class MachineMemory:
    """RAM and GPUs; a container's limit, where there is one, has already been taken for the RAM."""

    ram_total_bytes: int | None = None
    ram_available_bytes: int | None = None
    gpus: tuple[GpuMemory, ...] = ()

    @property
    def gpu(self) -> GpuMemory | None:
        """The one that layers go to: a discrete one before an integrated one, never split over both (fault B15)."""
        return min(self.gpus, key=lambda gpu: gpu.kind is MemoryKind.UNIFIED, default=None)

    def pool_free_bytes(self, gpu: GpuMemory) -> int | None:
        """What a GPU can take now. Unified: the carve-out and min(GTT free, RAM available) (faults A18, C01)."""
        if gpu.kind is MemoryKind.DISCRETE:
            return gpu.free_bytes
        known = [n for n in (gpu.shared_free_bytes, self.ram_available_bytes) if n is not None]
        if not known:
            return gpu.free_bytes
        return (gpu.free_bytes or 0) + min(known)

    def pool_total_bytes(self, gpu: GpuMemory) -> int | None:
        """What a GPU has in all."""
        if gpu.kind is MemoryKind.DISCRETE:
            return gpu.total_bytes
        known = [n for n in (gpu.shared_total_bytes, self.ram_total_bytes) if n is not None]
        return (gpu.total_bytes or 0) + min(known) if known else gpu.total_bytes


def gpu_reserve_bytes(total_bytes: int | None) -> int:
    """What must stay free on a GPU for desktop, driver and neighbours (fault A25)."""
    return max(GIB, round((total_bytes or 0) * 0.08))


def gpu_floor_bytes() -> int:
    """Below this much free space, a load on a GPU is refused, not only called tight."""
    return 256 * MIB


def ram_reserve_bytes(total_bytes: int | None) -> int:
    """What must stay available in RAM; earlyoom begins to watch at a tenth."""
    return max(GIB, round((total_bytes or 0) * 0.10))


def ram_floor_bytes(total_bytes: int | None) -> int:
    """Below this the system would kill somebody."""
    return max(400 * MIB, round((total_bytes or 0) * 0.04))
