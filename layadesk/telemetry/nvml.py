"""NVIDIA GPUs through NVML (`pynvml` of nvidia-ml-py), on the GPU lane only. nvidia-smi is never started.

One nvmlInit for the life of the sensor, handles by UUID. NVML calls share a lock with the GPU's own work, so gauges are
read with each tick (at most 4 a second, see `gpu_lane.py`), temperature, throttling and the process list every 2 s,
PCIe once a second and only while an expert loads, fans never. What NVML cannot tell is None with a `Why`; a lost GPU
loses its own curve only.
"""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from layadesk.domain.hardware import GpuKind, GpuSample, Throttle, Why, blank
from layadesk.telemetry.gpu_draft import GpuDraft
from layadesk.telemetry.nvml_calls import Answer, Nvml, Vram
from layadesk.telemetry.pci import PciBus
from layadesk.telemetry.sensors import GpuReading, Watched
from layadesk.telemetry.small_files import word

log = logging.getLogger(__name__)

RETRY_AFTER_S = 60.0
SLOW_EVERY_S = 2.0
LIMIT_EVERY_S = 60.0
PCIE_EVERY_S = 1.0
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO, the same on every Linux


@dataclass(slots=True)
class _Card:
    gpu_id: str
    name: str
    handle: Any
    address: str | None
    instances: tuple[Any, ...] = ()
    lost: Why | None = None
    slow_at: float | None = None
    slow_pid: int | None = None
    bandwidth_bytes_per_s: float | None = None
    has_moved: bool = False  # whether its load was ever anything but 0
    temperature: Answer[float] = field(default_factory=lambda: Answer(None, Why.NOT_YET))
    throttle: Answer[tuple[Throttle, ...]] = field(default_factory=lambda: Answer(None, Why.NOT_YET))
    engine: Answer[int] = field(default_factory=lambda: Answer(None, Why.NOT_YET))
    limit_at: float | None = None
    limit: Answer[float] = field(default_factory=lambda: Answer(None, Why.NOT_YET))
    pcie_at: float | None = None
    pcie: tuple[Answer[float], Answer[float]] = (Answer(None, Why.NOT_YET), Answer(None, Why.NOT_YET))


