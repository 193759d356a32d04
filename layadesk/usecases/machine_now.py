"""What is free on this machine at this moment, others' use included: asked again before every load (fault A14)."""

import threading
import time
from collections.abc import Callable, Sequence

from layadesk.domain.hardware import GpuSample, HardwareSample, Why
from layadesk.domain.memory_fit.machine import GpuMemory, MachineMemory, MemoryKind
from layadesk.protocol.dry_run import DeviceSeen
from layadesk.telemetry.sampler import Sampler

FRESH_S = 0.6
WAIT_S = 1.5
_GPU_KINDS = {"gpu": MemoryKind.DISCRETE, "igpu": MemoryKind.UNIFIED}


class MachineNow:
    """Any thread but the sampler's own; `read` blocks until there is a sample that is fresh."""

    def __init__(
        self,
        sampler: Sampler,
        devices: Callable[[], Sequence[DeviceSeen]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sampler = sampler
        self._devices = devices
        self._clock = clock
        self._lock = threading.Lock()

    def read(self) -> MachineMemory:
        """RAM and the GPUs that llama.cpp can use. Unknown where a sensor cannot tell."""
        return machine_memory(self._fresh_sample(), self._devices())

    def last(self) -> MachineMemory:
        """As of the last sample; returns at once."""
        samples = self._sampler.history()[-1:]
        return machine_memory(samples[0], self._devices()) if samples else MachineMemory()

    def _fresh_sample(self) -> HardwareSample:
        came = threading.Event()
        kept: list[HardwareSample] = list(self._sampler.history()[-1:])

        def take(sample: HardwareSample) -> None:
            kept.append(sample)
            if sample.reasons.get("gpus") != Why.NOT_YET:
                came.set()

        if kept and self._clock() - kept[-1].taken_at < FRESH_S and kept[-1].reasons.get("gpus") != Why.NOT_YET:
            return kept[-1]
        unsubscribe = self._sampler.feed.subscribe(take)
        try:
            with self._lock:
                self._sampler.start()  # nothing where it runs
            came.wait(WAIT_S)
        finally:
            unsubscribe()
        return kept[-1] if kept else HardwareSample(self._clock())


def machine_memory(sample: HardwareSample, devices: Sequence[DeviceSeen]) -> MachineMemory:
    """A sample as the verdict needs it. Only GPUs that llama.cpp has are in it: a driver alone offloads nothing."""
    usable = [device for device in devices if device.kind in _GPU_KINDS]
    gpus = tuple(_gpu(device, _sample_of(device, number, sample.gpus)) for number, device in enumerate(usable))
    return MachineMemory(sample.ram_total_bytes, sample.ram_available_bytes, gpus)


def _sample_of(device: DeviceSeen, number: int, samples: Sequence[GpuSample]) -> GpuSample | None:
    """By name; by its place in the order where names do not tell."""
    described = device.description.casefold()
    for sample in samples:
        name = sample.name.casefold()
        if name and (name in described or described in name):
            return sample
    return samples[number] if number < len(samples) and device.device.startswith(("CUDA", "ROCm")) else None


def _gpu(device: DeviceSeen, sample: GpuSample | None) -> GpuMemory:
    seen_free = device.free_bytes if 0 < device.free_bytes <= device.total_bytes else None
    kind = _GPU_KINDS[device.kind]
    name = device.description or device.device
    if sample is None:
        return GpuMemory(device.device, name, kind, device.total_bytes or None, seen_free)
    if sample.kind is not None:
        kind = MemoryKind(sample.kind.value)
    free = _minus(sample.vram_total_bytes, sample.vram_used_bytes, sample.vram_reserved_bytes or 0)
    if kind is MemoryKind.DISCRETE:
        free = seen_free if free is None else free
    return GpuMemory(
        device.device,
        name,
        kind,
        total_bytes=sample.vram_total_bytes or (device.total_bytes or None),
        free_bytes=free,
        shared_total_bytes=sample.shared_total_bytes,
        shared_free_bytes=_minus(sample.shared_total_bytes, sample.shared_used_bytes),
        bandwidth_bytes_per_s=sample.bandwidth_bytes_per_s,
    )


def _minus(total: int | None, used: int | None, reserved: int = 0) -> int | None:
    return None if total is None or used is None else max(0, total - used - reserved)
