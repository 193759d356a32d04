"""The memory bill: what one load takes, by device and by what it is for."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

CPU = "CPU"


class Basis(StrEnum):
    """Where the figures of a bill come from."""

    ARITHMETIC = "arithmetic"  # from the header or the catalogue
    DRY_RUN = "dry_run"  # llama.cpp's own answer, without the weights
    REPORTED = "reported"  # by llama.cpp, after the load
    UNKNOWN = "unknown"  # nobody can tell


class BillItem(StrEnum):
    """What memory is for; `ui/texts` has the words."""

    WEIGHTS = "weights"
    KV = "kv"
    COMPUTE = "compute"
    OUTPUT = "output"
    MMPROJ = "mmproj"
    OVERHEAD = "overhead"
    MARGIN = "margin"


@dataclass(frozen=True, slots=True)
class DeviceBill:
    """Bytes on one device, named as llama.cpp names it (`CPU`, `CUDA0`). `kv_bytes` has the recurrent state too.

    `mmproj_bytes`: the model's eyes or ears, where it is used with them. `overhead_bytes`: the driver's context, the
    vocabulary, and what earlier loads were found to take beyond their bill. `margin_bytes`: for what nobody can know
    before.
    """

    device: str
    weights_bytes: int = 0
    kv_bytes: int = 0
    compute_bytes: int = 0
    output_bytes: int = 0
    overhead_bytes: int = 0
    margin_bytes: int = 0
    mmproj_bytes: int = 0

    @property
    def items(self) -> tuple[tuple[BillItem, int], ...]:
        """All parts, in the order in which they are drawn."""
        return (
            (BillItem.WEIGHTS, self.weights_bytes),
            (BillItem.KV, self.kv_bytes),
            (BillItem.COMPUTE, self.compute_bytes),
            (BillItem.OUTPUT, self.output_bytes),
            (BillItem.MMPROJ, self.mmproj_bytes),
            (BillItem.OVERHEAD, self.overhead_bytes),
            (BillItem.MARGIN, self.margin_bytes),
        )

    @property
    def total_bytes(self) -> int:
        """The sum."""
        return sum(n_bytes for _, n_bytes in self.items)

    @property
    def buffers_bytes(self) -> int:
        """What llama.cpp itself allocates and reports: all but overhead and margin."""
        return self.weights_bytes + self.kv_bytes + self.compute_bytes + self.output_bytes


@dataclass(frozen=True, slots=True)
class MemoryBill:
    """The bill of one load. `n_gpu_layers` of `n_layers` (the output counts as one) are on a GPU.

    `correction_bytes` is the part of the overhead that earlier loads have taught.
    """

    devices: tuple[DeviceBill, ...]
    n_gpu_layers: int
    n_layers: int
    basis: Basis
    correction_bytes: int = 0

    @property
    def total_bytes(self) -> int:
        """On all devices."""
        return sum(device.total_bytes for device in self.devices)

    def on(self, device: str) -> DeviceBill:
        """What one device takes; nothing where it is not in the bill."""
        return next((one for one in self.devices if one.device == device), DeviceBill(device))

    def with_mmproj(self, n_bytes: int) -> "MemoryBill":
        """With eyes or ears, which go to the first GPU that has layers, else into RAM."""
        first = next((one.device for one in self.devices if one.device != CPU and one.weights_bytes > 0), CPU)
        devices = tuple(replace(one, mmproj_bytes=n_bytes) if one.device == first else one for one in self.devices)
        return replace(self, devices=devices)

    def corrected(self, device: str, n_bytes: int) -> "MemoryBill":
        """With `n_bytes` that earlier loads took beyond their bill on that device."""
        devices = tuple(
            replace(one, overhead_bytes=max(0, one.overhead_bytes + n_bytes)) if one.device == device else one
            for one in self.devices
        )
        return replace(self, devices=devices, correction_bytes=self.correction_bytes + n_bytes)


def summed(bills: Iterable[DeviceBill], device: str) -> int:
    """What several loads take together on one device."""
    return sum(bill.total_bytes for bill in bills if bill.device == device)
