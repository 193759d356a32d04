"""Whether a bill can be paid on a machine as it is now, and by how much not."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from layadesk.domain.memory_fit.bill import CPU, Basis, BillItem, DeviceBill, MemoryBill
from layadesk.domain.memory_fit.machine import (
    MachineMemory,
    MemoryKind,
    gpu_floor_bytes,
    gpu_reserve_bytes,
    ram_floor_bytes,
    ram_reserve_bytes,
)


class Verdict(StrEnum):
    """`fits` leaves the reserve free, `tight` only a floor. `needs_offload`: the GPU cannot hold all layers."""

    FITS = "fits"
    TIGHT = "tight"
    NEEDS_OFFLOAD = "needs_offload"
    REFUSE = "refuse"
    UNKNOWN = "unknown"


_WORST_LAST = (Verdict.FITS, Verdict.TIGHT, Verdict.UNKNOWN, Verdict.NEEDS_OFFLOAD, Verdict.REFUSE)


@dataclass(frozen=True, slots=True)
class DeviceJudgement:
    """One device: what is needed (in RAM with what a unified GPU takes of it), what is there, what has to stay free."""

    device: str
    needed_bytes: int
    available_bytes: int | None
    reserve_bytes: int
    largest: BillItem
    largest_bytes: int
    verdict: Verdict

    @property
    def missing_bytes(self) -> int:
        """By how much it does not fit; 0 where it does or where nobody knows."""
        if self.available_bytes is None:
            return 0
        return max(0, self.needed_bytes + self.reserve_bytes - self.available_bytes)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a whole bill, and on each device."""

    verdict: Verdict
    devices: tuple[DeviceJudgement, ...]

    @property
    def worst(self) -> DeviceJudgement:
        """The device that decides."""
        return max(self.devices, key=lambda one: (_WORST_LAST.index(one.verdict), one.missing_bytes))

    @property
    def may_load(self) -> bool:
        """Whether it is loaded without asking."""
        return self.verdict in (Verdict.FITS, Verdict.TIGHT)


def judge(bill: MemoryBill, machine: MachineMemory, *, freed: Mapping[str, int] | None = None) -> Judgement:
    """The verdict. `freed` are bytes by device that come back first, because an expert is evicted."""
    if bill.basis is Basis.UNKNOWN:
        return Judgement(Verdict.UNKNOWN, (_judge_one(DeviceBill(CPU), 0, None, 0, 0),))
    freed = freed or {}
    judged = []
    from_ram = 0
    for device_bill in bill.devices:
        if device_bill.device == CPU:
            continue
        gpu = next((one for one in machine.gpus if one.device == device_bill.device), None)
        available = None if gpu is None else _plus(machine.pool_free_bytes(gpu), freed.get(device_bill.device, 0))
        reserve = gpu_reserve_bytes(None if gpu is None else machine.pool_total_bytes(gpu))
        judged.append(_judge_one(device_bill, device_bill.total_bytes, available, reserve, gpu_floor_bytes()))
        if gpu is not None and gpu.kind is MemoryKind.UNIFIED:
            from_ram += max(0, device_bill.total_bytes - (gpu.free_bytes or 0))
    host = bill.on(CPU)
    available = _plus(machine.ram_available_bytes, freed.get(CPU, 0))
    reserve, floor = ram_reserve_bytes(machine.ram_total_bytes), ram_floor_bytes(machine.ram_total_bytes)
    judged.append(_judge_one(host, host.total_bytes + from_ram, available, reserve, floor))
    verdict = max((one.verdict for one in judged), key=_WORST_LAST.index)
    return Judgement(verdict, tuple(judged))


def _plus(n_bytes: int | None, more: int) -> int | None:
    return None if n_bytes is None else n_bytes + more


def _judge_one(bill: DeviceBill, needed: int, available: int | None, reserve: int, floor: int) -> DeviceJudgement:
    if available is None:
        verdict = Verdict.UNKNOWN if needed else Verdict.FITS
    elif needed <= available - reserve:
        verdict = Verdict.FITS
    elif needed <= available - floor:
        verdict = Verdict.TIGHT
    else:
        verdict = Verdict.REFUSE
    largest, n_bytes = max(bill.items, key=lambda item: item[1])
    return DeviceJudgement(bill.device, needed, available, reserve, largest, n_bytes, verdict)
