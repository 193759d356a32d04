"""How fast an expert would answer, roughly: each token reads the weights once, so memory's speed is the limit."""

from enum import StrEnum

from layadesk.domain.memory_fit.bill import CPU, MemoryBill
from layadesk.domain.memory_fit.machine import GpuMemory, MachineMemory, MemoryKind

# Where nobody knows better: bytes a second that decoding really gets, of a desktop's two-channel DDR5, of the same
# seen from an integrated GPU, and of a middling card. A class of speed comes of it, never a promise.
CPU_BANDWIDTH = 40e9
UNIFIED_BANDWIDTH = 70e9
DISCRETE_BANDWIDTH = 400e9
REACHED_SHARE = 0.7  # of a rated bandwidth


class SpeedClass(StrEnum):
    """What reading along feels like; `ui/texts` has the words."""

    FAST = "fast"  # faster than one reads
    READING = "reading"  # about as fast
    SLOW = "slow"  # a few tokens a second: it runs, but is not pleasant
    CRAWLING = "crawling"  # less than two


_ORDER = tuple(SpeedClass)


def rank_of(speed: SpeedClass) -> int:
    """0 is the fastest."""
    return _ORDER.index(speed)


def speed_class(tokens_per_s: float) -> SpeedClass:
    """The class of a rate."""
    if tokens_per_s >= 18:
        return SpeedClass.FAST
    if tokens_per_s >= 7:
        return SpeedClass.READING
    return SpeedClass.SLOW if tokens_per_s >= 2 else SpeedClass.CRAWLING


def tokens_per_s(bill: MemoryBill, machine: MachineMemory, *, active_share: float) -> float:
    """An estimate from the weights on each device; `active_share` of them is read for one token (MoE: a small part)."""
    seconds = 1e-3
    for device in bill.devices:
        gpu = next((one for one in machine.gpus if one.device == device.device), None)
        bandwidth = CPU_BANDWIDTH if device.device == CPU or gpu is None else _bandwidth(gpu)
        seconds += device.weights_bytes * active_share / bandwidth
    return 1 / seconds


def _bandwidth(gpu: GpuMemory) -> float:
    if gpu.bandwidth_bytes_per_s:
        return gpu.bandwidth_bytes_per_s * REACHED_SHARE
    return UNIFIED_BANDWIDTH if gpu.kind is MemoryKind.UNIFIED else DISCRETE_BANDWIDTH
