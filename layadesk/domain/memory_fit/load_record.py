"""What a load really took, beside what was predicted: one record a load, and what many of them teach."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Final

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import with_overhead
from layadesk.domain.memory_fit.bill import CPU, Basis, DeviceBill, MemoryBill

LEAST_LOADS: Final = 3  # one odd load teaches nothing
N_LOADS: Final = 20  # the newest, so that another driver or version is learned anew
LEAST_VRAM_BYTES: Final = 2**20  # less than this is no layer


class OffloadMiss(StrEnum):
    """Why layers that were meant for a GPU are not there."""

    NO_GPU_BUILD = "no_gpu_build"  # this llama.cpp computes on the CPU alone
    NO_DEVICE = "no_device"  # it could, and found no GPU
    NO_LAYERS = "no_layers"  # llama.cpp put none there
    FEWER_LAYERS = "fewer_layers"
    NO_VRAM = "no_vram"  # reported there, and yet the VRAM in use has not grown


@dataclass(frozen=True, slots=True)
class LoadMeasure:
    """What the engine itself saw of a load. `devices` are llama.cpp's buffers, empty where it told of none.

    `private_bytes`: by how much the private memory of the process grew until the load was over; compute buffers are
    touched only by the first answer. `mapped_bytes`: weights in mapped file pages, which are not private.
    """

    devices: tuple[DeviceBill, ...] = ()
    private_bytes: int | None = None
    mapped_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class LoadRecord:
    """One load. `loaded_at` is seconds since the epoch; `backend` is `CPU`, `CUDA` and so on; None is unknown.

    `layers_asked` and `layers_on_gpu` count the output as one. `vram_bytes`: by how much the engine's share grew.
    """

    loaded_at: float
    model_id: str
    architecture: str
    backend: str
    n_vocab: int
    params: LoadParams | None
    predicted: MemoryBill | None
    measure: LoadMeasure
    layers_asked: int | None
    layers_on_gpu: int
    vram_bytes: int | None = None
    miss: OffloadMiss | None = None

    def reported_on(self, device: str) -> DeviceBill | None:
        """llama.cpp's own figures for a device; None where it told nothing."""
        return next((one for one in self.measure.devices if one.device == device), None)

    def measured_on(self, device: str) -> int | None:
        """What was measured on a device: private memory and mapped weights in RAM, or the growth of VRAM."""
        if device != CPU:
            return self.vram_bytes if self._n_gpus == 1 else None
        if self.measure.private_bytes is None:
            return None
        return self.measure.private_bytes + (self.measure.mapped_bytes or 0)

    def beyond_bill(self) -> dict[str, int]:
        """By device, what was measured beyond the buffers and their usual overhead; never less than 0, since buffers
        that are not yet in use are not in what is measured."""
        bill = with_overhead(MemoryBill(self.measure.devices, 0, 0, Basis.REPORTED), n_vocab=self.n_vocab)
        beyond = {}
        for one in bill.devices:
            measured = self.measured_on(one.device)
            if measured is not None:
                beyond[one.device] = max(0, measured - (one.total_bytes - one.margin_bytes))
        return beyond

    @property
    def _n_gpus(self) -> int:
        return sum(one.device != CPU for one in self.measure.devices)


def offload_miss(
    *, asked: int | None, on_gpu: int, vram_bytes: int | None, supports_gpu: bool, has_gpu: bool
) -> OffloadMiss | None:
    """Whether layers that were asked onto a GPU are elsewhere, and why; None: all is as asked, or nobody can tell."""
    if not asked:
        return None
    if on_gpu == 0:
        if not supports_gpu:
            return OffloadMiss.NO_GPU_BUILD
        return OffloadMiss.NO_LAYERS if has_gpu else OffloadMiss.NO_DEVICE
    if on_gpu < asked:
        return OffloadMiss.FEWER_LAYERS
    return OffloadMiss.NO_VRAM if vram_bytes is not None and vram_bytes < LEAST_VRAM_BYTES else None


def learned_corrections(records: Iterable[LoadRecord]) -> Mapping[tuple[str, str], int]:
    """Bytes by (architecture, device) that the newest loads took beyond their bill, by the median. Newest first."""
    seen: dict[tuple[str, str], list[int]] = {}
    for record in records:
        for device, n_bytes in record.beyond_bill().items():
            seen.setdefault((record.architecture, device), []).append(n_bytes)
    middle = {key: round(median(values[:N_LOADS])) for key, values in seen.items() if len(values) >= LEAST_LOADS}
    return {key: n_bytes for key, n_bytes in middle.items() if n_bytes > 0}