class NvmlSensor:
    """All NVIDIA GPUs. `load` imports pynvml; the roots are there for tests."""

    def __init__(
        self,
        *,
        load: Callable[[], Any] | None = None,
        sys_root: Path = Path("/sys"),
        proc_root: Path = Path("/proc"),
        platform: str = sys.platform,
    ) -> None:
        self._load = load or _import_pynvml
        self._pci = PciBus(sys_root)
        self._namespace = proc_root / "self" / "ns" / "pid"
        self._platform = platform
        self._is_wsl = "microsoft" in word(proc_root / "sys" / "kernel" / "osrelease").lower()
        self._nvml: Nvml | None = None
        self._cards: list[_Card] = []
        self._known: dict[str, str] = {}  # GPUs seen before, by id: one that vanished is shown as lost
        self._reason: Why | None = None
        self._retry_at: float | None = 0.0

    def read(self, now: float, watched: Watched) -> GpuReading:
        """One reading. Opens the driver at the first one, and again a minute after something was lost."""
        if self._retry_at is not None and now >= self._retry_at:
            self._open(now)
        if self._nvml is None:
            gone = tuple(blank(GpuSample(gpu_id, name), Why.LOST) for gpu_id, name in self._known.items())
            return GpuReading(gone, self._reason)
        samples = {card.gpu_id: self._sample(card, now, watched) for card in self._cards}
        for gpu_id, name in self._known.items():
            samples.setdefault(gpu_id, blank(GpuSample(gpu_id, name), Why.LOST))
        return GpuReading(tuple(samples.values()), None if samples else self._reason)

    def reset(self) -> None:
        """After a suspend handles may be stale: open anew at the next reading."""
        if self._nvml is not None:
            self._retry_at = 0.0

    def close(self) -> None:
        """nvmlShutdown."""
        nvml, self._nvml, self._cards = self._nvml, None, []
        if nvml is not None:
            nvml.shutdown()

    def _open(self, now: float) -> None:
        self.close()
        self._retry_at = None
        if self._pci.all_nvidia_asleep():  # nvmlInit would wake a laptop's GPU, at 20 W (reported faults I13-I15)
            self._reason, self._retry_at = Why.ASLEEP, now + SLOW_EVERY_S
            return
        nvml, self._reason = Nvml.open(self._load)
        if nvml is None:
            if self._reason is not Why.NO_DRIVER or self._known:
                self._retry_at = now + RETRY_AFTER_S
            log.info("no NVIDIA GPUs: %s", self._reason)
            return
        self._nvml = nvml
        for gpu in nvml.gpus():
            rated = nvml.bandwidth_bytes_per_s(gpu.handle)
            self._cards.append(
                _Card(gpu.gpu_id, gpu.name, gpu.handle, gpu.address, gpu.instances, bandwidth_bytes_per_s=rated)
            )
            self._known[gpu.gpu_id] = gpu.name
        if not self._cards:
            self._reason = Why.NO_GPU
        if len(self._cards) < max(len(self._known), nvml.count):
            self._retry_at = now + RETRY_AFTER_S
        log.info("%d NVIDIA GPUs", len(self._cards))

    def _sample(self, card: _Card, now: float, watched: Watched) -> GpuSample:
        gpu = GpuSample(card.gpu_id, card.name, source="nvml")
        nvml = self._nvml
        if card.lost is not None or nvml is None:
            return blank(gpu, card.lost or Why.LOST)
        if card.address is not None and self._pci.is_asleep(card.address):
            return blank(gpu, Why.ASLEEP)
        memory = nvml.memory(card.handle, card.instances)
        if memory.why in (Why.LOST, Why.DRIVER_MISMATCH):
            card.lost = memory.why  # its handle is never used again
            self._retry_at = now + RETRY_AFTER_S if self._retry_at is None else self._retry_at
            log.warning("GPU %s is lost: %s", card.name, memory.why)
            return blank(gpu, memory.why)
        self._read_slow(nvml, card, now, watched.engine_pid)
        if card.limit_at is None or now - card.limit_at >= LIMIT_EVERY_S:
            card.limit_at, card.limit = now, nvml.power_limit_watts(card.handle)
        if not watched.is_loading:
            card.pcie_at, card.pcie = None, (Answer(None, Why.ONLY_IN_LOADS), Answer(None, Why.ONLY_IN_LOADS))
        elif card.pcie_at is None or now - card.pcie_at >= PCIE_EVERY_S:
            card.pcie_at, card.pcie = now, nvml.pcie_bytes_per_s(card.handle)
        draft = GpuDraft(card.gpu_id, card.name, source="nvml")
        _put_memory(draft, card, memory)
        self._put_load(draft, card, nvml)
        return draft.sample()

    def _put_load(self, draft: GpuDraft, card: _Card, nvml: Nvml) -> None:
        busy, memory_busy = nvml.utilization(card.handle)
        card.has_moved = card.has_moved or bool(busy.value)
        if self._is_wsl and not card.has_moved:  # nvtop #109: always 0 there, whatever is computed
            busy = memory_busy = Answer(None, Why.WSL_BLIND)
        power = nvml.power_watts(card.handle)
        received, sent = card.pcie
        for name, answer in (
            ("utilization_percent", busy),
            ("memory_busy_percent", memory_busy),
            ("power_watts", power),
            ("power_limit_watts", card.limit),
            ("temperature_celsius", card.temperature),
            ("pcie_rx_bytes_per_s", received),
            ("pcie_tx_bytes_per_s", sent),
        ):
            draft.put(name, answer.value, answer.why)
        draft.put("throttle", card.throttle.value, card.throttle.why)
        draft.put("bandwidth_bytes_per_s", card.bandwidth_bytes_per_s)

    def _read_slow(self, nvml: Nvml, card: _Card, now: float, engine_pid: int | None) -> None:
        if card.slow_at is not None and now - card.slow_at < SLOW_EVERY_S and card.slow_pid == engine_pid:
            return
        card.slow_at, card.slow_pid = now, engine_pid
        card.temperature = nvml.temperature(card.handle)
        card.throttle = nvml.throttle(card.handle)
        card.engine = self._engine_share(nvml, card, engine_pid)

    def _engine_share(self, nvml: Nvml, card: _Card, engine_pid: int | None) -> Answer[int]:
        if engine_pid is None:
            return Answer(None, Why.NOT_RUNNING)
        if self._platform == "win32":
            return Answer(None, Why.WDDM)
        answer = nvml.processes(card.handle)
        if answer.value is None:
            return Answer(None, answer.why)
        processes = answer.value.by_pid
        if engine_pid in processes:
            share = processes[engine_pid]
            return Answer(share, Why.UNSUPPORTED if share is None else None)
        if processes and self._in_container():  # the driver counts processes of the host, by the host's numbers
            return Answer(None, Why.CONTAINER)
        return Answer(None, Why.BAD_VALUE) if answer.value.n_scrambled else Answer(0)

    def _in_container(self) -> bool:
        try:
            return str(self._namespace.readlink()) != _INITIAL_PID_NAMESPACE
        except OSError:
            return False


def _put_memory(draft: GpuDraft, card: _Card, memory: Answer[Vram]) -> None:
    """A GPU without memory of its own computes in the machine's RAM (GB10, nvtop #411)."""
    vram, engine = memory.value or Vram(None, None, None), card.engine
    missing = memory.why or Why.UNSUPPORTED
    if memory.value is None and memory.why is Why.UNSUPPORTED:
        draft.kind, missing = GpuKind.UNIFIED, Why.UNIFIED
    elif vram.total_bytes is not None:
        draft.kind = GpuKind.DISCRETE
    for name, value in (
        ("vram_total_bytes", vram.total_bytes),
        ("vram_used_bytes", vram.used_bytes),
        ("vram_reserved_bytes", vram.reserved_bytes),
    ):
        draft.put(name, value, missing if value is None else None)
    draft.put_part("engine_bytes", engine.value, vram.total_bytes, engine.why)


def _import_pynvml() -> Any:
    import pynvml  # noqa: PLC0415 - NVIDIA's module; only once sampling has started

    return pynvml
